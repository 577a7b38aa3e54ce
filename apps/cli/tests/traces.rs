//! Runs for other programs, their replay, and measurements over several parameters.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::outcome;
use masque_cli::{Context, Exit};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs a command line, in which `models/` is the gallery, and returns what it prints, with the exit code on the
/// last line.
fn masque(line: &str) -> String {
    let in_gallery =
        |word: &str| if word.starts_with("models/") { format!("../../{word}") } else { word.to_string() };
    let words: Vec<String> = line.split_whitespace().map(in_gallery).collect();
    let (text, exit) = outcome(&words, &Context::default());
    let text = text.replace("../../models/", "models/").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    format!("{}[exit {}]\n", text.replace("\r\n", "\\r\\n\n"), exit.code())
}

snapshots! {
    itf_of_a_path: "check tests/models/lamps.ispl -q --evidence all --evidence-format itf";
    itf_of_several_runs_needs_a_file: "check models/ispl/bit_transmission_faulty2.ispl -q --evidence-format itf";
    itf_without_evidence: "check tests/models/lamps.ispl -q --evidence-format itf";
    itf_into_no_folder: "check tests/models/lamps.ispl --evidence-format itf --evidence-out missing/t.itf.json";
    csv_of_knowledge: "check models/ispl/bit_transmission_faulty2.ispl -q --evidence-format csv";
    csv_of_a_protocol: "check models/lcc/m02_or.lcc -q --evidence all --evidence-format csv";
    csv_of_labels: "check tests/models/lamp.aut tests/models/lamp.mu -q --evidence all --evidence-format csv";
    csv_of_worlds: "check models/bdi/sally_anne.bdi -q --evidence-format csv";
    mermaid_of_a_protocol: "check models/lcc/llm_team.lcc -q --evidence-format mermaid";
    mermaid_of_a_path: "check tests/models/lamps.ispl -q --evidence all --evidence-format mermaid -D N=3";
    replay_of_no_report: "replay tests/models/lamps.ispl tests/models/lamps.ispl";
    replay_twice_standard_input: "replay - -";
}

/// A folder with files.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.path().join(name), text).unwrap();
        self.path(name)
    }

    /// The traces that a check with these arguments writes.
    fn traces(&self, files: &[&str], arguments: &[&str]) -> Vec<String> {
        let out = self.path("t.itf.json");
        let options = ["--evidence", "all", "--evidence-format", "itf", "--evidence-out", &out];
        let (text, exit) = run(&[&["check"], files, arguments, &options].concat());
        assert!(exit <= Exit::SomeFail, "{text}");
        let mut names: Vec<String> = (std::fs::read_dir(self.0.path()).unwrap())
            .map(|entry| entry.unwrap().path().display().to_string())
            .filter(|name| name.ends_with(".itf.json"))
            .collect();
        names.sort();
        names
    }
}

fn run(words: &[&str]) -> (String, Exit) {
    outcome(words, &Context::default())
}

const MODELS: [&[&str]; 9] = [
    &["../../models/ispl/needham_schroeder.ispl"],
    &["../../models/ispl/bit_transmission_faulty2.ispl"],
    &["../../models/ispl/horse_race.ispl"],
    &["tests/models/rounds.ispl"],
    &["tests/models/long.ispl"],
    &["../../models/bdi/robot.bdi"],
    &["../../models/bdi/sally_anne.bdi"],
    &["../../models/lcc/llm_team.lcc"],
    &["tests/models/lamp.aut", "tests/models/lamp.mu"],
];

/// What is written is replayed, in all languages: as ITF and as the report.
#[test]
fn written_traces_are_confirmed() {
    for files in MODELS {
        let folder = Files::new();
        let traces = folder.traces(files, &[]);
        assert!(!traces.is_empty(), "{files:?}");
        for trace in &traces {
            let (text, exit) = run(&[&["replay"], files, &[trace.as_str()]].concat());
            assert!(exit == Exit::AllHold && text.contains(": confirmed, "), "{files:?} {trace}: {text}");
        }
        let (report, _) = run(&[&["check"], files, &["--evidence", "all", "--format", "json"]].concat());
        let report = folder.write("report.json", &report);
        let (text, exit) = run(&[&["replay"], files, &[report.as_str()]].concat());
        let n_confirmed = text.matches(": confirmed, ").count();
        assert!(exit == Exit::AllHold && n_confirmed == traces.len(), "{files:?}: {text}");
    }
}

