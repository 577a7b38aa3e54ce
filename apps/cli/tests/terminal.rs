//! Progress is shown on terminals, and nowhere else.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::spread::*;

/// The output of a check on a terminal; none if the tool `script` is missing.
fn on_a_terminal(folder: &Path, args: &[&str]) -> Option<String> {
    let words: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!("cd '{}' && '{PROGRAM}' {}", folder.display(), words.join(" "));
    let log = folder.join("terminal");
    let script = Command::new("script")
        .args(["-qefc", &line])
        .arg(&log)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    script.ok()?;
    let log = std::fs::read(log).ok()?;
    Some(String::from_utf8_lossy(&log).into_owned())
}

#[test]
fn progress_is_shown_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = long_model(&folder, 22);
    // The line must not be too long for a terminal of unknown width.
    let model = "long.ispl";
    let spread = ["check", model, "--processes", "2", "--color", "never", "--timeout"];
    let Some(shown) = on_a_terminal(folder.path(), &[&spread[..], &["2.8s"]].concat()) else {
        println!("there is no `script` here: progress was not tested");
        return;
    };
    let lines: Vec<&str> = shown.split('\r').filter(|line| line.contains(" states found")).collect();
    let last = lines.last().unwrap_or_else(|| panic!("no progress in {shown:?}"));
    for part in ["long.ispl: ", " a second, layer ", ", 2 workers, "] {
        assert!(last.contains(part), "{last:?} should have {part:?}");
    }
    // It is removed before the report.
    let (progress, report) = shown.split_at(shown.find("unknown(timeout)").unwrap());
    assert!(progress.ends_with("\r\u{1b}[2K"), "{shown:?}");
    assert!(!report.contains("states found"), "{shown:?}");

    let alone = ["check", model, "--engine", "explicit", "--timeout", "1s"];
    let shown = on_a_terminal(folder.path(), &alone).unwrap();
    assert!(shown.contains(" states found, ") && !shown.contains(" workers"), "{shown:?}");

    for more in [&["--format", "json"][..], &["--quiet"]] {
        let shown = on_a_terminal(folder.path(), &[&spread[..], &["0.8s"], more].concat());
        let shown = shown.unwrap();
        assert!(!shown.contains("finding") && !shown.contains("states found"), "{more:?}: {shown}");
    }
    let without_terminal = output(&["check", &path, "--processes", "2", "--timeout", "0.8s"]);
    assert_eq!(text(&without_terminal.stderr), "");
}
