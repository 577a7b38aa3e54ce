//! Hostile inputs: text that controls a terminal or forges lines, large models, full disks.
//!
//! Attacks are tested in several files, because tests that measure time do not share the processors with others:
//!
//! | attack | tests |
//! |---|---|
//! | texts that take long or much memory to load; pipes and devices | here, `reading.rs`, `masque_driver`'s `growth.rs` |
//! | control characters in names and messages; full disks | here |
//! | limits of the system: `ulimit -v`, `ulimit -f`; memory of the process | `memory.rs` |
//! | Ctrl-C at random moments | `interrupts.rs` |
//! | signals to one process; children that outlive it | `signals.rs`, `leftovers.rs` |
//! | clients that stop or freeze the broker; silent connections | `masque_broker`'s `hostile.rs`, `masque_lcc`'s `limits.rs` |
//! | a broker that is killed | `journal.rs`, `leftovers.rs` |
//! | strangers and vanishing packets in a cluster | `strangers.rs`, `cluster.rs` |
//! | damaged and shared checkpoints | `checkpoints.rs`, `faults.rs` |

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn masque(args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    command.args(args).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Whether a text has no control characters but line breaks.
fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !c.is_control())
}

/// A constant of a protocol that moves the cursor to the verdict and overwrites it.
#[test]
fn a_model_cannot_overwrite_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let forge = "\u{1b}[4A\u{1b}[2K\rholds  ends  AF final\u{1b}[4B\r";
    let model = format!(
        "a(r, R) :: '{forge}' => a(c, C) then zz <= a(c, C). a(c, C) :: M <= a(r, R).\n\
         agent a(r, rita). agent a(c, carl). property ends : AF final ;\n"
    );
    fs::write(folder.path().join("forge.lcc"), model).unwrap();
    for args in [
        &["check", "forge.lcc"][..],
        &["check", "forge.lcc", "--color", "always", "-v"],
        &["why", "forge.lcc"],
        &["export", "forge.lcc"],
        &["simulate", "forge.lcc", "--random", "3"],
    ] {
        let output = masque(args, folder.path());
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(printed.contains(r"\u{1b}[4A") || !printed.contains("[4A"), "{args:?}: {printed}");
        let without_color = printed.replace("\u{1b}[", "[");
        assert!(is_harmless(&without_color) && !printed.contains("\u{1b}[4A"), "{args:?}: {printed:?}");
    }
    assert!(text(&masque(&["check", "forge.lcc"], folder.path()).stdout).starts_with("fails  ends"));
}

#[test]
fn a_file_name_cannot_forge_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let name = "x\u{1b}]0;title\u{7}\nok.ispl: 1 holds; 3 states.ispl";
    fs::copy("../../models/ispl/trains.ispl", folder.path().join(name)).unwrap();
    for args in [&["check", name][..], &["check", name, "no\u{1b}[31m.ispl"], &["fmt", "--check", name]] {
        let output = masque(args, folder.path());
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(is_harmless(&printed), "{args:?}: {printed:?}");
        assert!(!printed.lines().any(|line| line.starts_with("ok.ispl")), "{printed}");
    }
    let output = masque(&["explain", "\u{1b}[31mred"], folder.path());
    assert!(is_harmless(&text(&output.stderr)), "{:?}", text(&output.stderr));
}

/// A client's text stays in the line of the log that is about it.
#[test]
fn a_client_cannot_forge_the_log() {
    let mut broker = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(["broker", "--verbose"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"state","params":{"session":"s1\nFORGED \u001b[31m"}}"#;
    writeln!(broker.stdin.take().unwrap(), "{call}").unwrap();
    let output = broker.wait_with_output().unwrap();
    let log = text(&output.stderr);
    assert!(log.contains("FORGED") && is_harmless(&log), "{log:?}");
    assert!(log.lines().all(|line| line.starts_with("masque broker: ")), "{log}");
}

/// Models whose loading took time and memory quadratic in their size, or worse.
#[test]
fn large_protocols_load() {
    let folder = tempfile::tempdir().unwrap();
    let protocol = "a(x, A) :: m => a(y, B). a(y, B) :: m <= a(x, A). agent a(x, a1). agent a(y, b1).\n";
    let n = 4000;
    let owners: String = (0..n).map(|i| format!("know o{i}: f. common p{i} <- q. ")).collect();
    let negations: String = (0..n).map(|i| format!("common p{i} <- not p{}. ", i + 1)).collect();
    let choices: Vec<String> = (0..n).map(|i| format!("m{i} => a(y, B)")).collect();
    let choices = format!("a(z, A) :: {}.", choices.join(" or "));
    for (name, statements) in [("owners", owners), ("negations", negations), ("choices", choices)] {
        let file = format!("{name}.lcc");
        fs::write(folder.path().join(&file), format!("{protocol}{statements}\n")).unwrap();
        let output = masque(&["check", &file, "--parse-only", "--quiet"], folder.path());
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
    }
}

/// Checks that loading stopped for a reason: exit code 3, no properties, and the warning.
#[track_caller]
fn stops(args: &[&str], reason: &str) {
    let output = masque(&[&["check", "--format", "json"], args].concat(), Path::new("../.."));
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{args:?}: {report}{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let run = &report["runs"][0];
    assert_eq!(run["properties"], serde_json::json!([]), "{args:?}");
    assert_eq!(run["diagnostics"][0]["code"], "load/stopped", "{args:?}: {run}");
    assert!(run["diagnostics"][0]["message"].as_str().unwrap().contains(reason), "{args:?}: {run}");
}

#[test]
fn loading_obeys_the_limits() {
    let card_game = "models/ispl/card_game.ispl";
    stops(&[card_game, "-D", "N=3000", "--timeout", "300ms"], "time limit");
    stops(&[card_game, "-D", "N=3000", "--memory", "50M"], "memory limit");
    stops(&["/dev/zero", "--memory", "20M"], "memory limit");
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long.lcc");
    fs::write(&long, "common p(a).\n".repeat(200_000)).unwrap();
    stops(&[long.to_str().unwrap(), "--memory", "30M"], "memory limit");
    let long = folder.path().join("long.bdi");
    fs::write(&long, "property p: AG q;\n".repeat(200_000)).unwrap();
    stops(&[long.to_str().unwrap(), "--memory", "30M"], "memory limit");
    let pipe = folder.path().join("pipe.ispl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    stops(&[pipe.to_str().unwrap(), "--timeout", "100ms"], "time limit");
}

/// Ctrl-C while a model is loaded.
#[test]
fn loading_can_be_interrupted() {
    for args in [&["check", "models/ispl/trains.ispl", "-D", "N=100000"][..], &["check", "-"]] {
        let process = Command::new(env!("CARGO_BIN_EXE_masque"))
            .args(args)
            .current_dir("../..")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        signal(process.id(), "-INT");
        let mut process = process;
        let input = process.stdin.take();
        let output = process.wait_with_output().unwrap();
        drop(input);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {}", text(&output.stdout));
        assert!(text(&output.stdout).contains("load/stopped"), "{args:?}: {}", text(&output.stdout));
    }
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_noticed() {
    for args in
        [&["--help"][..], &["--version"], &["check", "--help"], &["schema"], &["explain", "ispl/deadlock"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        let status = command.args(args).stdout(full).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}
