//! The modal mu-calculus on labelled transition systems that are discovered while they are checked.
//!
//! A language implements [`Lts`] and [`Vocabulary`]; everything from the formula down is here.
#![forbid(unsafe_code)]

mod lts;

pub use lts::{AtomId, Completeness, LabelId, Lts, PatternId, StateId, Vocabulary};
