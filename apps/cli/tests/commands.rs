//! The commands, called without starting a process: what they print, and their exit codes.

use std::ffi::OsString;
use std::fs;

use crate::support::outcome;
use clap::CommandFactory;
use masque_cli::args::Cli;
use masque_cli::{Context, Exit, parse};
use masque_report::{Detail, Text};

/// Runs a command line and returns what it prints, with the exit code on the last line.
fn masque(line: &str) -> String {
    masque_with(line, &Context::default())
}

fn masque_with(line: &str, context: &Context) -> String {
    let (text, exit) = outcome(&words(line), context);
    format!("{}[exit {}]\n", without_version(&text), exit.code())
}

/// The text with a word for the version of masque, which changes with every release.
fn without_version(text: &str) -> String {
    text.replace(concat!("masque ", env!("CARGO_PKG_VERSION")), "masque VERSION")
}

/// The words of a command line. A word in single quotes may contain blanks; `models/` and `scripts/` stand for
/// the folders of the tests.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(i, part)| match i % 2 {
        0 => part.split_whitespace().map(str::to_string).collect(),
        _ => vec![part.to_string()],
    });
    words.map(|word| word.replace("models/", "tests/models/").replace("scripts/", "tests/scripts/")).collect()
}

snapshots! {
    check_all_hold: "check models/light.ispl";
    check_some_fail: "check models/blind.ispl";
    check_old_dialect: "check models/old.ispl";
    check_at_initial: "check models/old.ispl --at initial";
    check_deadlock_and_overflow: "check models/counter.ispl";
    check_overflow_error: "check models/counter.ispl --overflow error --deadlock stutter";
    check_deadlock: "check models/stop.ispl";
    check_deadlock_stutter: "check models/stop.ispl --deadlock stutter";
    check_deadlock_error: "check models/stop.ispl --deadlock error";
    check_no_initial_state: "check models/impossible.ispl";
    check_no_fair_path: "check models/unfair.ispl";
    check_no_formulas: "check models/silent.ispl";
    check_deny_warnings: "check models/stop.ispl --deny warnings";
    check_parameter: "check models/lamps.ispl -D N=5";
    check_property: "check models/light.ispl --property 'AF lit' --property 'K(Lamp, !lit)'";
    check_strategies: "check models/blind.ispl --strategies uniform --property '<Guest> X lit'";
    check_engine: "check models/light.ispl --engine explicit";
    check_order: "check models/lamps.ispl --engine symbolic --order models/lamps.order --reorder never";
    check_order_unknown: "check models/lamps.ispl --order models/wrong.order";
    check_order_missing: "check models/lamps.ispl --order models/lamps.ordr";
    check_cross_check: "check models/blind.ispl models/counter.ispl --cross-check";
    bench_bad_list: "bench models/lamps.ispl -D N=2,,4";
    bench_bad_range: "bench models/lamps.ispl -D N=4..2";
    bench_too_many_rows: "bench models/lamps.ispl -D N=1..100 -D M=1..100..5";
    bench_plot_of_one_row: "bench models/lamps.ispl --plot p.svg";
    bench_standard_input: "bench -";
    check_evidence_all: "check models/light.ispl models/blind.ispl --evidence all";
    check_evidence_games: "check models/bridge.ispl --evidence all";
    check_evidence_games_json: "check models/bridge.ispl --property '<Walker>X across' --format json";
    check_evidence_fixpoints: "check models/rounds.ispl --evidence all";
    check_evidence_fixpoints_json: "check models/rounds.ispl --property 'nu Z. !two and AX K(Watcher, Z)' --format json";
    check_evidence_fixpoints_dot: "check models/rounds.ispl --evidence-format dot";
    why_games: "why models/bridge.ispl 1 2";
    why_fixpoints: "why models/rounds.ispl 1 4";
    check_evidence_none: "check models/blind.ispl --evidence none";
    check_evidence_dot: "check models/blind.ispl --evidence-format dot";
    check_evidence_html: "check models/blind.ispl --evidence-format html";
    check_evidence_nowhere: "check models/blind.ispl --evidence-format html --evidence-out no/such/folder.html";
    check_long_run: "check models/long.ispl";
    check_wide: "check models/wide.ispl";
    check_chain: "check models/chain.ispl";
    check_norms: "check models/norms.ispl --evidence all";
    check_timeout: "check models/light.ispl --timeout 0s";
    check_memory: "check models/lamps.ispl -D N=14 --engine explicit --memory 1k";
    check_several: "check models/light.ispl models/missing.ispl models/wrong.ispl models/stop.ispl";
    check_parse_only: "check --parse-only models/light.ispl models/lamps.ispl";
    check_parse_only_json: "check --parse-only models/lamps.ispl --format json";
    check_wrong: "check models/wrong.ispl";
    check_broken: "check models/broken.ispl";
    check_json: "check models/blind.ispl --format json";
    check_json_of_errors: "check models/wrong.ispl models/missing.ispl --format json";
    check_json_of_findings: "check models/stop.ispl --deadlock error --at reachable --format json";
    check_not_found: "check models/lihgt.ispl";
    check_directory: "check models/";
    check_define_without_value: "check models/lamps.ispl -D N";
    check_define_no_integer: "check models/lamps.ispl -D N=2 -D 'M = two'";
    check_define_twice: "check models/lamps.ispl -D N=2 -D N=3";
    check_define_too_large: "check models/lamps.ispl -D N=92233720368547758080";
    check_define_unknown: "check models/lamps.ispl -D M=2";
    check_define_useless: "check models/light.ispl -D N=2";
    check_define_missing: "check models/rooms.ispl";
    check_define_given: "check models/rooms.ispl -D N=3";
    check_define_empty_family: "check models/lamps.ispl -D N=0";
    check_property_syntax: "check models/light.ispl --property 'AG (lit'";
    check_property_unknown_name: "check models/light.ispl --property 'AG light'";
    check_property_empty: "check models/light.ispl --property ''";
    fmt_broken: "fmt models/broken.ispl";
    fmt_not_found: "fmt models/missing.ispl";
    fmt_check: "fmt --check models/light.ispl models/broken.ispl models/lamps.ispl";
    explain: "explain file/not-text";
    explain_unknown: "explain file/not-txt";
    explain_without_group: "explain deadlock";
    explain_far_off: "explain everything";
    man_unknown: "man sing";
    why_all: "why models/light.ispl";
    why_knowledge: "why models/blind.ispl 1 2";
    why_other_logics: "why models/blind.ispl 4 5";
    check_cluster: "check models/blind.ispl --engine cluster --evidence none";
    why_unknown: "why models/blind.ispl 7";
    why_property: "why models/light.ispl 4 --property 'AG(lit and !lit -> AF lit)'";
    why_fairness: "why models/unfair.ispl";
    why_timeout: "why models/light.ispl 1 --timeout 0s";
    why_json: "why models/light.ispl 1 --format json";
    simulate_script: "simulate models/blind.ispl --script scripts/blind.txt";
    simulate_typo: "simulate models/blind.ispl --script scripts/typo.txt";
    simulate_bad_formula: "simulate models/blind.ispl --script scripts/formula.txt";
    simulate_bad_number: "simulate models/blind.ispl --script scripts/number.txt";
    simulate_bad_agent: "simulate models/blind.ispl --script scripts/agent.txt";
    simulate_too_far_back: "simulate models/blind.ispl --script scripts/back.txt";
    simulate_many_choices: "simulate models/lamps.ispl -D N=8 --script scripts/many.txt";
    simulate_random: "simulate models/lamps.ispl --random 3 --seed 5";
    simulate_random_to_the_end: "simulate models/stop.ispl --random 5";
    simulate_no_initial_state: "simulate models/impossible.ispl --random 1";
    simulate_missing_script: "simulate models/blind.ispl --script scripts/blnd.txt";
    simulate_limit: "simulate models/blind.ispl --script scripts/blind.txt --timeout 0s";
    export_dot: "export models/blind.ispl";
    export_view: "export models/blind.ispl --view Guest";
    export_cut: "export models/lamps.ispl --max-states 3";
    export_aut: "export models/stop.ispl --format aut --deadlock stutter";
    export_json: "export models/light.ispl --format json";
    export_dddmp: "export models/stop.ispl --format dddmp";
    export_unknown_agent: "export models/blind.ispl --view Gest";
    export_wrong: "export models/wrong.ispl";
    export_dddmp_view: "export models/blind.ispl --format dddmp --view Guest";
}

