//! Limits on everything that is read: files of `--each`, imports, scripts, files to format, and large models.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::spread::*;
use serde_json::Value;
use tempfile::TempDir;

fn pipe(folder: &TempDir, name: &str) -> String {
    let path = folder.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path.display().to_string()
}

/// The report of a check, and its exit code.
fn checked(args: &[&str]) -> (Value, Option<i32>) {
    let output = output(&[&["check", "--format", "json"], args].concat());
    let report = serde_json::from_slice(&output.stdout);
    (
        report.unwrap_or_else(|error| panic!("{error}: {args:?}: {}", text(&output.stderr))),
        output.status.code(),
    )
}

/// Checks that nothing was loaded, for this reason.
#[track_caller]
fn assert_stopped(args: &[&str], reason: &str) {
    let (report, code) = checked(args);
    assert_eq!(code, Some(3), "{args:?}: {report}");
    let run = &report["runs"][0];
    assert_eq!(run["properties"], serde_json::json!([]), "{args:?}");
    assert_eq!(run["diagnostics"][0]["code"], "load/stopped", "{args:?}: {run}");
    assert!(run["diagnostics"][0]["message"].as_str().unwrap().contains(reason), "{args:?}: {run}");
}

/// A command that is interrupted while it waits, and its output.
fn interrupted(args: &[&str]) -> (String, String, i32) {
    let child = masque(args).spawn().unwrap();
    wait_for("the handler", || handles_interrupts(child.id()));
    std::thread::sleep(Duration::from_millis(100));
    signal("INT", &[child.id().into()]);
    finish(child)
}

const TEAM: &str = "a(hen, H) :: null. agent a(hen, h). property p : AF final ;\n";

/// The files are read before the first of them is loaded.
#[test]
fn files_of_each_obey_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let (good, pipe) = (file(&folder, "good.lcc", TEAM), pipe(&folder, "pipe.lcc"));
    assert_stopped(&["--each", &good, &pipe, "--timeout", "100ms"], "time limit");
    let long = file(&folder, "long.lcc", &(TEAM.to_string() + &"common p(a).\n".repeat(200_000)));
    assert_stopped(&["--each", &good, &long, "--memory", "30M"], "memory limit");
    let (out, _, code) = interrupted(&["check", "--format", "json", "--each", &good, &pipe]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["runs"][0]["diagnostics"][0]["code"]), (3, &"load/stopped".into()));
    assert_eq!(report["runs"][0]["files"], serde_json::json!([good, pipe]));
}

#[test]
fn imports_obey_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "facts.pol", &"common p(a).\n".repeat(2_000_000));
    let importing = file(&folder, "import.lcc", &format!("import \"facts.pol\". {TEAM}"));
    // The memory limit is exceeded by the bytes of the import alone.
    assert_stopped(&[&importing, "--memory", "20M"], "memory limit");
}

/// A transition system counts while it is read.
#[test]
fn transitions_obey_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..500_000).map(|i| format!("({i}, a, {})\n", (i + 1) % 500_000)).collect();
    let graph = file(&folder, "graph.aut", &format!("des (0, 500000, 500000)\n{lines}"));
    assert_stopped(&[&graph, "--memory", "25M"], "memory limit");
}

#[test]
fn scripts_have_a_maximum_size() {
    let folder = tempfile::tempdir().unwrap();
    let model = "tests/models/lamps.ispl";
    for device in ["/dev/urandom", "/dev/zero"] {
        let output = output(&["simulate", model, "--script", device]);
        assert_eq!(output.status.code(), Some(2), "{device}");
        let said = text(&output.stdout);
        assert!(said.contains("file/too-large") && said.contains("16 MiB"), "{device}: {said}");
    }
    let pipe = pipe(&folder, "script");
    let output = output(&["simulate", model, "--script", &pipe, "--timeout", "100ms"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stdout), "the script could not be read: timeout\n");
    let (said, _, code) = interrupted(&["simulate", model, "--script", &pipe]);
    assert_eq!((said.as_str(), code), ("the script could not be read: interrupted\n", 3));
}

/// `--timeout` is for questions: a program may take longer to write its commands.
#[test]
fn commands_on_standard_input_have_no_deadline() {
    let mut command = masque(&["simulate", "tests/models/lamps.ispl", "--timeout", "100ms"]);
    let mut walk = command.stdin(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    walk.stdin.take().unwrap().write_all(b"1\n").unwrap();
    let (said, errors, code) = finish(walk);
    assert!(said.contains("> 1\n"), "{said}");
    assert_eq!((errors.as_str(), code), ("", 0), "{said}");
}

/// A file that cannot be read is neither formatted nor changed, and the files after it are not read.
#[test]
fn formatting_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, other) = (pipe(&folder, "pipe.ispl"), file(&folder, "other.ispl", "Agent A end Agent"));
    let (said, errors, code) = interrupted(&["fmt", &pipe, &other]);
    assert_eq!((said.as_str(), code), ("", 3), "{errors}");
    assert_eq!(errors.matches("load/stopped").count(), 2, "{errors}");
}