/// A trace of lamps as ITF, with a change.
fn lamps(change: impl Fn(&mut Value)) -> String {
    let mut trace = json!({
        "params": ["N"], "vars": ["Lamp[1].on", "Lamp[2].on"],
        "states": [
            { "#meta": { "index": 0, "action": { "Lamp[1]": "switch", "Lamp[2]": "wait" } }, "N": 2,
              "Lamp[1].on": false, "Lamp[2].on": false },
            { "#meta": { "index": 1, "action": { "Lamp[1]": "wait", "Lamp[2]": "switch" } },
              "Lamp[1].on": true, "Lamp[2].on": false },
            { "#meta": { "index": 2, "action": { "Lamp[1]": "switch", "Lamp[2]": "switch" } },
              "Lamp[1].on": true, "Lamp[2].on": true } ],
        "loop": 0 });
    change(&mut trace);
    trace.to_string()
}

/// Where a trace leaves the model, and what was possible there.
#[test]
fn refused_traces() {
    let folder = Files::new();
    let mut report = String::new();
    let mut check = |what: &str, change: &dyn Fn(&mut Value)| {
        let path = folder.write("t.json", &lamps(change));
        let (text, exit) = run(&["replay", "tests/models/lamps.ispl", &path]);
        report += &format!("# {what}\n{text}[exit {}]\n", exit.code());
    };
    check("unchanged", &|_| {});
    check("not initial", &|t| t["states"][0]["Lamp[2].on"] = true.into());
    check("another value", &|t| t["states"][1]["Lamp[2].on"] = true.into());
    check("another action", &|t| t["states"][1]["#meta"]["action"]["Lamp[2]"] = "wait".into());
    check("another loop", &|t| t["loop"] = 1.into());
    check("no actions", &|t| {
        for state in t["states"].as_array_mut().unwrap() {
            state["#meta"].as_object_mut().unwrap().remove("action");
        }
    });
    check("no variables", &|t| {
        for state in t["states"].as_array_mut().unwrap() {
            state.as_object_mut().unwrap().retain(|name, _| name == "#meta" || name == "N");
        }
    });
    check("a step without actions", &|t| t["states"][0]["#meta"]["action"] = Value::Null);
    insta::assert_snapshot!(report);
}

/// Bad files are errors that name the place.
#[test]
fn bad_traces_are_diagnosed() {
    let folder = Files::new();
    let check = |text: &str, expected: &str| {
        let path = folder.write("t.json", text);
        let (report, exit) = run(&["replay", "tests/models/lamps.ispl", &path]);
        assert_eq!(exit, Exit::BadInput, "{text}: {report}");
        assert!(report.contains(expected), "{text}: {report}");
    };
    check("", "this is not JSON");
    check("{\"vars\": [", "this is not JSON");
    check(&"[".repeat(100_000), "recursion limit");
    check("[]", "neither a report");
    check("{\"schema\": \"masque.check/2\", \"runs\": []}", "neither a report");
    check("{\"schema\": \"masque.check/1\", \"runs\": {}}", "expected an array, found an object");
    check("{\"schema\": \"masque.check/1\", \"runs\": []}", "the report has no runs");
    check(&lamps(|t| t["states"] = json!([])), "this trace has no states");
    check(&lamps(|t| t["states"] = json!([3])), "at states[0]");
    check(&lamps(|t| t["vars"] = json!([3])), "at vars[0]");
    check(&lamps(|t| t["loop"] = json!(3)), "the index 3 is too large");
    check(&lamps(|t| t["loop"] = json!(-1)), "expected an index, found a number");
    check(&lamps(|t| t["states"][1]["Lamp[3].on"] = json!(true)), "the model has no variable `Lamp[3].on`");
    check(&lamps(|t| t["states"][1]["Lamp[2].on"] = json!(1)), "`Lamp[2].on` needs a boolean");
    check(&lamps(|t| t["states"][1]["Lamp[2].on"] = json!("true")), "`Lamp[2].on` needs a boolean");
    check(&lamps(|t| t["states"][1]["Lamp[2].on"] = json!(1.5)), "found a number");
    check(&lamps(|t| t["states"][1]["Lamp[2].on"] = json!({ "#bigint": "x" })), "`x` is not an integer");
    check(&lamps(|t| t["states"][1]["Lamp[2].on"] = json!({ "#set": [] })), "found an object");
    check(&lamps(|t| t["states"][0]["N"] = json!(3)), "add `-D N=3`");
    check(&lamps(|t| t["states"][0]["#meta"]["action"] = json!("go")), "the action of each agent");
    check(&lamps(|t| t["states"][0]["#meta"]["action"] = json!({ "Lamp": "wait" })), "no agent `Lamp`");
    check(&lamps(|t| t["states"][0]["#meta"]["action"] = json!({ "Lamp[1]": "swich" })), "no action `swich`");
    // Evidence whose parts refer to each other in a circle, or to nothing.
    let report = |reasons: Value, start: Value| {
        let state = json!({ "Lamp[1].on": "false", "Lamp[2].on": "false" });
        let evidence = json!({ "states": [state], "formulas": [], "start": start, "reasons": reasons });
        let run = json!({ "files": ["lamps.ispl"], "parameters": {},
            "properties": [{ "name": "1", "evidence": evidence }] });
        json!({ "schema": "masque.check/1", "runs": [run] }).to_string()
    };
    let start = json!({ "states": [0], "actions": [], "loop": null });
    let operands = |to: usize| json!([{ "because": { "kind": "operands", "reasons": [to] } }]);
    check(&report(operands(7), start.clone()), "the index 7 is too large");
    check(
        &report(operands(0), json!({ "states": [0, 0], "actions": [], "loop": null })),
        "needs 1 steps here",
    );
    check(&report(json!([{ "because": { "kind": "magic" } }]), start.clone()), "no kind of reason `magic`");
    let path = folder.write("circle.json", &report(operands(0), start));
    let (text, exit) = run(&["replay", "tests/models/lamps.ispl", &path]);
    assert_eq!((text.as_str(), exit), ("1: confirmed, 1 state\n", Exit::AllHold));
    let (text, exit) = run(&["replay", "tests/models/lamps.ispl", &path, "--property", "2"]);
    assert!(exit == Exit::BadInput && text.contains("no evidence for a property `2`"), "{text}");
}

