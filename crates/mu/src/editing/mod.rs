//! What an editor asks while a property is being written: completions, keywords, and operators with their meanings.
//! They work on half-typed formulas, from the index of names and the tokens before a position.

mod complete;
mod operators;

pub use complete::{completions, formula_completions, pattern_completions};
pub use operators::OPERATORS;

use crate::parser::RESERVED;

/// Words of patterns and atoms about protocols, and of all models. In other places they are names.
const IN_CONTEXT: [&str; 7] = ["final", "in", "out", "tau", "done", "idle", "at"];

/// Returns the keywords, also those that are names in other places.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    RESERVED.iter().chain(&IN_CONTEXT).copied()
}
