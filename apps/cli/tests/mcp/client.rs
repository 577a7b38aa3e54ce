//! A client of the Model Context Protocol, by hand: lines of JSON over pipes to a server in this process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use masque_broker::{Config, Limits, Log, run_mcp_over};
use serde_json::{Value, json};

/// Time after which a test gives up.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Id of the first request, which messages that tests write themselves do not use.
const FIRST_ID: u64 = 1_000_000;

/// A server in this process, whose children are processes of the binary, and its client.
pub(crate) struct Client {
    input: Option<PipeWriter>,
    output: Receiver<String>,
    /// Answers that were read while another one was awaited, by their ids.
    early: BTreeMap<u64, Value>,
    next: u64,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

/// What a client says first.
pub(crate) fn hello() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

impl Client {
    /// A client that has introduced itself.
    pub(crate) fn new() -> Client {
        Client::with(Limits { time: Duration::from_secs(60), ..Limits::default() }, None)
    }

    pub(crate) fn with(limits: Limits, root: Option<PathBuf>) -> Client {
        let mut client = Client::silent(limits, root);
        let answer = client.request("initialize", hello());
        assert_eq!(answer["result"]["serverInfo"]["name"], "masque", "{answer}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// A client that has said nothing yet.
    pub(crate) fn silent(limits: Limits, root: Option<PathBuf>) -> Client {
        let (reader, input) = std::io::pipe().unwrap();
        let (answers, writer) = std::io::pipe().unwrap();
        let log = Log::silent();
        let program = Some(PathBuf::from(env!("CARGO_BIN_EXE_masque")));
        let config = Config { limits, log, root, program, ..Config::default() };
        let server = std::thread::spawn(move || run_mcp_over(config, BufReader::new(reader), writer));
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(answers).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Client { input: Some(input), output, early: BTreeMap::new(), next: FIRST_ID, server: Some(server) }
    }

    /// Sends a line as it is.
    pub(crate) fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(request.to_string().as_bytes());
        self.next
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(message.to_string().as_bytes());
    }

    /// The next line of the server, as JSON: it writes nothing else.
    pub(crate) fn line(&mut self) -> Value {
        let line = self.output.recv_timeout(TIMEOUT).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no message"))
    }

    /// The lines that came within a time.
    pub(crate) fn lines_within(&mut self, time: Duration) -> Vec<Value> {
        let mut lines = Vec::new();
        while let Ok(line) = self.output.recv_timeout(time) {
            lines.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no message")));
        }
        lines
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return answer;
            }
            let line = self.line();
            assert_eq!(line["jsonrpc"], "2.0", "{line}");
            if let Some(id) = line["id"].as_u64() {
                self.early.insert(id, line);
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let id = self.begin("tools/call", json!({"name": tool, "arguments": arguments}));
        self.called(id)
    }

    /// The result of a call that was begun.
    pub(crate) fn called(&mut self, id: u64) -> Called {
        let answer = self.answer(id);
        let result = answer.get("result").unwrap_or_else(|| panic!("{answer}"));
        Called {
            text: result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_string(),
            data: result["structuredContent"].clone(),
            is_error: result["isError"] == json!(true),
        }
    }

    /// Forgets answers that no request waits for.
    pub(crate) fn forget(&mut self) {
        self.early.clear();
    }

    /// Ends the conversation, and waits for the server.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        self.server.take().unwrap().join().unwrap().unwrap();
    }
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) text: String,
    pub(crate) data: Value,
    pub(crate) is_error: bool,
}

impl Called {
    /// The verdicts of the properties by their names, as `name: verdict`.
    pub(crate) fn verdicts(&self) -> Vec<String> {
        let run = self.data["report"]["runs"].get(0).unwrap_or(&self.data["report"]["run"]);
        let properties = run["properties"].as_array().unwrap_or_else(|| panic!("{}", self.text));
        let verdict =
            |p: &Value| format!("{}: {}", p["name"].as_str().unwrap(), p["verdict"].as_str().unwrap());
        properties.iter().map(verdict).collect()
    }
}

/// A file of a call.
pub(crate) fn file(name: &str, text: &str) -> Value {
    json!({"name": name, "text": text})
}

/// A model of the gallery.
pub(crate) fn gallery(path: &str) -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    std::fs::read_to_string(models.join(path)).unwrap()
}