#[test]
fn verbose_and_quiet() {
    let with =
        |detail, color| Context { text: Text { color, detail, ..Text::default() }, ..Context::default() };
    let line = "check models/counter.ispl models/lamps.ispl models/wrong.ispl --at reachable";
    insta::assert_snapshot!("verbose", masque_with(line, &with(Detail::Verbose, false)));
    let checked = masque_with("check models/light.ispl --cross-check", &with(Detail::Verbose, false));
    insta::assert_snapshot!("verbose_cross_check", checked);
    insta::assert_snapshot!("quiet", masque_with(line, &with(Detail::Quiet, false)));
    let line = "check models/blind.ispl models/stop.ispl";
    insta::assert_snapshot!("colour", masque_with(line, &with(Detail::Normal, true)));
}

#[test]
fn a_narrow_terminal() {
    let narrow = Context { text: Text { width: 44, ..Text::default() }, ..Context::default() };
    let text = masque_with("check models/blind.ispl", &narrow);
    let (_, evidence) = text.split_once("\n\n").unwrap();
    let (evidence, _) = evidence.split_once("\n\ntests/models/blind.ispl").unwrap();
    assert!(evidence.lines().all(|line| line.len() <= 44), "{evidence}");
    insta::assert_snapshot!(evidence);
}

