//! All a front end needs: load a file, choose an engine, check, explain, format.
//!
//! A file becomes a [`Loaded`] whatever is wrong with it; its diagnostics say what. If it holds a
//! model, [`check()`] decides the model's properties on a thread of its own and answers in time,
//! with what is decided by then.
//!
//! ```
//! use std::path::Path;
//!
//! let loaded = masque_driver::load(Path::new("no/such/file.ispl"), &Default::default());
//! assert!(loaded.system.is_none());
//! assert_eq!(loaded.diagnostics[0].code, "file/not-found");
//! ```
//!
//! | file | does |
//! |---|---|
//! | `file` | reads a text, or says why it cannot |
//! | `define` | reads `-D NAME=VALUE`, and lists of values for `bench` |
//! | `load` | from a path to a checked model |
//! | `bdi` | BDI files: from a path to worlds and verdicts |
//! | `select` | finds properties and agents by name |
//! | `lcc` | LCC files: several files as one instance |
//! | `lcc_check` | the work on an LCC instance |
//! | `lcc_each` | LCC files one by one |
//! | `imports` | finds the files that LCC files import |
//! | `format` | from a path to formatted text |
//! | `order` | reads a file of variables for `--order` |
//! | `variables` | finds variables by name |
//! | `parallel` | what `--parallel` asks for |
//! | `engines` | the engines there are, which one is asked, and how it goes about it |
//! | `portfolio` | stored states and diagrams in turns |
//! | `cluster` | what the workers of the distributed engine are told, and what they do with it |
//! | `compare` | the answers of several engines side by side |
//! | `decide` | the work: facts, verdicts, vacuity |
//! | `supervise` | the work on a thread, with a deadline |
//! | `race` | the engines side by side, each in a process of its own |
//! | `ask` | questions about single states |
//! | `simulate` | a walk through a system |
//! | `worker` | one piece of work on a thread, with a deadline |
//! | `graph` | the reachable graph and the reachable set |
//! | `findings` | deadlocks, overflows and the like as diagnostics |
//! | `explain` | the page behind a diagnostic's code |
#![forbid(unsafe_code)]

mod ask;
pub mod bdi;
pub mod cluster;
mod compare;
mod decide;
mod define;
mod engines;
mod explain;
mod file;
mod findings;
mod format;
mod graph;
mod imports;
pub mod lcc;
mod lcc_check;
mod lcc_each;
mod load;
mod order;
mod parallel;
mod portfolio;
mod race;
mod select;
mod simulate;
mod supervise;
mod variables;
mod worker;

pub use ask::{Truth, alike, truth_at};
pub use compare::{CrossCheck, Disagreement};
pub use decide::{Cost, Decided, MOST_PARTS};
pub use define::{Refused, Sweep, sweep};
pub use engines::{AnyEngine, EngineChoice, EngineOptions, Order, Parallel, Reorder, Strategy, engines};
pub use explain::{codes, explain, similar_code};
pub use file::{MAX_BYTES, read as read_text};
pub use findings::Finding;
pub use format::{Formatted, format_file, replace_file};
pub use graph::{Cut, Graph, MOST_EDGES, View, diagram, graph};
pub use imports::Roots;
pub use load::{Language, Loaded, Request, load, load_text};
pub use masque_model::steps::Successors;
pub use masque_model::{
    ActionId, AgentId, At, Deadlock, Expr, ExprId, Formula, FormulaId, Overflow, Property, Strategies,
    System, VarId,
};
pub use masque_symbolic::{Diagram, DiagramBit, DiagramNode, ONE};
pub use masque_text::{Diagnostic, Severity, Sources};
pub use masque_verdict::{
    Answer, Answers, Because, Chain, Evidence, Extent, Found, Initially, JointAction, Link, Missing, Node,
    Outcome, Path, Possibility, Reason, ReasonId, Row, Run as PathRun, Show, Showing, State, StateId,
    Strategy as GroupStrategy, Subformula, Support, Unfolding, Verdict, Why, subformulas,
};
pub use order::OrderChoice;
pub use parallel::ParallelChoice;
pub use race::{lane, race};
pub use select::agent as find_agent;
pub use simulate::{Choices, MOST_CHOICES, MOST_SUCCESSORS, Simulation};
pub use supervise::{Limits, Progress, Run, check};
