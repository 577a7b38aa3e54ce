//! Every command on every language: what it prints, and its exit code.

use crate::support::outcome;
use masque_cli::Context;

/// Runs a command line, in which `models/` is the gallery, and returns what it prints, with the exit code on the
/// last line.
fn masque(line: &str) -> String {
    let in_gallery =
        |word: &str| if word.starts_with("models/") { format!("../../{word}") } else { word.to_string() };
    let words: Vec<String> = line.split_whitespace().map(in_gallery).collect();
    let (text, exit) = outcome(&words, &Context::default());
    format!("{}[exit {}]\n", text.replace("../../models/", "models/"), exit.code())
}

snapshots! {
    check_aut: "check tests/models/lamp.aut --properties tests/models/lamp.mu --evidence all";
    check_aut_verbose: "check tests/models/lamp.aut tests/models/lamp.mu -v --stats --evidence none --parse-only";
    check_aut_json: "check tests/models/lamp.aut tests/models/lamp.mu --format json";
    check_aut_beside_lcc: "check tests/models/lamp.aut models/lcc/m02_or.lcc tests/models/lamp.mu";
    check_aut_quick: "check tests/models/lamp.aut tests/models/lamp.mu --quick";
    check_properties_without_a_model: "check tests/models/lamp.mu";
    fmt_aut: "fmt --check tests/models/lamp.aut";
    why_aut: "why tests/models/lamp.aut tests/models/lamp.mu 2";
    why_aut_without_steps: "why tests/models/lamp.aut --property ff";
    why_lcc: "why models/lcc/contract_net.lcc all_bid";
    why_bdi: "why models/bdi/robot.bdi not_blind";
    why_unknown_name: "why models/lcc/contract_net.lcc al_bid";
    simulate_lcc: "simulate models/lcc/m02_or.lcc --script tests/scripts/walk.txt";
    simulate_lcc_random: "simulate models/lcc/m02_or.lcc --random 9 --seed 3";
    simulate_aut: "simulate tests/models/lamp.aut --script tests/scripts/walk.txt";
    simulate_bad_command: "simulate tests/models/lamp.aut --script tests/scripts/walk_typo.txt";
    simulate_bad_mu_formula: "simulate tests/models/lamp.aut --script tests/scripts/walk_formula.txt";
    export_lcc_dot: "export models/lcc/m02_or.lcc";
    export_lcc_aut: "export models/lcc/m02_or.lcc --format aut";
    export_lcc_cut: "export models/lcc/contract_net.lcc --format json --max-states 2";
    export_aut: "export tests/models/lamp.aut --format aut";
    simulate_bdi: "simulate models/bdi/sally_anne.bdi --script tests/scripts/walk_worlds.txt";
    simulate_bdi_without_states: "simulate models/bdi/news_literal.bdi";
    export_bdi_dot: "export models/bdi/sally_anne.bdi --max-states 6";
    export_bdi_aut: "export models/bdi/news_repaired.bdi --format aut --max-states 12";
    export_lcc_dddmp: "export models/lcc/m02_or.lcc --format dddmp";
    worlds_of_lcc: "worlds models/lcc/m02_or.lcc";
    state_of_ispl: "state models/ispl/card_game.ispl";
    agent_of_bdi: "agent --id rcv models/bdi/robot.bdi";
    teams_of_aut: "teams tests/models/lamp.aut --role lamp=tests/models/lamp.aut";
}

/// The exported transition system of a protocol has the same verdicts as the protocol.
#[test]
fn exports_are_read_back() {
    let file = tempfile::Builder::new().suffix(".aut").tempfile().unwrap();
    let exported = masque("export models/lcc/m06_conflict.lcc --format aut");
    std::fs::write(file.path(), exported.split("[exit").next().unwrap()).unwrap();
    for property in ["AG!deadlock", "EF(deadlock)", "AF(deadlock)", "[-]<->tt"] {
        let verdict = |files: &str| {
            let report = masque(&format!("check {files} --evidence none --property {property}"));
            report
                .lines()
                .find(|line| line.contains(property.trim_matches('(')))
                .map(|line| line[..5].to_string())
        };
        let path = file.path().display().to_string();
        let (graph, protocol) = (verdict(&path), verdict("models/lcc/m06_conflict.lcc"));
        assert_eq!(graph, protocol, "{property}");
    }
}
