//! The definition transcribed: slow, plain, and what the fast one is measured against.
//!
//! Terms are trees, substitutions are maps, answers are lists; nothing is shared, numbered or
//! kept. The parser is all that this shares with the rest of the crate. Bounds on messages and
//! processes are those of the definition; a proof that outgrows its bound is an error here.

mod duty;
mod instance;
mod label;
mod sat;
mod step;
mod system;
mod term;

pub use duty::Kept;
pub use system::{Reference, State, Transition};
pub use term::{Process, Term};

/// A proof is deeper than the bound allows, or a role change unfolds without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds;
