//! What an editor asks while a file is being written: completions, keywords, and operators with their meanings. They
//! work on half-typed lines, from the index of names and the tokens around a position.
//!
//! | file | does |
//! |---|---|
//! | `complete` | what may stand at a position, by the item around it |
//! | `program` | the same in programs |
//! | `formula` | the same in formulas, whose names depend on the attitudes around the position |
//! | `operators` | the operators with their meanings |

mod complete;
mod formula;
mod operators;
mod program;
#[cfg(test)]
mod tests;

pub use complete::completions;
pub use operators::OPERATORS;

use crate::lexer::RESERVED;

/// Words that are keywords only where the parser expects them.
const IN_CONTEXT: [&str; 17] = [
    "fair",
    "in",
    "import",
    "check",
    "unless",
    "not",
    "AP",
    "subworld",
    "serial",
    "introspection",
    "realism",
    "strong",
    "plain",
    "weak",
    "blind",
    "single_minded",
    "open_minded",
];

/// Returns the keywords, also those that are names in other places.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    RESERVED.iter().chain(&IN_CONTEXT).copied()
}
