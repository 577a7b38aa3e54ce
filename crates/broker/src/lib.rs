//! A service for those who check while agents interact: JSON-RPC 2.0 over standard input and output,
//! or over HTTP. The page `docs/broker.md` has the protocol.
//!
//! ```text
//! stdio ─┐                       ┌─▶ lane of a session ─▶ masque-lcc
//!        ├─▶ rpc ─▶ service ─▶ methods
//! http ──┘  message   ticket     └─▶ child process ─▶ masque check
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `rpc`, `fault` | JSON-RPC: messages, answers, errors |
//! | `protocol`, `team`, `schema` | the methods: what they take and give |
//! | `limits` | what may be used |
//! | `service`, `methods` | from a message to work, from work to an answer |
//! | `ask`, `interact` | the library's answers as those of the protocol |
//! | `sessions`, `lane` | open sessions; calls in order, workers, panics |
//! | `ticket` | calls under way, and cancelling them |
//! | `child` | models of other languages, in processes of their own |
//! | `stdio`, `http`, `patient`, `door` | the transports; slow readers; who is let in |
//! | `metrics`, `log` | what can be watched |
//! | `run` | start, signals, end |
#![forbid(unsafe_code)]

mod ask;
mod child;
mod door;
mod fault;
mod http;
mod interact;
mod lane;
mod limits;
mod log;
mod methods;
mod metrics;
mod patient;
mod protocol;
mod rpc;
mod run;
mod schema;
mod service;
mod sessions;
mod stdio;
mod team;
mod ticket;

pub use door::{BadToken, Door, Token};
pub use fault::{Details, Fault, Move};
pub use http::serve as serve_http;
pub use limits::Limits;
pub use log::Log;
pub use metrics::Gauges;
pub use protocol::{BROKER_SCHEMA, Method};
pub use run::{Listen, run_http, run_stdio};
pub use schema::schema;
pub use service::{Client, Config, Pending, Service};
pub use stdio::serve as serve_stdio;
