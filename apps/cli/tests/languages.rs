//! Every command on every language: what it prints and how it ends.

use std::ffi::OsString;
use std::io::Write;

use masque_cli::{Context, Exit, parse, run};

/// Runs a command line on models of the gallery; what it prints, standard output first, and its exit code.
fn masque(line: &str) -> String {
    let words = line.split_whitespace().map(|word| match word.starts_with("models/") {
        true => format!("../../{word}"),
        false => word.to_string(),
    });
    let args = std::iter::once("masque".to_string()).chain(words);
    let cli = parse(args.map(OsString::from)).unwrap_or_else(|e| panic!("{e}"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = match run(&cli.command, &Context::default(), &mut out, &mut err) {
        Ok(exit) => exit,
        Err(error) => {
            writeln!(err, "error: {error:#}").unwrap();
            Exit::BadInput
        }
    };
    let text = |bytes| String::from_utf8(bytes).unwrap().replace("../../models/", "models/");
    format!("{}{}[exit {}]\n", text(out), text(err), exit.code())
}

macro_rules! snapshots {
    ($($name:ident: $line:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::with_settings!({ description => concat!("masque ", $line), omit_expression => true }, {
                insta::assert_snapshot!(masque($line));
            });
        }
    )*};
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
    export_bdi_dot: "export models/bdi/sally_anne.bdi --max-states 6";
    export_bdi_aut: "export models/bdi/news_repaired.bdi --format aut --max-states 12";
    export_lcc_dddmp: "export models/lcc/m02_or.lcc --format dddmp";
    worlds_of_lcc: "worlds models/lcc/m02_or.lcc";
}

/// The transition system of a protocol has the protocol's verdicts.
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
