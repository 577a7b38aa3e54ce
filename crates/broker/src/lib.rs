//! A service for programs that check protocols while agents interact: JSON-RPC 2.0 over standard input and
//! output, or over HTTP. The protocol is described in `docs/broker.md`.
//!
//! ```text
//! stdio ─┐                       ┌─▶ queue of a session ─▶ masque-lcc
//!        ├─▶ rpc ─▶ service ─▶ methods
//! http ──┘  message   ticket     └─▶ child process ─▶ masque check
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `rpc`, `fault` | JSON-RPC: messages, responses, errors |
//! | `protocol`, `team`, `schema` | the methods: their parameters and results |
//! | `limits` | the limits of the service, sessions and calls |
//! | `service`, `methods` | messages become calls, and calls become responses |
//! | `ask`, `interact` | the results of `masque-lcc` in the form of the protocol |
//! | `held` | a session and the log that it follows |
//! | `sessions`, `session_queue` | open sessions; calls in order, panics |
//! | `pool`, `priority` | threads for short and for long calls |
//! | `process_memory` | the memory of the whole process |
//! | `ticket` | calls in progress, and their cancellation |
//! | `child`, `work_folder` | models that are checked in child processes, and the folders of these |
//! | `stdio`, `http` | the transports; `masque-door` decides which requests are accepted |
//! | `mcp` | the Model Context Protocol: `masque mcp` |
//! | `journal` | saved sessions, which survive a restart |
//! | `metrics`, `log` | monitoring |
//! | `run` | start, signals, end |
#![forbid(unsafe_code)]

mod ask;
mod child;
mod fault;
mod held;
mod http;
mod interact;
mod journal;
mod limits;
mod log;
mod mcp;
mod methods;
mod metrics;

mod pool;
mod priority;
mod process_memory;
mod protocol;
mod rpc;
mod run;
mod schema;
mod service;
mod session_queue;
mod sessions;
mod stdio;
mod team;
mod ticket;
mod work_folder;

pub use fault::{Details, Fault, Move};
pub use http::serve as serve_http;
pub use limits::Limits;
pub use log::{Fields, Level, Log, LogDetail, LogFormat};
pub use masque_door::{AccessRules, BadToken, Token};
pub use mcp::{answer_call, serve as serve_mcp};
pub use metrics::Gauges;
pub use protocol::{BROKER_SCHEMA, Method};
pub use run::{Listen, run_http, run_mcp, run_mcp_over, run_stdio};
pub use schema::schema;
pub use service::{Client, Config, Pending, Service};
pub use stdio::serve as serve_stdio;
pub use work_folder::remove_abandoned_folder;
