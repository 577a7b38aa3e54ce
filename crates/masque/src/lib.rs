//! Masque, a model checker for multi-agent systems, as a library.
//!
//! Load a model or build one, check it, read verdicts and evidence, step through it:
//!
//! ```
//! use masque::{Check, Model, Verdict};
//!
//! let text = "
//!     Agent Environment
//!       Obsvars: lit : boolean; end Obsvars
//!       Actions = {switch, wait};
//!       Protocol: Other : {switch, wait}; end Protocol
//!       Evolution: lit = !lit if Action = switch; end Evolution
//!     end Agent
//!     Agent Guest
//!       Vars: seen : boolean; end Vars
//!       Actions = {look};
//!       Protocol: Other : {look}; end Protocol
//!       Evolution: seen = true if Environment.lit; end Evolution
//!     end Agent
//!     Evaluation lit if Environment.lit; end Evaluation
//!     InitStates Environment.lit = false and Guest.seen = false; end InitStates
//!     Formulae
//!       knows: AG(lit -> K(Guest, lit));
//!       always: AF lit;
//!     end Formulae";
//! let model = Model::from_text("lamp.ispl", text)?;
//! let report = model.check(&Check::new())?;
//!
//! assert_eq!(report.property("knows").unwrap().verdict, Verdict::Holds);
//! let always = report.property("always").unwrap();
//! assert_eq!(always.verdict, Verdict::Fails);
//! assert!(always.evidence.as_ref().unwrap().to_string().contains("Environment: wait"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Model`] is a model in any of the languages of Masque (ISPL, BDI, LCC, AUT), loaded by a
//!   [`Loader`] or made by a [`ModelBuilder`].
//! * [`Check`] says how much time and memory a check may use, which function receives progress, and
//!   what is shown; [`Model::check`] returns a [`Report`].
//! * [`Walk`] steps through a model.
//! * [`States`] answers questions about states: lists, steps, truth of formulas, what agents can tell apart.
//! * [`Monitor`] compares records of what agents do with a protocol or an interpreted system.
//!
//! No sequence of calls panics; what is wrong with a model is in a [`LoadError`] or [`BuildError`].
#![forbid(unsafe_code)]

mod build;
mod check;
mod expr;
mod following;
mod model;
mod monitor;
mod states;
mod walk;

pub use build::{Action, Agent, BuildError, ModelBuilder, Problem, Variable};
pub use check::{Check, CheckError, Evidence, EvidenceWalk, PropertyResult, Report, WalkStep};
pub use expr::Expr;
pub use masque_driver::{ByDefinition, Count, Progress, Reached, Verdict, Why, own_process};
pub use masque_report::{
    FactReport, GoalReport, MonitorEvent, MonitorLine, MonitorSession, MonitorStart, MonitorSummary,
    ObligationReport, message_chart,
};
pub use model::{Engine, LoadError, Loader, Message, Model};
pub use monitor::{Monitor, MonitorError, MonitorSetup, MonitorStatus, monitor_text};
pub use states::{MAX_LISTED_STATES, StateList, StateStep, States, StatesError, StepList};
pub use walk::{Walk, WalkError};

/// The blocks of the guide for users of this crate, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/rust-library.md")]
pub struct Guide;
