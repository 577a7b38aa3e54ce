//! Writes the certificates of verdicts, once for all engines.
//!
//! An engine provides its sets and the operators on them ([`ProofSets`]); [`prove`] walks over the formula in
//! negation normal form and records, for each part, the set in which it is true, with the layers and stages that
//! show why. `masque_certificate` confirms the result without any of this code.
//!
//! | module | content |
//! |---|---|
//! | `text` | the text of a certificate |
//! | `sets` | what an engine provides |
//! | `write` | the walk over the formula |
//! | `rows` | the sets of one operator |
//! | `uniform` | the pieces of uniform strategies |
//! | `prune` | drops what is not used |
//! | `part_order` | the order in which the checker applies the parts of the transition relation |
#![forbid(unsafe_code)]

mod part_order;
mod prune;
mod rows;
mod sets;
mod text;
mod uniform;
mod write;

pub use masque_certificate::format::{Place, Ref};
pub use part_order::{Placed, item_order};
pub use sets::{Choice, GroupStrategy, ProofSets, UniformGoal};
pub use text::{NodeTable, to_text};
pub use write::prove;
