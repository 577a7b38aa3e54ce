//! Calls that once killed or froze a broker: `open` of texts whose loading took memory or time far beyond the limits.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const PROTOCOL: &str = "a(x, A) :: m => a(y, B). a(y, B) :: m <= a(x, A). agent a(x, a1). agent a(y, b1).
    property ends : AF final ;\n";

/// A service on standard input and output, in 4 GB of address space.
struct Service {
    process: Child,
    output: BufReader<ChildStdout>,
    n_calls: u64,
}

impl Drop for Service {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Service {
    fn start(options: &[&str]) -> Service {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 4194304; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_masque"), "broker"]);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Service { process, output, n_calls: 0 }
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.n_calls += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.n_calls, "method": method, "params": params});
        writeln!(self.process.stdin.as_mut().unwrap(), "{call}").unwrap();
        self.n_calls
    }

    fn send_open(&mut self, text: &str) -> u64 {
        self.send("open", json!({"files": [{"name": "m.lcc", "text": text}]}))
    }

    /// The next response, with the number of its call.
    fn receive(&mut self) -> (u64, Value) {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the service has ended");
        let response: Value = serde_json::from_str(&line).unwrap();
        (response["id"].as_u64().unwrap(), response)
    }

    /// Opens a small session; returns its name.
    fn open(&mut self) -> String {
        self.send_open(PROTOCOL);
        let (_, response) = self.receive();
        response["result"]["session"].as_str().unwrap_or_else(|| panic!("{response}")).to_string()
    }

    fn send_check(&mut self, session: &str) -> u64 {
        self.send("check", json!({"session": session, "property": "ends"}))
    }
}

fn is_answer(response: &Value) -> bool {
    response["result"]["answers"][0]["verdict"] == "holds"
}

#[test]
fn a_large_open_does_not_kill_the_service() {
    let n = 4000;
    let owners: String = (0..n).map(|i| format!("know o{i}: f. ")).collect();
    let rules: String = (0..n).map(|i| format!("common p{i} <- q. ")).collect();
    let mut service = Service::start(&["--timeout", "60s"]);
    let session = service.open();
    service.send_open(&format!("{PROTOCOL}{owners}{rules}"));
    let (_, response) = service.receive();
    assert!(response["result"]["session"].is_string() || response["error"].is_object(), "{response}");
    service.send_check(&session);
    let (_, response) = service.receive();
    assert!(is_answer(&response), "{response}");
}

/// Two texts whose loading took hours, on both threads of a service; a check of another session is answered, and so are
/// the two calls themselves.
#[test]
fn hostile_opens_freeze_nobody() {
    let negations: String = (0..30_000).map(|i| format!("common p{i} <- not p{}. ", i + 1)).collect();
    let hostile = format!("{PROTOCOL}{negations}");
    let mut service = Service::start(&["--workers", "2", "--timeout", "2s"]);
    let session = service.open();
    let opens = [service.send_open(&hostile), service.send_open(&hostile)];
    let check = service.send_check(&session);
    let mut answered = Vec::new();
    while answered.len() < 3 {
        let (id, response) = service.receive();
        assert!(id != check || is_answer(&response), "{response}");
        answered.push(id);
    }
    answered.sort_unstable();
    assert_eq!(answered, [opens[0], opens[1], check]);
}
