//! `masque lsp` as a process: real checks, exit codes, and no process that is left over.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const LIGHT: &str = "Agent Light\n  Vars:\n    on : boolean;\n  end Vars\n  Actions = {switch};\n  Protocol:\n    Other : {switch};\n  end Protocol\n  Evolution:\n    on = ~on if Action = switch;\n  end Evolution\nend Agent\nInitStates !Light.on; end InitStates\nFormulae\n  EF Light.on;\n  AG Light.on;\nend Formulae\n";
/// Longest time that a test waits for a message.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    folder: tempfile::TempDir,
}

impl Editor {
    fn start() -> Editor {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        command.arg("lsp").env("XDG_CACHE_HOME", folder.path()).env("HOME", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut editor = Editor { child, input, messages, folder };
        let capabilities =
            json!({"textDocument": {"inlayHint": {}}, "window": {"showDocument": {"support": true}}});
        editor.send(json!({"id": 1, "method": "initialize", "params": {"capabilities": capabilities}}));
        let answer = editor.wait(|message| message["id"] == 1);
        assert_eq!(answer["result"]["serverInfo"]["name"], "masque");
        editor.send(json!({"method": "initialized", "params": {}}));
        editor
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    /// The next message that is the one.
    fn wait(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).expect("the server sends a message");
            if is_it(&message) {
                return message;
            }
        }
    }

    fn open(&mut self, text: &str) -> String {
        let uri = format!("file://{}/light.ispl", self.folder.path().display());
        let document = json!({"uri": uri, "languageId": "ispl", "version": 1, "text": text});
        self.send(json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}));
        uri
    }

    fn execute(&mut self, id: i32, command: &str, argument: Value) {
        let params = json!({"command": command, "arguments": [argument]});
        self.send(json!({"id": id, "method": "workspace/executeCommand", "params": params}));
    }

    fn exit_code(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None => assert!(Instant::now() < end, "the server does not end"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn read(stream: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse().ok()?,
            None if line == "\r\n" => break,
            None => return None,
        }
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// An unsaved model is checked, the verdicts arrive, and the counterexample is a page.
#[test]
fn a_model_is_checked() {
    let mut editor = Editor::start();
    let uri = editor.open(LIGHT);
    editor.wait(|message| message["method"] == "textDocument/publishDiagnostics");
    editor.execute(2, "masque.checkAll", json!({"uri": uri}));
    assert_eq!(editor.wait(|message| message["id"] == 2)["result"], json!({"started": true}));
    let verdicts = editor.wait(|message| message["method"] == "masque/verdicts");
    let words: Vec<&Value> = verdicts["params"]["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|property| &property["verdict"])
        .collect();
    assert_eq!(words, ["holds", "fails"]);
    editor.execute(3, "masque.check", json!({"uri": uri, "property": "2"}));
    let shown = editor.wait(|message| message["method"] == "window/showDocument");
    let page = shown["params"]["uri"].as_str().unwrap().trim_start_matches("file://").to_string();
    assert!(std::fs::read_to_string(page).unwrap().contains("<html"));
    editor.wait(|message| {
        let properties = &message["params"]["properties"];
        message["method"] == "masque/verdicts" && properties[1]["states"] == "0 of 2 states"
    });
    editor.send(json!({"id": 4, "method": "shutdown"}));
    editor.wait(|message| message["id"] == 4);
    editor.send(json!({"method": "exit"}));
    assert_eq!(editor.exit_code(), Some(0));
}

/// A message that is no JSON is refused, and the server goes on; without `shutdown` the exit code is 1.
#[test]
fn malformed_messages_and_the_end_of_input() {
    let mut editor = Editor::start();
    let input = editor.input.as_mut().unwrap();
    write!(input, "Content-Length: 5\r\n\r\n{{bad}}").unwrap();
    assert_eq!(editor.wait(|message| message["error"]["code"] == -32700)["id"], Value::Null);
    editor.send(json!({"id": 7, "method": "workspace/symbol", "params": {"query": ""}}));
    assert_eq!(editor.wait(|message| message["id"] == 7)["result"], json!([]));
    editor.input = None;
    assert_eq!(editor.exit_code(), Some(1));
}

/// A server whose input ends kills the check that it runs.
#[cfg(target_os = "linux")]
#[test]
fn no_check_outlives_the_server() {
    let mut editor = Editor::start();
    // Too many states to be counted while the test runs.
    let agents: String = (0..40)
        .map(|at| {
            LIGHT[..LIGHT.find("InitStates").unwrap()].replace("Light", &format!("L{at}")).replace(
                "~on if Action = switch",
                &format!("~on if Action = switch and L{}.on = on", (at * 7 + 1) % 40),
            )
        })
        .collect();
    let text = format!("{agents}InitStates !L0.on; end InitStates\nFormulae AG L0.on; end Formulae\n");
    let text = text.replace("Light", "L0");
    let uri = editor.open(&text);
    editor.wait(|message| message["method"] == "textDocument/publishDiagnostics");
    editor.execute(2, "masque.checkAll", json!({"uri": uri}));
    editor.wait(|message| message["id"] == 2);
    let server = editor.child.id();
    let children = || -> String {
        let threads = std::fs::read_dir(format!("/proc/{server}/task")).into_iter().flatten().flatten();
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect()
    };
    let end = Instant::now() + PATIENCE;
    let mut child = String::new();
    while child.trim().is_empty() && Instant::now() < end {
        child = children();
        std::thread::sleep(Duration::from_millis(2));
    }
    editor.input = None;
    assert_eq!(editor.exit_code(), Some(1));
    for id in child.split_whitespace() {
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists(), "process {id} is left over");
    }
}
