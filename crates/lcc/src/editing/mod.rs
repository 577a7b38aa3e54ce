//! What an editor asks while a file is being written: completions, keywords, and operators with their meanings. They
//! work on half-typed statements, from the index of names and the tokens around a position.
//!
//! | file | does |
//! |---|---|
//! | `complete` | what may stand at a position, by the statement around it |
//! | `context` | the statement and the brackets around a position |
//! | `process` | completion in processes, constraints and rules |
//! | `operators` | the operators with their meanings |

mod complete;
mod context;
mod operators;
mod process;
#[cfg(test)]
mod tests;

pub use complete::completions;
pub use operators::OPERATORS;

use crate::parser::{RESERVED, ROLE_KINDS, STATEMENTS};

/// Words that are keywords only where the parser expects them.
const IN_CONTEXT: [&str; 9] = ["a", "by", "after", "until", "null", "nil", "is", "mod", "self"];

/// Returns the keywords, also those that are names in other places.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    STATEMENTS.iter().chain(&RESERVED).chain(&ROLE_KINDS).chain(&IN_CONTEXT).copied()
}
