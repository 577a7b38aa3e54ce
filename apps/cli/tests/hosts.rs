//! Checks on other machines through a launcher: `ssh` and its shells, addresses, and the file of hosts.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::spread::*;
use tempfile::TempDir;

/// What looks like `ssh`: it wants no password and a host, and hands the rest to a shell as one line,
/// as the other end of `ssh` does. What it was asked is in the file `asked`.
const SSH: &str = r#"#!/bin/sh
[ "$1 $2" = "-o BatchMode=yes" ] || { echo "ssh: not in batch mode: $*" >&2; exit 255; }
shift 2
host=$1
shift
printf '%s|%s\n' "$host" "$*" >> "$ASKED"
case $host in -*|*[!0-9a-f.:]*) echo "ssh: Could not resolve hostname $host" >&2; exit 255;; esac
exec sh -c "$*"
"#;

/// A check of a model by a program whose name only a careful launcher survives. What `ssh` was asked,
/// the report, and the exit code.
fn check_through_ssh(hosts: &str) -> (String, (String, i32), (String, i32)) {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 6);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let tools = folder.path().join("it's \"my\" $tools");
    fs::create_dir(&tools).unwrap();
    let (ssh, copy) = (tools.join("ssh"), tools.join("masque"));
    executable(&ssh, SSH);
    assert!(Command::new("cp").arg(PROGRAM).arg(&copy).status().unwrap().success());
    let asked = folder.path().join("asked");
    let hosts = file(&folder, "hosts.txt", hosts);
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = program(&copy, &["check", &model, "--format", "json", "--cluster", &hosts]);
    let output = command.env("PATH", path).env("ASKED", &asked).output().unwrap();
    let errors = text(&output.stderr);
    assert_eq!(errors, "");
    let found = (without_engine(&text(&output.stdout)), output.status.code().unwrap());
    (fs::read_to_string(asked).unwrap(), found, expected)
}

/// Reading the file of hosts obeys the limits: a pipe that no process writes to, and an endless file.
#[test]
fn the_file_of_hosts_is_read_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 6);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (hosts, code, message) in
        [(pipe.to_str().unwrap(), 3, "load/stopped"), ("/dev/zero", 2, "file/too-large")]
    {
        let output = program(
            std::path::Path::new(PROGRAM),
            &["check", &model, "--cluster", hosts, "--timeout", "200ms"],
        )
        .output()
        .unwrap();
        assert_eq!(output.status.code(), Some(code), "{hosts}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(message), "{hosts}: {}", text(&output.stderr));
    }
}

#[test]
fn a_name_with_blanks_and_quotes_survives_ssh() {
    let (asked, found, expected) = check_through_ssh("127.0.0.1\n127.0.0.1 # once more\n");
    assert!(found == expected);
    let lines: Vec<&str> = asked.lines().collect();
    assert_eq!(lines.len(), 2, "{asked}");
    for line in lines {
        assert!(line.starts_with("127.0.0.1|'/"), "{line}");
        assert!(line.ends_with("/it'\\''s \"my\" $tools/masque' worker"), "{line}");
    }
}

#[test]
fn addresses_of_either_kind() {
    if TcpListener::bind("[::1]:0").is_err() {
        println!("IPv6 is not available here: its addresses were not tested");
        return;
    }
    let (asked, found, expected) = check_through_ssh("[::1]\n[::1]\n");
    assert!(found == expected);
    assert!(asked.lines().all(|line| line.starts_with("::1|")), "{asked}");
}

fn refused(folder: &TempDir, hosts: &[u8]) -> String {
    let model = long_model(folder, 4);
    let path = folder.path().join("hosts.txt");
    fs::write(&path, hosts).unwrap();
    let output = output(&["check", &model, "--cluster", &path.display().to_string()]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(2)));
    text(&output.stderr).replace(&folder.path().display().to_string(), "FOLDER")
}

#[test]
fn errors_in_the_file_of_hosts_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [&[u8]; 5] = [
        b"node1\nnode2:90000 # the fast one\n",
        b"",
        b"node1\n  n\xffde2:9000\n",
        b"node1 node2\nme@node3\n2001:db8::1\n",
        b"# caf\xe9\n",
    ];
    let messages: Vec<String> = cases.iter().map(|hosts| refused(&folder, hosts)).collect();
    insta::assert_snapshot!(messages.join("----\n"));
}

/// A limit that no clock reaches is a limit like any other, not an error of arithmetic.
#[test]
fn a_very_long_time_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let common = ["check", &model, "--format", "json", "--processes", "2"];
    for option in ["--start-within", "--silence", "--checkpoint-every"] {
        let checkpoint = folder.path().join(option).display().to_string();
        let more = [option, "9999999999999999999s", "--checkpoint", &checkpoint];
        assert!(report(&[&common[..], &more].concat()) == expected, "{option}");
    }
}

/// A worker of another build refuses to work: it may number states differently.
#[test]
fn a_worker_of_another_build() {
    let (zeros, token) = ("0".repeat(64), "a-token-for-tests");
    let time = serde_json::json!({ "secs": 5, "nanos": 0 });
    let setup = serde_json::json!({ "Setup": {
        "index": 0, "workers": 1, "run": zeros, "token": token, "bind": "127.0.0.1:0", "patience": time,
        "silence": null, "connection_timeout": time, "memory": null, "checkpoints": null,
        "build": "0.0.0-other", "model": zeros, "payload": "",
    }})
    .to_string();
    let mut worker = masque(&["worker"]).stdin(Stdio::piped()).spawn().unwrap();
    let input = worker.stdin.as_mut().unwrap();
    input.write_all(&(setup.len() as u32).to_le_bytes()).unwrap();
    input.write_all(setup.as_bytes()).unwrap();
    // The input stays open until the worker has decided.
    let output = {
        let input = worker.stdin.take();
        let output = worker.wait_with_output().unwrap();
        drop(input);
        output
    };
    let said = text(&output.stderr);
    assert_eq!((said.lines().count(), output.status.code()), (1, Some(3)), "{said}");
    assert!(said.starts_with("error: it is build ") && said.ends_with(", not 0.0.0-other\n"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("{\"Failed\":\"it is build "));
}
