//! Memory limits: those of the system end in a report, and `--memory` limits the whole process.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs `masque` with a limit on its address space, in MiB.
fn masque_within(mebibytes: u64, args: &[&str]) -> Output {
    let script = format!("ulimit -v {}; exec \"$@\"", mebibytes * 1024);
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_masque")]).args(args);
    command.current_dir("../..").stdin(Stdio::null()).output().unwrap()
}

/// A chain of counters with more states than memory, of which a symbolic engine needs large diagrams, too.
fn large_model(folder: &Path) -> String {
    let product = (0..16).map(|i| format!("v{i} : 0..63;")).collect::<String>();
    let lines: String = (0..16)
        .map(|i| {
            let (j, k) = ((i * 7 + 3) % 16, (i * 5 + 1) % 16);
            format!(
                "v{i} = v{j} if v{j} < v{k} and Action = go;\n v{i} = v{k} if v{j} >= v{k} and Action = go;\n"
            )
        })
        .collect();
    let start = (1..16).map(|i| format!("W.v{i} = {}", i * 4 - 1)).collect::<Vec<_>>().join(" and ");
    let text = format!(
        "Agent W\n Vars: {product} bad : boolean; end Vars\n Actions = {{go, rest}};\n Protocol: Other : {{go, rest}}; end Protocol\n \
         Evolution:\n {lines} v0 = v0 + 1 if v0 < 63 and Action = rest;\n end Evolution\nend Agent\n\
         Evaluation bad if W.bad; end Evaluation\nInitStates !W.bad and {start}; end InitStates\n\
         Formulae AG !bad; AG AF !bad; end Formulae\n"
    );
    let path = folder.join("large.ispl");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// The verdicts of a complete report in JSON.
fn verdicts(output: &Output) -> Vec<String> {
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let properties = report["runs"][0]["properties"].as_array().unwrap();
    properties.iter().map(|property| property["verdict"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_limit_on_the_address_space_is_never_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let large = large_model(folder.path());
    for mebibytes in [256, 1024, 8192] {
        for args in [
            &["models/ispl/trains.ispl", "--engine", "symbolic"][..],
            &["models/ispl/trains.ispl", "--engine", "explicit"],
            &["models/ispl/dining_cryptographers.ispl", "--engine", "race"],
            &["models/ispl/dining_cryptographers.ispl", "--parallel", "merge", "--jobs", "2"],
            &["models/ispl/trains.ispl", "--cross-check"],
            &["models/bdi/news_repaired.bdi"],
            &["models/lcc/two_phase_commit.lcc"],
            &[&large, "--engine", "explicit", "--timeout", "2s"],
            &[&large, "--engine", "symbolic", "--jobs", "8", "--timeout", "2s"],
        ] {
            let args = [&["check", "--format", "json", "--evidence", "none"], args].concat();
            let output = masque_within(mebibytes, &args);
            let shown = format!("{mebibytes} MiB, {args:?}: {:?}", output.status);
            assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{shown}");
            let verdicts = verdicts(&output);
            assert!(!verdicts.is_empty(), "{shown}");
            let has_unknown = verdicts.iter().any(|verdict| verdict == "unknown");
            assert!(has_unknown || output.status.code() != Some(3), "{shown}: {verdicts:?}");
        }
    }
}

/// A limit on the size of files is an error of the command that writes, and no signal ends it.
#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -f 1; exec \"$0\" export models/ispl/needham_schroeder.ispl --format dot > \"$1\"",
    ]);
    command.arg(env!("CARGO_BIN_EXE_masque")).arg(&file).current_dir("../..").stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{:?} {said}", output.status);
    assert!(said.contains("error: "), "{said}");
}

/// Without a limit on the engine, the system refuses memory in the middle of the work.
#[test]
fn refused_memory_is_unknown_memory() {
    let folder = tempfile::tempdir().unwrap();
    let large = large_model(folder.path());
    let args = ["check", &large, "--engine", "explicit", "--format", "json", "--evidence", "none"];
    let output = masque_within(256, &args);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["runs"][0]["properties"][0]["reason"], "memory");
}

#[test]
fn the_process_stays_near_its_memory_limit() {
    // Not less: an unoptimised binary alone takes a good part of what is not counted.
    const LIMIT_MB: u64 = 192;
    let folder = tempfile::tempdir().unwrap();
    let large = large_model(folder.path());
    for engine in ["explicit", "symbolic"] {
        let limit = format!("{LIMIT_MB}M");
        let args = ["check", &large, "--engine", engine, "--memory", &limit, "--timeout", "12s", "--stats"];
        let args = [&args[..], &["--format", "json", "--evidence", "none"]].concat();
        let output = masque_within(1 << 20, &args);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let peak = report["runs"][0]["stats"]["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= (LIMIT_MB << 20) / 4 * 5, "{engine}: {peak} bytes");
    }
}
