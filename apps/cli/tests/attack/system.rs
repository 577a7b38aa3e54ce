//! Limits of the system: address space and stack.
#![cfg(target_os = "linux")]

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs `masque` after a command of the shell that sets a limit.
fn masque_after(limit: &str, args: &[&str]) -> Output {
    let script = format!("{limit}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_masque")]).args(args);
    command.current_dir("../..").stdin(Stdio::null()).output().unwrap()
}

/// An engine once reserved 5.7 GB of address space for every model.
#[test]
fn a_limit_on_the_address_space_changes_no_verdict() {
    for args in [
        &["check", "models/bdi/news_repaired.bdi", "--format", "json"][..],
        &["check", "models/bdi/news_repaired.bdi", "--format", "json", "--memory", "100M"],
        &["check", "models/ispl/dining_cryptographers.ispl", "--format", "json"],
    ] {
        let free = masque_after(":", args);
        let limited = masque_after("ulimit -v 2097152", args);
        assert_eq!(free.status.code(), limited.status.code(), "{args:?}");
        assert!(free.stdout == limited.stdout, "{args:?}");
    }
}

#[test]
fn a_small_stack_is_enough() {
    let args = ["check", "models/ispl/dining_cryptographers.ispl"];
    let expected = masque_after(":", &args);
    for kilobytes in [64, 128, 512] {
        let output = masque_after(&format!("ulimit -s {kilobytes}"), &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), expected.status.code(), "{kilobytes} KB: {said}");
        assert!(output.stdout == expected.stdout, "{kilobytes} KB");
    }
}

/// Worker processes that get no memory for their threads or their data: the properties are unknown for this reason, a
/// line says which worker it was, and no panic is reported.
#[test]
fn workers_without_memory_are_unknown_memory() {
    for mebibytes in [128, 256, 512, 1024, 4096] {
        let args = ["check", "models/ispl/trains.ispl", "--processes", "2", "--format", "json"];
        let output = masque_after(&format!("ulimit -v {}", mebibytes * 1024), &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let shown = format!("{mebibytes} MiB: {:?} {said}", output.status);
        assert!(matches!(output.status.code(), Some(1 | 3)), "{shown}");
        assert!(!said.contains("this is a bug"), "{shown}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let properties = report["runs"][0]["properties"].as_array().unwrap();
        for property in properties.iter().filter(|property| property["verdict"] == "unknown") {
            assert_eq!(property["reason"], "memory", "{shown}");
        }
        let is_decided = properties.iter().all(|property| property["verdict"] != "unknown");
        // Of these properties one fails.
        assert!(
            if is_decided { output.status.code() == Some(1) } else { said.contains("worker") },
            "{shown}"
        );
        assert!(is_decided || mebibytes < 4096, "{shown}");
    }
}
