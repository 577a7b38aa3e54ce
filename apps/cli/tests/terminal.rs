//! Progress: for people who wait at a terminal, and for nobody else.
#![cfg(target_os = "linux")]

mod spread;

use std::path::Path;
use std::process::{Command, Stdio};

use spread::*;

/// What a terminal gets from a check; none where no terminal can be had.
fn on_a_terminal(folder: &Path, args: &[&str]) -> Option<String> {
    let words: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!("'{PROGRAM}' {}", words.join(" "));
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
fn who_waits_sees_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let spread = ["check", &model, "--processes", "2", "--timeout", "3s"];
    let with = |more: &[&'static str]| on_a_terminal(folder.path(), &[&spread[..], more].concat());
    let Some(shown) = with(&[]) else {
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
    assert!(progress.trim_end_matches(['\r', '\n']).ends_with("\u{1b}[2K"), "{shown:?}");
    assert!(!report.contains("states found"), "{shown:?}");

    let alone = ["check", &model, "--engine", "explicit", "--timeout", "2s"];
    let shown = on_a_terminal(folder.path(), &alone).unwrap();
    assert!(shown.contains(" states found, ") && !shown.contains(" workers"), "{shown:?}");

    for more in [&["--format", "json"][..], &["--quiet"]] {
        let shown = on_a_terminal(folder.path(), &[&spread[..], more].concat());
        assert!(!shown.unwrap().contains("found"), "{more:?}");
    }
    let piped = output(&spread);
    assert_eq!(text(&piped.stderr), "");
}