#[test]
fn evidence_goes_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evidence");
    let line = |format: &str| format!("check models/blind.ispl --evidence-format {format}");
    let report = masque("check models/blind.ispl --evidence none");
    for format in ["text", "json", "dot", "html"] {
        let mut words = words(&line(format));
        words.extend(["--evidence-out".to_string(), file.display().to_string()]);
        let (out, exit) = outcome(&words, &Context::default());
        assert_eq!((format!("{out}[exit 1]\n"), exit), (report.clone(), Exit::SomeFail), "{format}");
        let written = without_version(&fs::read_to_string(&file).unwrap());
        match format {
            "text" => assert!(
                masque("check models/blind.ispl").contains(written.split_once('\n').unwrap().1.trim())
            ),
            "json" => {
                assert_eq!(format!("{written}[exit 1]\n"), masque("check models/blind.ispl --format json"))
            }
            _ => assert!(masque(&line(format)).starts_with(&written), "{format}"),
        }
    }
}

#[test]
fn explore_refuses_options_that_its_page_does_not_have() {
    for options in
        ["--format json", "--certified", "--certify proofs", "--parse-only", "--each", "--processes 2"]
    {
        let printed = masque(&format!("explore models/blind.ispl --no-open {options}"));
        assert!(
            printed.contains("`masque explore`") && printed.ends_with("[exit 2]\n"),
            "{options}: {printed}"
        );
    }
}

/// The commands with a help page; the empty one is the program itself.
const PAGES: [&str; 19] = [
    "",
    "check",
    "test",
    "new",
    "watch",
    "why",
    "explore",
    "simulate",
    "monitor",
    "export",
    "bench",
    "replay",
    "certify",
    "broker",
    "fmt",
    "explain",
    "completions",
    "man",
    "schema",
];

