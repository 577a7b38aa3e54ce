//! Replay: evidence confirmed on the checked model, with no help from an engine.
//!
//! [`replay`] takes a system, a property, its verdict and the evidence for it, and looks up
//! everything that can be looked up: that runs begin where they must, that each step is a step of
//! the system, that agents see no difference where none is claimed, that propositions are true or
//! false as claimed, and that the claims made for a formula are those that its meaning asks for.
//! The answer lists what was taken on trust, or names the first fault.
//!
//! This is the code to read if you do not trust a verdict. It needs three things: the model and its
//! steps ([`masque_model::steps`]), the data types of evidence ([`masque_verdict::Evidence`]), and
//! the definition of what a claim of each form asks for ([`masque_verdict::claims`]). It shares no
//! code with the engines, or with the search for evidence (`masque-evidence`), except for strongly
//! connected components (`masque-graph`).
//!
//! | module | confirms |
//! |---|---|
//! | `replay` | the whole: states, runs and steps, then each reason |
//! | `reason` | one reason, by its kind |
//! | `run` | that a run does what a formula says that some run does |
//! | `wellformed` | that every reference in the evidence leads somewhere |
//! | `path_formula` | the truth of a path formula on a run with a loop |
//! | `knowledge` | that agents cannot distinguish states, and that norms admit them |
//! | `strategy` | that a group's strategy enforces its goal |
//! | `answers` | that the others' answers prevent it |
//! | `fixpoint` | that the claims about parts of a fixpoint decide it |
//! | `fault` | nothing: it defines the errors, and what is taken on trust |
#![forbid(unsafe_code)]

mod answers;
mod fault;
mod fixpoint;
mod knowledge;
mod path_formula;
mod reason;
mod replay;
mod run;
mod strategy;
mod wellformed;

pub use fault::{Fault, ReplayError, Trusted};
pub use replay::{replay, replay_path};
