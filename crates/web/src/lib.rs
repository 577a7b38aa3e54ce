//! `masque explore`: a page in the browser to see, step through and question a model.
//!
//! ```text
//! browser ─ HTTP ─▶ door ─▶ server ─▶ pages, written in Rust
//!                             │ lines of JSON
//!                             ├─▶ process: checks the model, has the evidence
//!                             └─▶ process: stays warm, answers questions about states
//! ```
//!
//! Every page is complete without its script, which only replaces a part of the page where a browser would load the
//! whole, zooms drawings and moves along runs. Links and forms are plain.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the service: which requests are accepted, and how it starts and ends |
//! | `routes`, `evidence_routes`, `simulator_routes`, `protocol_routes` | the addresses, and what is done for each |
//! | `form_fields`, `responses` | what requests bring and responses carry |
//! | `events` | messages to open pages: progress, changes |
//! | `state` | the model as it was loaded last, and its check |
//! | `tab` | a tab of the browser: its walk |
//! | `walk` | the commands of the simulator |
//! | `child` | a process that holds a model, as the server sees it |
//! | `model_process`, `model_info` | that process itself, and what it says about a model |
//! | `protocol` | the messages between the two |
//! | `page`, `overview`, `source_view`, `evidence`, `simulator`, `state_comparison`, `state_graph`, `protocol_page`, `worlds` | the pages |
//! | `graph_layout` | places of states in the state graph |
//!
//! The server holds no model, so a check can always be cancelled: its process is killed.
#![forbid(unsafe_code)]

mod child;
mod events;
mod evidence;
mod evidence_routes;
mod form_fields;
mod graph_layout;
mod model_info;
mod model_process;
mod overview;
mod page;
mod protocol;
mod protocol_page;
mod protocol_routes;
mod responses;
mod routes;
mod server;
mod simulator;
mod simulator_routes;
mod source_view;
mod state;
mod state_comparison;
mod state_graph;
mod tab;
mod walk;
mod worlds;

pub use child::Program;
pub use model_process::{ModelSetup, serve_model};
pub use server::{Explorer, Setup, run};
