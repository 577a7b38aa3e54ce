//! `masque check --quick`, and verdicts that stand when a limit ends the rest.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Violated after one step, with `10^N` states behind it.
const HUGE: &str = "
param N = 30;
Agent Environment
  Vars: x[i in 1..N] : 0..9; end Vars
  Actions = {none};
  Protocol: Other : {none}; end Protocol
  Evolution:
    for i in 1..N {
      x[i] = (x[i] * 7 + x[next(i, N)] * 3 + 1) mod 10 if Mixer.Action = add;
      x[i] = (x[i] * x[next(i, N)] + 3) mod 10 if Mixer.Action = multiply;
    }
  end Evolution
end Agent
Agent Mixer
  Vars: end Vars
  Actions = {add, multiply};
  Protocol: Other : {add, multiply}; end Protocol
  Evolution: end Evolution
end Agent
Evaluation bad if Environment.x[1] = 3; end Evaluation
InitStates forall(i in 1..N : Environment.x[i] = 0); end InitStates
Formulae AG !bad; end Formulae
";

fn model(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn check(model: &PathBuf, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_masque")).arg("check").arg(model).args(args).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn quick_ends_when_all_is_decided() {
    let model = model("huge.ispl", HUGE);
    for n in ["N=30", "N=300"] {
        let output = check(&model, &["--quick", "-D", n, "--timeout", "60s", "--memory", "1G"]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("1 fails after one step"), "{text}");
        assert!(text.contains("note[ispl/not-counted]: states were not counted: `--quick`"), "{text}");
    }
}

#[test]
fn a_verdict_stands_when_a_limit_ends_the_rest() {
    let model = model("limited.ispl", HUGE);
    for (engine, n) in [("auto", "N=300"), ("explicit", "N=30")] {
        let limited = ["--engine", engine, "-D", n, "--timeout", "2s", "--format", "json"];
        let output = check(&model, &limited);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("\"verdict\": \"fails\"") && text.contains("\"states\": null"), "{text}");
        assert!(text.contains("the search ended (timeout)"), "{text}");
    }
}

/// Both parts of a conjunction are violated in the same step, and another property is decided with them.
#[test]
fn one_step_may_decide_a_property_twice() {
    let twice = HUGE.replace("AG !bad;", "AG !bad and AG !(Environment.x[2] = 3); EF bad;");
    let model = model("twice.ispl", &twice);
    for engine in ["auto", "explicit", "symbolic"] {
        let output = check(&model, &["--quick", "--engine", engine]);
        assert_eq!(output.status.code(), Some(1), "{engine}: {}", text(&output));
        assert!(text(&output).contains("1 holds; 1 fails: "), "{engine}: {}", text(&output));
    }
}

/// All engines give the same report, whether or not they have seen everything.
#[test]
fn quick_reports_are_the_same_from_all_engines() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/ispl");
    let mut n_models = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "ispl") || path.metadata().unwrap().len() > 20_000 {
            continue;
        }
        let report = |engine: &str| {
            let args = ["--quick", "--evidence", "all", "--engine", engine, "--timeout", "20s"];
            let output = check(&path, &args);
            (output.status.code(), text(&output))
        };
        let auto = report("auto");
        if auto.0 == Some(3) {
            continue;
        }
        n_models += 1;
        for engine in ["explicit", "symbolic", "cluster", "race"] {
            assert_eq!(report(engine), auto, "{engine}: {}", path.display());
        }
    }
    assert!(n_models >= 10, "{n_models}");
}

#[test]
fn quick_goes_with_nothing_that_asks_for_all_states() {
    let model = model("refused.ispl", HUGE);
    for other in [&["--cross-check"][..], &["--deadlock", "error"], &["--overflow", "error"]] {
        let output = check(&model, &[&["--quick"], other].concat());
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("needs all of them: choose one"), "{said}");
    }
}
