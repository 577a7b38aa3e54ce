//! Nothing of `masque broker` outlives it: child processes and temporary folders.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A time limit that no test reaches.
const SOON: Duration = Duration::from_secs(60);

/// Sends a call to a service on standard input and output.
fn send(broker: &mut Child, method: &str, params: &Value) {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    writeln!(broker.stdin.as_mut().unwrap(), "{call}").unwrap();
}

/// More states than can be found in a lifetime.
const ENDLESS: &str = include_str!("support/endless.ispl");

/// The processes that a process has started, and those that they have started.
fn descendants(id: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<u32>>())
        .collect();
    let further: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    [children, further].concat()
}

/// Whether a process runs. A process that has ended but was not waited for does not.
fn is_running(id: u32) -> bool {
    let mut status = String::new();
    let read =
        fs::File::open(format!("/proc/{id}/stat")).and_then(|mut file| file.read_to_string(&mut status));
    read.is_ok() && !status.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn entries(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Child processes, those that they have started, and temporary folders end with a service that is killed.
#[test]
fn a_killed_service_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        command.args(["broker", "--children", "4", "--timeout", "100s"]).env("TMPDIR", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut broker = start();
    let model = |engine: &str| json!({"files": [{"name": "m.ispl", "text": ENDLESS}], "engine": engine});
    send(&mut broker, "check_model", &model("explicit"));
    send(&mut broker, "check_model", &model("race"));
    let id = broker.id();
    // Two children, and two contenders or more.
    wait_until("the processes do not start", || descendants(id).len() >= 4);
    assert_eq!(entries(folder.path()).len(), 2);
    let processes = descendants(id);
    broker.kill().unwrap();
    broker.wait().unwrap();
    wait_until("processes are left", || !processes.iter().any(|id| is_running(*id)));
    wait_until("folders are left", || entries(folder.path()).is_empty());
    // A folder whose child process was killed, too, is removed by the next service. Others are not.
    for name in ["masque-broker-left", "masque-other"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join(".lock"), "").unwrap();
    }
    let mut broker = start();
    send(&mut broker, "explain", &json!({"code": "lcc/no-team"}));
    let mut answer = String::new();
    BufReader::new(broker.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert_eq!(entries(folder.path()), ["masque-other"], "{answer}");
    // The service ends with its input.
    drop(broker.stdin.take());
    broker.wait().unwrap();
}