/// No change of a file makes the replay panic.
#[test]
fn mutated_files_are_no_bugs() {
    let folder = Files::new();
    let mut rng = fastrand::Rng::with_seed(7);
    for files in [MODELS[1], MODELS[5], MODELS[7], MODELS[8]] {
        let (report, _) = run(&[&["check"], files, &["--evidence", "all", "--format", "json"]].concat());
        let trace = std::fs::read_to_string(&Files::new().traces(files, &[])[0]).unwrap();
        for text in [report, trace] {
            for _ in 0..25 {
                let mut bytes = text.clone().into_bytes();
                for _ in 0..rng.usize(1..4) {
                    let at = rng.usize(..bytes.len());
                    match rng.u8(..4) {
                        0 => bytes[at] = *rng.choice(b"0123456789{}[],:\"nt ").unwrap(),
                        1 => _ = bytes.remove(at),
                        2 => bytes.truncate(at.max(1)),
                        _ => {
                            let end = (at + rng.usize(1..60)).min(bytes.len());
                            let part = bytes[at..end].to_vec();
                            bytes.splice(at..at, part);
                        }
                    }
                }
                let path = folder.write("mutated.json", &String::from_utf8_lossy(&bytes));
                let (text, exit) = run(&[&["replay"], files, &[path.as_str(), "--timeout", "20s"]].concat());
                assert!(exit < Exit::Bug && !text.is_empty(), "{text}");
            }
        }
    }
}

fn binary(args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    let mut child = command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The process may end before it has read everything.
    _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn traces_from_standard_input_and_limits() {
    let output = binary(&["replay", "tests/models/lamps.ispl", "-"], &lamps(|_| {}));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (text.as_str(), output.status.code()),
        ("trace: confirmed, 3 states, then forever from state 0\n", Some(0))
    );
    let model = std::fs::read_to_string("tests/models/lamps.ispl").unwrap();
    let folder = Files::new();
    let path = folder.write("t.json", &lamps(|t| t["loop"] = Value::Null));
    let output = binary(&["replay", "-", &path], &model);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = binary(&["replay", "tests/models/lamps.ispl", &path, "--timeout", "0s"], "");
    assert_eq!(output.status.code(), Some(3));
    // With 40 lamps and no variables there are too many possibilities.
    let free = json!({ "vars": [], "states": [{}, {}, {}] }).to_string();
    let arguments = ["replay", "tests/models/lamps.ispl", "-", "-D", "N=40", "--timeout", "20s"];
    let output = binary(&arguments, &free);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(3) && text.contains("unknown("), "{text}");
}

