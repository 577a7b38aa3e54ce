//! The modal mu-calculus on labelled transition systems that are discovered while they are checked.
//!
//! A language implements [`Lts`] and [`Vocabulary`]; everything from the formula down is here.
//!
//! ```text
//! text ─ parse ─▶ tree::Phi ─ resolve ─▶ Formula ─ check, explain ─▶ Answer: verdict, Evidence
//!                                         + Space over an Lts          replayed on the Lts
//! ```
//!
//! | file | defines |
//! |---|---|
//! | `lts`, `start` | the contract with a language, and checks that begin elsewhere |
//! | `lexer`, `parser`, `tree`, `print`, `format` | formulas and property files as text |
//! | `resolve`, `formula`, `levels` | formulas as equations, their levels and priorities |
//! | `naive` | the truth definition, transcribed |
//! | `space`, `back`, `standing` | what is known of a transition system, and of a formula on it |
//! | `game`, `near`, `moves`, `settle`, `check` | the solver (parity games by `masque-graph`) |
//! | `decide` | the policy for several properties |
//! | `region`, `play`, `evidence`, `replay` | what shows a verdict, and its proof |
//! | `pulse` | limits, noticed in long loops |
//! | `graph`, `aut` | transition systems written down |
#![forbid(unsafe_code)]

mod aut;
mod back;
mod check;
mod decide;
mod evidence;
mod format;
mod formula;
mod game;
mod graph;
mod levels;
mod lexer;
mod lts;
mod moves;
pub mod naive;
mod near;
mod parser;
mod play;
mod print;
mod pulse;
mod read;
mod region;
mod replay;
mod resolve;
mod settle;
mod space;
mod standing;
mod start;
#[cfg(test)]
mod testing;
pub mod tree;

pub use aut::read_aut;
pub use check::{Answer, check, explain};
pub use decide::{Decided, Shortcut, decide, decide_all, shown};
pub use evidence::{Evidence, Move, Place, Play, Step};
pub use format::format;
pub use formula::{Action, ActionId, Equation, EquationId, Formula, Node, NodeId};
pub use graph::Graph;
pub use lts::{AtomId, Completeness, LabelId, Lts, PatternId, StateId, Vocabulary};
pub use parser::{NESTING_LIMIT, parse_formula, parse_pattern, parse_properties};
pub use read::{Property, read_formula, read_properties};
pub use replay::ReplayError;
pub use resolve::resolve;
pub use space::Space;
pub use standing::{Standing, recheck};
pub use start::StartingAt;
