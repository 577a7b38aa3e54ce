//! `--parallel` changes time and memory, but not the report.

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::outcome as masque;
use masque_cli::{Context, Exit, parse};

/// All shipped models, and some with deadlocks, overflows, norms, chains, errors.
fn models() -> Vec<String> {
    let folders = ["../../models/ispl", "../../models/scale", "../../models/papers/klq10"];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path().display().to_string());
    let mut models: Vec<String> = paths.filter(|path| path.ends_with(".ispl")).collect();
    models.sort();
    let more = ["blind", "chain", "counter", "impossible", "lamps", "norms", "silent", "stop", "wrong"];
    models.extend(more.iter().map(|name| format!("tests/models/{name}.ispl")));
    models
}

#[test]
fn reports_are_the_same_in_parts() {
    let mut n_compared = 0;
    for (position, model) in models().into_iter().enumerate() {
        let check = |more: &[&str]| {
            let args = ["check", &model, "--format", "json", "--evidence", "all"];
            masque(&[&args[..], more].concat(), &Context::default())
        };
        let expected = check(&[]);
        for (number, strategy) in ["simple", "merge", "full", "semi", "auto"].into_iter().enumerate() {
            // Two of these for each model and strategy, other ones for the next.
            let ways = [("1", "3"), ("2", "2"), ("2", "4"), ("4", "1"), ("4", "6")];
            for (jobs, parts) in [0, 2].map(|way| ways[(position + number + way) % ways.len()]) {
                let mut more = vec!["--parallel", strategy, "--jobs", jobs, "--parts", parts];
                // Every second one on a store that all workers share.
                if number % 2 == 1 && jobs == "2" {
                    more.push("--shared");
                }
                assert!(check(&more) == expected, "{model} {more:?}: {} {}", check(&more).0, expected.0);
                n_compared += 1;
            }
        }
    }
    assert!(n_compared >= 300, "{n_compared}");
}

#[test]
fn the_variables_to_split_by() {
    let model = "../../models/ispl/dining_cryptographers.ispl";
    let stats = |more: &[&str]| {
        let args = ["check", model, "--format", "json", "--stats", "--parallel", "full", "--jobs", "2"];
        let (report, _) = masque(&[&args[..], more].concat(), &Context::default());
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["runs"][0]["stats"]["engines"][0].clone()
    };
    //   no cryptographer paid, or one of three
    let payers = "Crypt[1].payer, Crypt[2].payer,Crypt[3].payer";
    assert_eq!(stats(&["--split", payers])["figures"]["parts"], 4);
    assert_eq!(stats(&["--split", payers])["figures"]["workers"], 2);
    assert_eq!(stats(&["--split", payers, "--parts", "3"])["figures"]["parts"], 3);
    assert_eq!(stats(&["--split", "Crypt[1].payer", "--split", "Crypt[2].payer"])["figures"]["parts"], 3);
    assert_eq!(stats(&["--split", "Environment.parity"])["notes"][0], "not split: there is one part");
    // Families, and formulas with a class for the remaining states.
    for family in ["Crypt[*].payer", "Crypt[1..3].payer", "Crypt[i in 1..N].payer", "Crypt[1..N].payer;"] {
        assert_eq!(stats(&["--split", family])["figures"]["parts"], 4, "{family}");
    }
    assert_eq!(stats(&["--split", "Crypt[i in 1..N where i <> 2].payer"])["figures"]["parts"], 3);
    let formulas = "Crypt[1].payer or Crypt[2].payer; Crypt[2].payer and Crypt[1].payer; paid[3]";
    assert_eq!(stats(&["--split", formulas])["figures"]["parts"], 3);
    assert_eq!(stats(&["--split", formulas])["notes"][0], "split by the given formulas (3 classes)");
    assert_eq!(stats(&["--split", "!paid[1]", "--split", "Crypt[2].payer"])["figures"]["parts"], 3);
    assert_eq!(stats(&["--split", "bits", "--parts", "2"])["notes"][0], "split by chosen bits");
    let fair = "../../models/ispl/bit_transmission.ispl";
    let (text, _) = masque(&["check", fair, "--parallel", "merge", "--stats"], &Context::default());
    assert!(text.contains("not split: there are fairness constraints"), "{text}");
}