/// A counterexample of 60 steps with 25 variables and 11 agents is complete in every format.
#[test]
fn long_runs_are_complete() {
    let mut model =
        "Agent Environment Obsvars: t : 0..60; e[i in 1..4] : 0..60; end Obsvars Actions = {tick}; \
        Protocol: Other : {tick}; end Protocol Evolution: t = t + 1 if t < 60; \
        for i in 1..4 { e[i] = t if t < 60; } end Evolution end Agent\n"
            .to_string();
    model += "Agent A[i in 1..10] Vars: x : 0..60; y : boolean; end Vars Actions = {go, stay}; \
        Protocol: x < 60 : {go}; Other : {stay}; end Protocol \
        Evolution: x = x + 1 if Action = go; y = ~y if Action = go; end Evolution end Agent\n";
    model += "Evaluation done if Environment.t = 60; end Evaluation InitStates Environment.t = 0 and \
        forall(i in 1..4 : Environment.e[i] = 0) and forall(i in 1..10 : A[i].x = 0 and !A[i].y); end InitStates \
        Formulae AG !done; end Formulae\n";
    let folder = Files::new();
    let path = folder.write("long.ispl", &format!("Semantics = SA;\n{model}"));
    let (csv, exit) = run(&["check", &path, "-q", "--evidence-format", "csv"]);
    assert_eq!(exit, Exit::SomeFail, "{csv}");
    let rows: Vec<&str> = csv.lines().filter(|line| line.contains(',')).collect();
    assert_eq!(rows[0].split(',').count(), 1 + 11 + 25, "{}", rows[0]);
    assert_eq!((rows.len(), rows[61].starts_with("60,,")), (62, true), "{csv}");
    let traces = folder.traces(&[&path], &[]);
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(&traces[0]).unwrap()).unwrap();
    assert_eq!(
        (trace["vars"].as_array().unwrap().len(), trace["states"].as_array().unwrap().len()),
        (25, 61)
    );
    assert_eq!(trace["states"][60]["A[10].x"], 60);
    assert_eq!(trace["states"][59]["#meta"]["action"].as_object().unwrap().len(), 11);
    let (text, exit) = run(&["replay", &path, &traces[0]]);
    assert_eq!((text.as_str(), exit), ("1: confirmed, 61 states\n", Exit::AllHold));
}

/// A table over two parameters, with repeats and a plot.
#[test]
fn a_bench_over_two_parameters() {
    let folder = Files::new();
    let model = std::fs::read_to_string("tests/models/lamps.ispl").unwrap();
    let model = folder.write("lamps.ispl", &model.replace("param N = 2;", "param N = 2;\nparam K = 1;"));
    let plot = folder.path("plot.svg");
    let arguments = ["bench", &model, "-D", "N=1..3", "-D", "K=1,2", "--repeat", "2", "--plot", &plot];
    let output = binary(&[&arguments[..], &["--format", "csv"]].concat(), "");
    let csv = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{csv}{}", String::from_utf8_lossy(&output.stderr));
    let records: Vec<Vec<&str>> =
        csv.split_terminator("\r\n").map(|line| line.split(',').collect()).collect();
    assert_eq!(records[0][..3], ["file", "N", "K"]);
    let sizes: Vec<[&str; 2]> = records[1..].iter().map(|record| [record[1], record[2]]).collect();
    assert_eq!(sizes, [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"], ["3", "1"], ["3", "2"]]);
    let column = |name: &str| records[0].iter().position(|head| *head == name).unwrap();
    assert!(records[1..].iter().all(|record| record[column("repeats")] == "2"), "{csv}");
    assert!(records[1][column("N ratio")].is_empty() && !records[3][column("N ratio")].is_empty(), "{csv}");
    let svg = std::fs::read_to_string(&plot).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("K = 1") && svg.contains("K = 2"), "{svg}");
    let text = String::from_utf8(binary(&arguments[..8], "").stdout).unwrap();
    assert!(text.starts_with("all rows: file ") && text.lines().all(|line| line.len() <= 200), "{text}");
    // Nothing to draw, and a folder that does not exist.
    let output = binary(&["bench", &model, "--plot", &plot], "");
    assert_eq!(output.status.code(), Some(2));
    let output = binary(&["bench", &model, "-D", "N=1,2", "--plot", "missing/plot.svg"], "");
    assert!(output.status.code() == Some(2) && !Path::new("missing").exists());
}