#[test]
fn help_pages() {
    for page in PAGES {
        let args = ["masque", page, "--help"].into_iter().filter(|word| !word.is_empty());
        let help = Cli::command().term_width(100).try_get_matches_from(args).unwrap_err();
        let name = if page.is_empty() { "help".to_string() } else { format!("help_{page}") };
        insta::assert_snapshot!(name, help);
    }
    let short = Cli::command().term_width(100).try_get_matches_from(["masque", "check", "-h"]).unwrap_err();
    insta::assert_snapshot!("help_check_short", short);
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn usage_errors() {
    let lines = [
        "check",
        "check a.ispl --timeout soon",
        "check a.ispl --memory much",
        "check a.ispl --memory 5",
        "broker --total-memory 1000000",
        "check a.ispl --at home",
        "check a.ispl --engine steam",
        "check a.ispl --deny notes",
        "fmt",
        "chekc a.ispl",
        "a.ispl",
        "'no such.bdi'",
        "verify a.ispl -D N=3",
        "format a.ispl",
        "frobnicate a.ispl",
        "completions tcsh",
        "check a.ispl -q -v",
    ];
    let mut text = String::new();
    for line in lines {
        let args = std::iter::once("masque".to_string()).chain(words(line)).map(OsString::from);
        let error = parse(args).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        text += &format!("$ masque {line}\n{error}\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_report_is_the_same_every_time() {
    let line = "check models/blind.ispl models/counter.ispl models/wrong.ispl --format json";
    let first = masque(line);
    for _ in 0..5 {
        assert_eq!(masque(line), first);
    }
}

#[test]
fn engines_differ_in_their_name_only() {
    for models in ["models/light.ispl models/counter.ispl", "models/blind.ispl models/counter.ispl"] {
        let line = format!("check {models} --format json --engine");
        let auto = masque(&format!("{line} auto"));
        for speed in ["--order declared", "--reorder never", "--cross-check"] {
            assert_eq!(masque(&format!("{line} auto {speed}")), auto, "{speed}");
        }
        for engine in ["explicit", "symbolic"] {
            let named = masque(&format!("{line} {engine}"));
            assert_eq!(auto.replace("\"engine\": \"auto\"", &format!("\"engine\": \"{engine}\"")), named);
        }
    }
}

#[test]
fn statistics_only_when_asked_for() {
    let report = |line: &str| -> serde_json::Value {
        let (text, _) = outcome(&words(line), &Context::default());
        serde_json::from_str(&text).unwrap()
    };
    let stats = |line: &str| report(line)["runs"][0]["stats"].clone();
    assert!(stats("check models/light.ispl --format json").is_null());
    let stats = stats("check models/light.ispl --format json --stats");
    assert_eq!(stats["engines"][0]["name"], "explicit");
    assert_eq!(stats["engines"][0]["states"], 2);
    assert_eq!(stats["properties"].as_array().unwrap().len(), 3);
    assert!(stats["load_seconds"].as_f64().unwrap() >= 0.0);
    let report = report("check models/light.ispl --format json --stats --engine symbolic");
    let figures = &report["runs"][0]["stats"]["engines"][0]["figures"];
    assert!(figures["bits"].as_u64().unwrap() >= 1 && figures["peak nodes"].is_u64(), "{figures}");
    let text = masque("check models/light.ispl --stats --engine symbolic");
    assert!(text.contains(" bits, ") && text.contains(" peak nodes, "), "{text}");
    let text = masque("check models/light.ispl --stats");
    assert!(text.contains("loaded in") && text.contains("explicit:"), "{text}");
}

#[test]
fn fmt_rewrites_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("light.ispl");
    let path = file.display().to_string();
    fs::copy("tests/models/light.ispl", &file).unwrap();
    let context = Context { text: Text { detail: Detail::Verbose, ..Text::default() }, ..Context::default() };
    let fmt = |words: &[&str]| outcome(words, &context);
    assert_eq!(fmt(&["fmt", "--check", &path]), (format!("{path}\n"), Exit::SomeFail));
    assert_eq!(fs::read("tests/models/light.ispl").unwrap(), fs::read(&file).unwrap(), "only named");
    assert_eq!(fmt(&["fmt", &path]), (format!("formatted {path}\n"), Exit::AllHold));
    assert_ne!(fs::read("tests/models/light.ispl").unwrap(), fs::read(&file).unwrap());
    assert_eq!(fmt(&["fmt", &path]), (String::new(), Exit::AllHold));
    assert_eq!(fmt(&["fmt", "--check", &path]), (String::new(), Exit::AllHold));
}

#[test]
fn explain_lists_all_codes() {
    let (list, exit) = outcome(&words("explain"), &Context::default());
    assert_eq!(exit, Exit::AllHold);
    assert!(list.lines().count() >= 15, "{list}");
    for line in list.lines() {
        let (code, summary) = line.split_once("  ").unwrap();
        assert!(code.contains('/') && summary.trim().len() > 10, "{line}");
        assert_eq!(outcome(&["explain", code.trim()], &Context::default()).1, exit);
    }
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, exit) = outcome(&words(&format!("completions {shell}")), &Context::default());
        assert!(
            exit == Exit::AllHold && script.contains("masque") && script.contains("parse-only"),
            "{shell}"
        );
    }
    for page in PAGES {
        let (roff, exit) = outcome(&words(&format!("man {page}")), &Context::default());
        assert!(exit == Exit::AllHold && roff.contains(".TH masque") && roff.contains(".SH NAME"), "{page}");
    }
}
