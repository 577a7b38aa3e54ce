//! `--parallel` changes time and memory, but not the report.

mod support;

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use masque_cli::{Context, Exit, parse};
use support::outcome as masque;

/// All shipped models, and some with deadlocks, overflows, norms, chains, errors.
fn models() -> Vec<String> {
    let folders = ["../../models/ispl", "../../models/scale"];
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
    let fair = "../../models/ispl/bit_transmission.ispl";
    let (text, _) = masque(&["check", fair, "--parallel", "merge", "--stats"], &Context::default());
    assert!(text.contains("not split: there are fairness constraints"), "{text}");
}

#[test]
fn what_is_refused() {
    let model = "../../models/ispl/dining_cryptographers.ispl";
    #[rustfmt::skip]
    let cases: [(&[&str], &str); 5] = [
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