/// InitStates of the form `e and (e1 or .. or em)` is split by its disjuncts, as in the paper.
#[test]
fn the_disjuncts_of_the_initial_states() {
    let check = |model: &str, more: &[&str]| {
        let model = format!("../../models/papers/klq10/{model}.ispl");
        let args = ["check", &model, "--format", "json", "--stats", "--parallel"];
        let (report, _) = masque(&[&args[..], more].concat(), &Context::default());
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let engine = &report["runs"][0]["stats"]["engines"][0];
        (engine["notes"][0].to_string(), engine["figures"]["parts"].as_u64())
    };
    let by = |n| format!("\"split by the disjuncts of InitStates ({n} classes)\"");
    assert_eq!(check("dining_cryptographers", &["full", "--jobs", "2"]), (by(4), Some(4)));
    assert_eq!(check("dining_cryptographers", &["merge", "--jobs", "2", "-D", "N=10"]), (by(11), Some(11)));
    assert_eq!(check("dining_cryptographers", &["full", "--jobs", "2", "--parts", "3"]), (by(4), Some(3)));
    assert_eq!(check("dining_cryptographers", &["simple", "--jobs", "3"]), (by(4), Some(3)));
    assert_eq!(check("dining_cryptographers", &["semi", "--jobs", "3"]).0, by(4));
    assert_eq!(check("muddy_children", &["full", "--jobs", "2"]), (by(8), Some(8)));
    assert_eq!(check("nspk", &["full", "--jobs", "2"]), (by(3), Some(3)));
    let (note, parts) = check("nspk", &["full", "--jobs", "2", "--parts", "4"]);
    assert_eq!((note, parts), (by(3).replace(")\"", "), then by chosen bits\""), Some(4)));
}

#[test]
fn what_is_refused() {
    let model = "../../models/ispl/dining_cryptographers.ispl";
    #[rustfmt::skip]
    let cases: [(&[&str], &str); 12] = [
        (&["--parallel", "full", "--split", "Crypt[*].paier"],            "did you mean `Crypt[*].payer`?"),
        (&["--parallel", "full", "--split", "Crypt[1..9].payer"],         "no variable `Crypt[1..9].payer` has the index 4"),
        (&["--parallel", "full", "--split", "Crypt[7..9].payer"],         "no variable has an index in this range"),
        (&["--parallel", "full", "--split", "Crypt[*]"],                  "expected `.` and a variable of this agent"),
        (&["--parallel", "full", "--split", "Crypt[1].payer and"],        "expected a condition or a value"),
        (&["--parallel", "full", "--split", "Crypt[1].paier or true"],    "did you mean `payer`?"),
        (&["--parallel", "full", "--split", "payed[1]"],                  "there is no proposition or variable `payed[1]`"),
        (&["--parallel", "full", "--split", "Crypt[1].paier"],            "there is no variable `Crypt[1].paier`"),
        (&["--parallel", "full", "--split", "Crypt[1].payer,Crypt[9].x"], "there is no variable `Crypt[9].x`"),
        (&["--parallel", "full", "--engine", "explicit"],                 "cli/parallel-engine"),
        (&["--parallel", "auto", "--engine", "explicit"],                 "cli/parallel-engine"),
        (&["--parallel", "full", "--engine", "race"],                     "`--parallel` cannot be combined with `--engine race`"),
    ];
    for (more, message) in cases {
        let (text, exit) = masque(&[&["check", model], more].concat(), &Context::default());
        assert_eq!(exit, Exit::BadInput, "{more:?}");
        assert!(text.contains(message), "{more:?}: {text}");
    }
    #[rustfmt::skip]
    let misused: [(&[&str], &str); 5] = [
        (&["--parallel", "full", "--parts", "0"], "expected a number from 1 to 4096"),
        (&["--parallel", "fast"],                 "[possible values: simple, merge, full, semi, auto]"),
        (&["--parts", "2"],                       "--parallel <STRATEGY>"),
        (&["--split", "Crypt[1].payer"],          "--parallel <STRATEGY>"),
        (&["--shared"],                           "--parallel <STRATEGY>"),
    ];
    for (more, message) in misused {
        let words = ["masque", "check", model].into_iter().chain(more.iter().copied());
        let error = parse(words.map(OsString::from)).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{more:?}");
        assert!(error.to_string().contains(message), "{more:?}: {error}");
    }
}

/// A timeout, a memory limit and an interrupt end all workers, with what is decided.
#[test]
fn limits_end_all_workers() {
    let model = "../../models/ispl/card_rounds.ispl";
    for strategy in ["simple", "merge", "full", "semi"] {
        let check = |more: &[&str], context: &Context| {
            let start = Instant::now();
            let args = ["check", model, "-D", "C=14", "--parallel", strategy, "--jobs", "2"];
            let (text, exit) = masque(&[&args[..], more].concat(), context);
            // Without limits it would take minutes, or never end if one worker waited for another.
            assert!(start.elapsed() < Duration::from_secs(60), "{strategy} {more:?}");
            assert_eq!(exit, Exit::Inconclusive, "{strategy} {more:?}: {text}");
            text
        };
        assert!(check(&["--timeout", "300ms"], &Context::default()).contains("unknown(timeout)"));
        let little = ["--memory", "10M", "--order", "declared", "--reorder", "never"];
        assert!(check(&little, &Context::default()).contains("unknown(memory)"));
        let interrupt = Arc::new(AtomicBool::new(false));
        let context = Context { interrupt: Arc::clone(&interrupt), ..Context::default() };
        let user = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            interrupt.store(true, Ordering::Relaxed);
        });
        assert!(check(&[], &context).contains("unknown(interrupted)"));
        user.join().unwrap();
    }
}
