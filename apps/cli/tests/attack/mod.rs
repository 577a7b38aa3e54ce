//! Attacks on the program: hostile inputs, limits of the system, signals, strangers. `DEFECTS` has the tests for each
//! defect that was once found; a test checks that they exist.
//!
//! | file | has |
//! |---|---|
//! | here | texts that control a terminal or forge lines, large models, limits while loading, full disks |
//! | `broker` | calls that once killed or froze a service |
//! | `system` | limits of the system |
//!
//! Tests that measure time do not share the processors with others, so they are in files of their own.

#![cfg(unix)]

mod broker;
mod system;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The defects that an attack on the program has found: number, what went wrong, and the tests that fail if it does so
/// again, here or in other test files.
const DEFECTS: [(&str, &str, &[&str]); 13] = [
    (
        "D1",
        "one `open` takes memory quadratic in its size and kills the broker",
        &["a_large_open_does_not_kill_the_service", "large_protocols_load", "open_obeys_the_total_memory"],
    ),
    (
        "D2",
        "two `open`s freeze the broker; loading of LCC is quadratic",
        &[
            "hostile_opens_freeze_nobody",
            "open_can_be_cancelled",
            "open_obeys_its_limits",
            "a_stopped_update_changes_nothing",
            "loading_is_not_quadratic",
        ],
    ),
    (
        "D3",
        "limits and Ctrl-C are not obeyed while a file is loaded",
        &[
            "loading_obeys_the_limits",
            "loading_can_be_interrupted",
            "files_of_each_obey_the_limits",
            "scripts_have_a_maximum_size",
            "formatting_can_be_interrupted",
            "the_file_of_hosts_is_read_within_limits",
            "ctrl_c_ends_every_phase",
        ],
    ),
    (
        "D4",
        "limits of the system abort the program",
        &[
            "a_limit_on_the_address_space_changes_no_verdict",
            "a_small_stack_is_enough",
            "workers_without_memory_are_unknown_memory",
            "a_limit_on_the_address_space_is_never_a_crash",
            "a_limit_on_the_size_of_files_is_an_error",
        ],
    ),
    (
        "D5",
        "a model or file name controls the terminal",
        &["a_model_cannot_overwrite_its_verdict", "a_file_name_cannot_forge_a_line"],
    ),
    ("D6", "a client forges lines of the log", &["a_client_cannot_forge_the_log", "the_log_in_json"]),
    (
        "D7",
        "`bench` cannot be stopped and leaves its child",
        &["interrupts_end_the_children", "a_killed_process_leaves_no_child"],
    ),
    (
        "D8",
        "silent connections keep clients out",
        &["silent_connections_keep_no_client_out", "seats_are_for_those_with_the_token"],
    ),
    ("D9", "expensive calls stop all others", &["long_calls_leave_threads_for_short_ones"]),
    (
        "D10",
        "strangers hold up a cluster, fill its memory, or learn its token",
        &[
            "strangers_do_not_delay_workers",
            "the_time_to_start_is_obeyed_with_strangers",
            "a_false_supervisor_learns_nothing",
            "an_observer_does_not_see_the_token",
            "mistakes_are_bad_input",
            "a_directory_with_other_files_is_refused",
        ],
    ),
    (
        "D11",
        "a killed broker loses sessions and leaves children and folders",
        &[
            "a_killed_service_loses_no_answered_call",
            "a_killed_service_leaves_nothing",
            "memory_of_a_process_tree",
        ],
    ),
    (
        "D12",
        "the manifest of a checkpoint is not protected",
        &["a_damaged_checkpoint_is_refused_and_kept", "a_second_check_in_the_directory_is_refused"],
    ),
    (
        "D13",
        "exit codes, `--processes` without bound, memory, full disks, HTTP, pages, AUT files",
        &[
            "a_lost_worker_after_a_property_has_failed",
            "mistakes_are_bad_input",
            "the_process_stays_near_its_memory_limit",
            "a_full_disk_is_noticed",
            "lengths_that_are_given_twice",
            "hosts_and_origins",
            "transition_systems_are_checked",
        ],
    ),
];

/// The names of all functions in the Rust files below a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            functions(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
            found.extend(names.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_string()));
        }
    }
}

#[test]
fn every_defect_has_its_tests() {
    let mut found = BTreeSet::new();
    ["../../apps", "../../crates"].iter().for_each(|folder| functions(Path::new(folder), &mut found));
    for (number, what, tests) in DEFECTS {
        for test in tests {
            assert!(found.contains(*test), "{number} ({what}): there is no test `{test}`");
        }
    }
}

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
    for args in [
        &["--help"][..],
        &["--version"],
        &["check", "--help"],
        &["schema"],
        &["explain", "ispl/deadlock"],
        &["explore", "--no-open", "../../models/ispl/trains.ispl"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        let status = command.args(args).stdout(full).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}

/// Files in Aldebaran format, which an earlier version could write only.
#[test]
fn transition_systems_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lamp.aut"), "des (0, 2, 2)\n(0, on, 1)\n(1, off, 0)\n").unwrap();
    fs::write(folder.path().join("lamp.mu"), "again : AG EF <on>tt ;\n").unwrap();
    let output = masque(&["check", "lamp.aut", "--properties", "lamp.mu"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).starts_with("holds  again"), "{}", text(&output.stdout));
}
