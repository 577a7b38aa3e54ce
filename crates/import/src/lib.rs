//! Protocols from descriptions of agents by other programs: a *skeleton* in LCC, to be completed by hand.
//!
//! A description says who hands over to whom, and little more. The skeleton has a role for each agent and a choice
//! wherever the description leaves one open. What was assumed is listed in its comments.
//!
//! | module | reads |
//! |---|---|
//! | `langgraph` | graphs that the langgraph package exports as JSON |
//! | `a2a` | agent cards of the Agent2Agent protocol |
//! | `names` | names of other programs, which become names of LCC |
//! | `skeleton` | writes the protocol |
#![forbid(unsafe_code)]

mod a2a;
mod json;
mod langgraph;
mod names;
mod skeleton;

pub use a2a::a2a;
pub use langgraph::langgraph;
pub use skeleton::Skeleton;

/// Maximum number of bytes of a file.
pub const MAX_BYTES: u64 = 16 << 20;

/// Why a description cannot be used: one sentence with the place in the file, and what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
