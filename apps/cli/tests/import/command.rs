//! The command: files, standard output, exit codes.

use std::process::{Command, Output};

fn masque(args: &[&str]) -> Output {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/data");
    Command::new(env!("CARGO_BIN_EXE_masque")).args(args).current_dir(data).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_handoff_loop_is_imported_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("handoff.lcc");
    let path = path.to_str().unwrap();
    let done = masque(&["import", "langgraph", "langgraph_handoff.json", "--output", path]);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), String::new()), "{}", text(&done.stderr));
    assert!(
        text(&done.stderr).contains("handoff.lcc: 5 roles, 3 choices, 5 assumptions"),
        "{}",
        text(&done.stderr)
    );
    let checked = masque(&["check", path, "--deny", "warnings"]);
    let report = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(1), "{report}");
    // The chart of the counterexample: the agents hand over to each other forever.
    assert!(
        report.contains("ends fails:") && report.contains("|-- run") && report.contains("forever"),
        "{report}"
    );
    let formatted = masque(&["fmt", "--check", path]);
    assert_eq!(formatted.status.code(), Some(0), "{}", text(&formatted.stdout));
    let again = masque(&["import", "langgraph", "langgraph_handoff.json", "--output", path]);
    assert_eq!(again.status.code(), Some(2), "a file is not overwritten");
    assert!(text(&again.stderr).contains("exists"), "{}", text(&again.stderr));
}

#[test]
fn standard_output_has_the_protocol() {
    let done = masque(&["import", "a2a", "card_currency.json", "card_travel.json"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(
        text(&done.stdout).starts_with("// A skeleton made from agent cards (A2A): 6 roles"),
        "{}",
        text(&done.stdout)
    );
    assert!(text(&done.stderr).contains("6 assumptions"), "{}", text(&done.stderr));
    let quiet = masque(&["import", "-q", "a2a", "card_currency.json"]);
    assert_eq!(text(&quiet.stderr), "");
}

/// A file that cannot be written is not said to exist.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let full = masque(&["import", "langgraph", "langgraph_handoff.json", "--output", "/dev/full"]);
    let message = text(&full.stderr);
    assert_eq!(full.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot write /dev/full") && message.contains("No space left"), "{message}");
    let folder = masque(&["import", "langgraph", "langgraph_handoff.json", "--output", "no/such/folder.lcc"]);
    assert!(text(&folder.stderr).contains("cannot write no/such/folder.lcc"), "{}", text(&folder.stderr));
}

#[test]
fn bad_input() {
    #[rustfmt::skip]
    let rows: [(&[&str], &str); 5] = [
        (&["import", "langgraph", "none.json"],                                    "none.json"),
        (&["import", "langgraph", "card_travel.json"],                             "missing field `nodes`"),
        (&["import", "a2a", "langgraph_handoff.json"],                             "missing field `name`"),
        (&["import", "langgraph", "langgraph_handoff.json", "card_travel.json"],   "one graph"),
        (&["import", "autogen", "x.json"],                                         "invalid value 'autogen'"),
    ];
    for (args, expected) in rows {
        let done = masque(args);
        assert_eq!((done.status.code(), text(&done.stdout)), (Some(2), String::new()), "{args:?}");
        assert!(text(&done.stderr).contains(expected), "{args:?}: {}", text(&done.stderr));
    }
}
