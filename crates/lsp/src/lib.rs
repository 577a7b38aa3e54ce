//! The language server of Masque, for editors: `masque lsp`.
//!
//! It speaks the Language Server Protocol 3.17 on standard input and output, for ISPL, BDI, LCC (`.lcc`, `.pol`) and
//! property files (`.mu`).
//!
//! ```
//! use lsp_server::{Message, Request};
//! use masque_lsp::{Config, Server};
//!
//! let mut server = Server::new(Config::default());
//! let params = serde_json::json!({"capabilities": {}, "processId": null, "rootUri": null});
//! let initialize = Request { id: 1.into(), method: "initialize".to_string(), params };
//! let replies = server.handle(Message::Request(initialize));
//! assert_eq!(replies.len(), 1);
//! ```
//!
//! # Models
//!
//! Texts of open documents replace the files on the disk ([`Overlay`]). A document belongs to the models of its
//! importers in the workspace, or is a model of its own; a property file that nothing imports is only parsed. After
//! each change the models of the document are loaded on another thread. A change during that time cancels it, and only
//! the newest texts are loaded.
//!
//! # Commands
//!
//! Each command has one argument, an object, and answers at once; the results follow as notifications.
//!
//! | command | argument | effect |
//! |---|---|---|
//! | `masque.check` | `{uri, property}` | checks a property, given by its position or name |
//! | `masque.checkAll` | `{uri}` | checks all properties of the model |
//! | `masque.why` | `{uri, property}` | checks a property, and opens the evidence for its verdict |
//! | `masque.simulate` | `{uri, property}` | checks a property, and starts a simulation that follows its counterexample |
//! | `masque.cancel` | `{uri}` | cancels the check of the model |
//!
//! A check runs `masque check` in a child process on copies of the texts ([`CheckTask`]). After it, the server sends
//! `masque/verdicts` with all verdicts, a message with a summary, and the page with the counterexample: as
//! `masque/evidence` if `initializationOptions.evidencePanel` is true, else with `window/showDocument`, else as a path
//! in a message. A simulation is `masque/terminal` if `initializationOptions.terminal` is true, else a command line in
//! a message.
//!
//! # Settings
//!
//! The section `masque` of the configuration, or `initializationOptions.settings`:
//!
//! | setting | default | meaning |
//! |---|---|---|
//! | `check.timeLimit` | 60 | seconds that a check may take |
//! | `check.memoryLimit` | 2048 | megabytes that a check may use |
//! | `check.engine` | `"auto"` | engine for ISPL files |
//! | `check.onSave` | false | whether all properties are checked when a file is saved |
//! | `load.timeLimit` | 10 | seconds that the diagnostics of a model may take |
//! | `load.memoryLimit` | 2048 | megabytes that the diagnostics of a model may use |
//! | `lenses` | true | whether there are code lenses |
//! | `verdicts.inlayHints` | true | whether verdicts are inlay hints |
//! | `verdicts.diagnostics` | `"auto"` | whether verdicts are diagnostics, too: `always`, `never`, or `auto` for clients without inlay hints |
//!
//! | file | does |
//! |---|---|
//! | `serve`, `transport` | the loop on standard input and output |
//! | `server`, `server/messages` | the state and its tasks; the messages of the client |
//! | `document`, `lines`, `uri`, `overlay`, `workspace` | texts, positions, and which files form a model |
//! | `analysis`, `explain_pages` | diagnostics |
//! | `names`, `name_requests`, `outline`, `completion`, `words` | names, and what editors show about them |
//! | `formatting` | formatting of documents and ranges |
//! | `actions`, `verdicts`, `findings`, `check_process` | lenses, fixes, hints, and checks in child processes |
//! | `settings` | settings |
#![forbid(unsafe_code)]

mod actions;
mod analysis;
mod cache_limits;
mod check_process;
mod completion;
mod document;
mod explain_pages;
mod findings;
mod formatting;
mod lines;
mod name_requests;
mod names;
mod outline;
mod overlay;
mod serve;
mod server;
mod settings;
mod transport;
mod uri;
mod verdicts;
mod words;
mod workspace;

pub use actions::COMMANDS;
pub use analysis::{Analysis, AnalysisTask};
pub use check_process::{CheckDone, CheckTask};
pub use explain_pages::user_cache;
pub use lines::{Encoding, LineStarts};
pub use overlay::{Overlay, identity};
pub use serve::serve;
pub use server::{Config, Done, Server, Task};
pub use settings::{CheckSettings, Lenses, LoadSettings, Settings, VerdictDiagnostics, VerdictSettings};
pub use uri::uri_of;
pub use workspace::Workspace;
