//! The reference semantics: a direct transcription of the definition, against which the fast implementation
//! is tested.
//!
//! Terms are trees, substitutions are maps, and solutions are lists; nothing is shared, interned or cached.
//! Only the parser is shared with the rest of the crate. Bounds on messages and processes are those of the
//! definition; a proof that exceeds its bound is an error here.

mod event;
mod instance;
mod label;
mod obligation;
mod sat;
mod step;
mod system;
mod term;

pub use event::{describe, instances, label_text, matches};
pub use label::Act;
pub use obligation::{Duty, Kept, Values};
pub use system::{Reference, State, Transition};
pub use term::{Process, Term};

/// The error if a proof is deeper than the bound allows, or if too many role changes are nested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds;