/// Steps are written while they are taken, and Ctrl-C ends the walk.
#[test]
fn random_walks_are_written_step_by_step() {
    for (model, first) in
        [("tests/models/lamps.ispl", "           #0  "), ("tests/models/ring.lcc", "   1  ")]
    {
        let args = ["simulate", model, "--random", "1000000000"];
        let mut walk = masque(&args).spawn().unwrap();
        let mut lines = BufReader::new(walk.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.starts_with(first), "{line}");
        signal("INT", &[walk.id().into()]);
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        assert!(rest.ends_with("\ninterrupted\n"), "{}", &rest[rest.len().saturating_sub(100)..]);
        assert_eq!(walk.wait().unwrap().code(), Some(3));
    }
}

/// A million steps need no more memory than a thousand: the past is not kept.
#[test]
fn long_walks_need_little_memory() {
    let mut walk = masque(&["simulate", "tests/models/lamps.ispl", "--random", "1000000000"]);
    let mut walk = walk.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(walk.stdout.take().unwrap());
    let resident = |id: u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let mut skip =
        |n_bytes: u64| std::io::copy(&mut lines.by_ref().take(n_bytes), &mut std::io::sink()).unwrap();
    skip(1 << 20);
    let before = resident(walk.id());
    skip(20 << 20);
    let after = resident(walk.id());
    walk.kill().unwrap();
    walk.wait().unwrap();
    assert!(after < before + 4096, "{before} kB, then {after} kB");
}

/// The model counts against the memory limit, so less is left for the engine.
#[test]
fn a_large_model_leaves_less_memory_to_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 14);
    let args = ["--engine", "explicit", "--evidence", "none", "--memory", "16M"];
    let (report, _) = checked(&[&[model.as_str()], &args[..]].concat());
    assert_eq!(report["runs"][0]["properties"][0]["verdict"], "holds", "{report}");
    let text = std::fs::read_to_string(Path::new(&model)).unwrap();
    let padded = file(&folder, "padded.ispl", &format!("-- {}\n{text}", "x".repeat(15 << 20)));
    let (report, _) = checked(&[&[padded.as_str()], &args[..]].concat());
    assert_eq!(report["runs"][0]["properties"][0]["reason"], "memory", "{report}");
}

/// The files of an agent are read within its limits.
#[test]
fn agents_read_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let never = pipe(&folder, "pipe.lcc");
    let (out, said, code) = interrupted(&["agent", "--id", "b", &never]);
    assert_eq!((out.as_str(), said.as_str(), code), ("", "stopped: interrupted\n", 3));
    let output = output(&["agent", "--id", "b", "--timeout", "100ms", &never]);
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("stopped: timeout\n", Some(3)));
}

/// A pipe is read once, by the test of its model, which has a time limit. Pipes in folders are not read.
#[test]
fn models_to_test_that_are_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let never = pipe(&folder, "pipe.ispl");
    let tested = output(&["test", "--timeout", "100ms", &never]);
    assert_eq!(tested.status.code(), Some(3), "{}{}", text(&tested.stdout), text(&tested.stderr));
    file(&folder, "good.lcc", &format!("-- expect: holds\n{TEAM}"));
    let tested = output(&["test", folder.path().to_str().unwrap()]);
    assert!(!text(&tested.stdout).contains("pipe.ispl"), "{}", text(&tested.stdout));
    let good = folder.path().join("good.lcc").display().to_string();
    let expect = pipe(&folder, "pipe.txt");
    let tested = output(&["test", &good, "--expect", &expect, "--timeout", "100ms"]);
    let said = text(&tested.stderr);
    assert_eq!(
        (said.as_str(), tested.status.code()),
        ("the expectations could not be read: timeout\n", Some(3))
    );
}

/// A trace, and a model to measure, that are not read in time.
#[test]
fn what_is_not_read_in_time_is_inconclusive() {
    let folder = tempfile::tempdir().unwrap();
    let never = pipe(&folder, "pipe.ispl");
    let model = "../../models/ispl/trains.ispl";
    let walked = output(&["simulate", model, "--from", &never, "--timeout", "100ms"]);
    assert_eq!(walked.status.code(), Some(3), "{}", text(&walked.stderr));
    let measured = output(&["bench", &never, "-D", "N=2", "--timeout", "100ms"]);
    assert_eq!(measured.status.code(), Some(3), "{}", text(&measured.stdout));
    assert!(text(&measured.stdout).contains("not loaded"), "{}", text(&measured.stdout));
}
