//! An editor for tests: it sends messages to a server in the same process and keeps what the server sends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_server::{Message, Notification, Request, Response};
use masque_lsp::{Config, Server, Task, identity, uri_of};
use serde_json::{Value, json};

/// A server with a folder of files.
pub(crate) struct Editor {
    pub(crate) server: Server,
    /// The folder of the workspace.
    pub(crate) folder: PathBuf,
    _folder: tempfile::TempDir,
    versions: BTreeMap<String, i32>,
    last_id: i32,
    /// All notifications and requests of the server, in their order.
    pub(crate) received: Vec<(String, Value)>,
    /// Answers that came later than their requests, by the ids of the requests.
    answers: BTreeMap<i32, Result<Value, i32>>,
    /// What the server announces.
    pub(crate) capabilities: Value,
}

impl Editor {
    /// An editor with files on the disk.
    pub(crate) fn new(files: &[(&str, &str)]) -> Editor {
        Editor::with(files, json!({}), |_| {})
    }

    /// The same with capabilities of the client and another configuration of the server.
    pub(crate) fn with(
        files: &[(&str, &str)],
        capabilities: Value,
        configure: impl FnOnce(&mut Config),
    ) -> Editor {
        let temporary = tempfile::tempdir().unwrap();
        let folder = identity(temporary.path());
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut config = Config { program: None, cache: Some(folder.join(".cache")) };
        configure(&mut config);
        let mut editor = Editor {
            server: Server::new(config),
            folder: folder.clone(),
            _folder: temporary,
            versions: BTreeMap::new(),
            last_id: 0,
            received: Vec::new(),
            answers: BTreeMap::new(),
            capabilities: Value::Null,
        };
        let params = json!({"processId": null, "rootUri": uri_of(&folder), "capabilities": capabilities});
        let announced = editor.request("initialize", params).unwrap();
        editor.capabilities = announced["capabilities"].clone();
        editor.notify("initialized", json!({}));
        editor.settle();
        editor
    }

    /// The URI of a file.
    pub(crate) fn uri(&self, name: &str) -> Value {
        json!(uri_of(&self.folder.join(name)))
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = Message::Notification(Notification { method: method.to_string(), params });
        self.send(message);
    }

    /// Sends a request and returns its answer, or the code of the error.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, i32> {
        let id = self.begin(method, &params);
        self.answer(id).expect("a request has an answer")
    }

    /// Sends a request, whose answer may come later.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> i32 {
        self.last_id += 1;
        let (id, params) = (self.last_id.into(), params.clone());
        self.send(Message::Request(Request { id, method: method.to_string(), params }));
        self.last_id
    }

    /// The answer to a request, or the code of the error; none if there is no answer yet.
    pub(crate) fn answer(&mut self, id: i32) -> Option<Result<Value, i32>> {
        self.answers.remove(&id)
    }

    /// Sends a message, and keeps what comes back.
    pub(crate) fn send(&mut self, message: Message) {
        let messages = self.server.handle(message);
        self.keep(messages);
    }

    fn keep(&mut self, messages: Vec<Message>) {
        for message in messages {
            match message {
                Message::Response(Response { id, response_result }) => {
                    let id = id.to_string().parse().expect("the ids of this editor are numbers");
                    self.answers.insert(id, response_result.map_err(|error| error.code));
                }
                Message::Notification(found) => self.received.push((found.method, found.params)),
                Message::Request(found) => self.received.push((found.method, found.params)),
            }
        }
    }

    /// Runs all tasks of the server, one after another.
    pub(crate) fn settle(&mut self) {
        while let Some(task) = self.server.next_task() {
            self.run(task);
        }
    }

    fn run(&mut self, task: Task) {
        let mut results = Vec::new();
        task.run(&mut |done| results.push(done));
        for done in results {
            let messages = self.server.finish(done);
            self.keep(messages);
        }
    }

    /// Opens a document.
    pub(crate) fn open(&mut self, name: &str, text: &str) {
        self.versions.insert(name.to_string(), 1);
        let language = Path::new(name).extension().map_or("", |ending| ending.to_str().unwrap());
        let document = json!({"uri": self.uri(name), "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
        self.settle();
    }

    /// Replaces the whole text of a document.
    pub(crate) fn replace(&mut self, name: &str, text: &str) {
        self.change(name, json!([{"text": text}]));
        self.settle();
    }

    /// Changes a document, and does not wait for the analysis.
    pub(crate) fn change(&mut self, name: &str, changes: Value) {
        let version = self.versions.entry(name.to_string()).or_insert(1);
        *version += 1;
        let version = *version;
        self.change_as(name, version, changes);
    }

    /// Changes a document with a version.
    pub(crate) fn change_as(&mut self, name: &str, version: i32, changes: Value) {
        let document = json!({"uri": self.uri(name), "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// The last diagnostics of a document.
    pub(crate) fn diagnostics(&self, name: &str) -> Vec<Value> {
        let uri = self.uri(name);
        let is_about = |(method, params): &&(String, Value)| {
            method == "textDocument/publishDiagnostics" && params["uri"] == uri
        };
        let last = self.received.iter().rev().find(is_about);
        last.map_or(Vec::new(), |(_, params)| params["diagnostics"].as_array().unwrap().clone())
    }

    /// The codes of the last diagnostics of a document.
    pub(crate) fn codes(&self, name: &str) -> Vec<String> {
        self.diagnostics(name).iter().map(|found| found["code"].as_str().unwrap().to_string()).collect()
    }

    /// The parameters of all received messages with a method.
    pub(crate) fn all(&self, method: &str) -> Vec<Value> {
        self.received.iter().filter(|(other, _)| other == method).map(|(_, params)| params.clone()).collect()
    }

    /// The parameters of a request about a position, which is where `part` begins in `text`, moved by `shift` bytes.
    pub(crate) fn at(&self, name: &str, text: &str, part: &str, shift: usize) -> Value {
        let offset = text.find(part).unwrap_or_else(|| panic!("no {part:?}")) + shift;
        json!({"textDocument": {"uri": self.uri(name)}, "position": position(text, offset)})
    }
}

/// The position of an offset in UTF-16 units, written without the code under test.
pub(crate) fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

/// A small model in ISPL.
pub(crate) const LIGHT: &str = "-- Übung mit 😀\nAgent Light\n  Vars:\n    on : boolean;\n  end Vars\n  Actions = {switch};\n  Protocol:\n    Other : {switch};\n  end Protocol\n  Evolution:\n    on = ~on if Action = switch;\n  end Evolution\nend Agent\nEvaluation\n  lit if Light.on = true;\nend Evaluation\nInitStates !Light.on; end InitStates\nFormulae\n  EF Light.on;\n  AG Light.on;\nend Formulae\n";

/// A small program in BDI.
pub(crate) const COIN: &str =
    "// Münze 😀\nagent a is loop p := any endloop\nproperty possible initially: EF p;\n";

/// A small protocol in LCC.
pub(crate) const GREETING: &str = "% Grüße 😀\nagent a(greeter, g1).\nagent a(guest, h1).\na(greeter, G) :: hello => a(guest, h1).\na(guest, H) :: hello <= a(greeter, g1).\nproperty greeted : EF <in(hello, _)>tt ;\n";

/// A file of properties.
pub(crate) const PROPERTIES: &str = "// Größe 😀\nsafe : nu Z. [-]Z && <->tt;\n";
