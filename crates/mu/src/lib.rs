//! The modal mu-calculus on labelled transition systems that are explored while they are checked.
//!
//! The logic is that of \[ORW06 §5, Fig. 10\], which is checked locally, from the initial state \[ORW06 §6.1\]. The
//! paper's rules for tabled Prolog \[ORW06 Fig. 12\] are limited to formulas without alternation; here every
//! formula is a parity game, which is built on demand.
//!
//! A language implements [`Lts`] and [`Vocabulary`]; this crate does the rest, from formulas to evidence.
//!
//! ```text
//! text ─ parse ─▶ tree::Phi ─ resolve ─▶ Formula ─ check, explain ─▶ Outcome: verdict, Evidence
//!                                         + Space over an Lts          replayed on the Lts
//! ```
//!
//! | file | defines |
//! |---|---|
//! | `lts`, `start` | the interface to a language, and checks that begin in another state |
//! | `lexer`, `parser`, `tree`, `print`, `format` | formulas and property files as text |
//! | `names`, `editing` | names, completions and operators, for editors |
//! | `resolve`, `formula`, `levels` | formulas as equations, their levels and priorities |
//! | `naive` | the truth definition, transcribed, for tests |
//! | `space`, `backward`, `paused_game` | the explored part of a transition system, and of a game on it |
//! | `game`, `inlining`, `moves`, `dedup`, `settle`, `check` | the solver (parity games by `masque-graph`) |
//! | `decide` | decides several properties |
//! | `label_set`, `bound_response` | sets of labels, and responses whose patterns share variables |
//! | `region`, `play`, `evidence`, `replay` | evidence for a verdict, and its replay |
//! | `ticker` | checks the budget in long loops |
//! | `graph`, `aut` | explicit transition systems |
#![forbid(unsafe_code)]

mod aut;
mod backward;
mod bound_response;
mod check;
mod decide;
mod dedup;
mod editing;
mod evidence;
mod format;
mod formula;
mod game;
mod graph;
mod inlining;
mod label_set;
mod levels;
mod lexer;
mod lts;
mod moves;
pub mod naive;
mod names;
mod parser;
mod paused_game;
mod play;
mod print;
mod read;
mod region;
mod replay;
mod resolve;
mod settle;
mod space;
mod start;
#[cfg(test)]
mod testing;
mod ticker;
pub mod tree;

pub use aut::read_aut;
pub use bound_response::resolve_bound_response;
pub use check::{Outcome, check, explain};
pub use decide::{Decided, Shortcut, decide, decide_all, shown};
pub use editing::{OPERATORS, completions, formula_completions, keywords, pattern_completions};
pub use evidence::{Evidence, EvidencePosition, Move, Play, Step};
pub use format::format;
pub use formula::{Action, ActionId, Equation, EquationId, Formula, FormulaNode, FormulaNodeId};
pub use graph::Graph;
pub use label_set::LabelSet;
pub use lexer::comments;
pub use lts::{AtomId, BindingId, Completeness, LabelId, Lts, PatternId, StateId, Vocabulary};
pub use names::names;
pub use parser::{NESTING_LIMIT, parse_formula, parse_pattern, parse_properties};
pub use paused_game::{PausedGame, recheck};
pub use read::{Property, read_formula, read_properties};
pub use replay::ReplayError;
pub use resolve::resolve;
pub use space::Space;
pub use start::StartingAt;
