//! Times that an editor waits for: `cargo bench -p masque-lsp --bench editing`.
//!
//! A keystroke in a model of 3 000 lines must have its diagnostics and a completion within 30 ms, and the diagnostics
//! of a file of 33 MB must be there within 2 s. The program fails if they are not.

use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request};
use masque_lsp::{Config, Server, uri_of};
use serde_json::{Value, json};

/// Longest time for the answer to a keystroke.
const KEYSTROKE_LIMIT: Duration = Duration::from_millis(30);
/// Longest time for the diagnostics of the large file.
const LARGE_FILE_LIMIT: Duration = Duration::from_secs(2);
/// Size of the large file in bytes.
const LARGE_FILE_BYTES: usize = 33 << 20;
/// Number of keystrokes that are measured; the median counts.
const N_KEYSTROKES: usize = 21;

fn main() {
    let mut is_fast = true;
    let mut report = |what: &str, time: Duration, limit: Duration| {
        println!("{what}: {:.1} ms (limit {} ms)", time.as_secs_f64() * 1e3, limit.as_millis());
        is_fast &= time <= limit;
    };
    let text = model(3_000, usize::MAX);
    let (diagnostics, completion) = keystrokes(&text);
    report("keystroke in 3 000 lines, diagnostics", diagnostics, KEYSTROKE_LIMIT);
    report("keystroke in 3 000 lines, completion", completion, KEYSTROKE_LIMIT);
    let large = model(usize::MAX, LARGE_FILE_BYTES);
    let mut server = server();
    let start = Instant::now();
    open(&mut server, large);
    settle(&mut server);
    report("33 MB, diagnostics", start.elapsed(), LARGE_FILE_LIMIT);
    let start = Instant::now();
    change(&mut server, 2, json!({"line": 10, "character": 0}), " ");
    report("33 MB, a change is accepted", start.elapsed(), Duration::from_millis(200));
    if !is_fast {
        std::process::exit(1);
    }
}

/// Median times from a keystroke to diagnostics, and to a completion.
fn keystrokes(text: &str) -> (Duration, Duration) {
    let mut server = server();
    open(&mut server, text.to_string());
    settle(&mut server);
    let (mut diagnostics, mut completions) = (Vec::new(), Vec::new());
    for version in 0..N_KEYSTROKES {
        let start = Instant::now();
        change(&mut server, version as i32 + 2, json!({"line": 20, "character": 0}), " ");
        let params = json!({"textDocument": {"uri": uri()}, "position": {"line": 20, "character": 1}});
        let id = (version as i32 + 100).into();
        let request = Request { id, method: "textDocument/completion".to_string(), params };
        assert_eq!(server.handle(Message::Request(request)).len(), 1);
        completions.push(start.elapsed());
        settle(&mut server);
        diagnostics.push(start.elapsed());
    }
    diagnostics.sort_unstable();
    completions.sort_unstable();
    (diagnostics[N_KEYSTROKES / 2], completions[N_KEYSTROKES / 2])
}

/// A model of many agents, of about a number of lines or bytes.
fn model(n_lines: usize, n_bytes: usize) -> String {
    let mut text = String::new();
    let (mut lines, mut n_agents) = (0, 0);
    while lines < n_lines && text.len() < n_bytes {
        text.push_str(&format!("Agent A{n_agents}\n  Vars:\n    x : 0..200;\n    on : boolean;\n  end Vars\n  Actions = {{go, stay}};\n  Protocol:\n    on : {{go}};\n    Other : {{stay}};\n  end Protocol\n  Evolution:\n"));
        let n_updates = if n_bytes == usize::MAX { 20 } else { 2_000 };
        for value in 0..n_updates {
            let to = value % 200;
            text.push_str(&format!("    x = {to} if Action = go and on = true and x <= {to};\n"));
        }
        text.push_str("    on = ~on if Action = stay;\n  end Evolution\nend Agent\n");
        n_agents += 1;
        lines = n_agents * (n_updates + 15);
    }
    let initial: Vec<String> =
        (0..n_agents).map(|agent| format!("A{agent}.x = 0 and !A{agent}.on")).collect();
    text.push_str(&format!(
        "InitStates\n  {};\nend InitStates\nFormulae\n  EF A0.x = 3;\nend Formulae\n",
        initial.join(" and ")
    ));
    text
}

fn server() -> Server {
    let mut server = Server::new(Config::default());
    let params = json!({"capabilities": {}, "initializationOptions": {"settings": {"load": {"timeLimit": 60, "memoryLimit": 16384}}}});
    let initialize = Request { id: 1.into(), method: "initialize".to_string(), params };
    server.handle(Message::Request(initialize));
    server
}

fn uri() -> Value {
    json!(uri_of(&std::env::temp_dir().join("masque-bench-no-such-file.ispl")))
}

fn notify(server: &mut Server, method: &str, params: Value) {
    server.handle(Message::Notification(Notification { method: method.to_string(), params }));
}

fn open(server: &mut Server, text: String) {
    let document = json!({"uri": uri(), "languageId": "ispl", "version": 1, "text": text});
    notify(server, "textDocument/didOpen", json!({"textDocument": document}));
}

fn change(server: &mut Server, version: i32, at: Value, text: &str) {
    let document = json!({"uri": uri(), "version": version});
    let change = json!({"range": {"start": at, "end": at}, "text": text});
    notify(server, "textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
}

/// Runs all tasks; the diagnostics must be without errors.
fn settle(server: &mut Server) {
    while let Some(task) = server.next_task() {
        let mut results = Vec::new();
        task.run(&mut |done| results.push(done));
        for done in results {
            for message in server.finish(done) {
                let Message::Notification(found) = message else { continue };
                let diagnostics = found.params["diagnostics"].as_array().cloned().unwrap_or_default();
                assert!(diagnostics.iter().all(|found| found["severity"] != 1), "{:?}", diagnostics.first());
            }
        }
    }
}
