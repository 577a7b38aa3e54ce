//! Replay: confirms evidence on the checked model, without any help from an engine.
//!
//! [`replay`] takes a system, a property, its verdict and the evidence for it, and checks everything that
//! can be checked: that paths start where they must, that each step is a step of the system, that agents
//! cannot distinguish states as claimed, that propositions are true or false as claimed, and that the claims
//! made for a formula are those that its meaning requires. The result lists what was taken on trust, or
//! names the first fault.
//!
//! This is the code to read if you do not trust a verdict. It needs three things: the model and its
//! steps ([`masque_model::steps`]), the data types of evidence ([`masque_verdict::Evidence`]), and
//! the definition of what a claim of each form asks for ([`masque_verdict::claims`]). It shares no
//! code with the engines, or with the search for evidence (`masque-evidence`), except for strongly
//! connected components (`masque-graph`).
//!
//! | module | confirms |
//! |---|---|
//! | `replay` | the whole evidence: states, paths and steps, then each reason |
//! | `reason` | one reason, by its kind |
//! | `path` | that a path is a witness for, or a counterexample to, a formula |
//! | `wellformed` | that every reference in the evidence is valid |
//! | `path_formula` | the truth of a path formula on a path with a loop |
//! | `knowledge` | that agents cannot distinguish states, and that norms admit them |
//! | `strategy` | that a group's strategy enforces its goal |
//! | `responses` | that the others' responses prevent it |
//! | `fixpoint` | that the claims about parts of a fixpoint decide it |
//! | `fault` | (defines the errors, and what is taken on trust) |
#![forbid(unsafe_code)]

mod fault;
mod fixpoint;
mod knowledge;
mod path;
mod path_formula;
mod reason;
mod replay;
mod responses;
mod strategy;
mod wellformed;

pub use fault::{Fault, ReplayError, Trusted};
pub use replay::{replay, replay_path};
