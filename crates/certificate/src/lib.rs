//! Certificates of verdicts, and a small checker that confirms them.
//!
//! A certificate gives sets of states; from the formula alone follows what must be true of them
//! (`docs/certificates.md`). This crate shares no code with the engines: it encodes the checked model plainly, on
//! diagrams of its own, and tests each condition.
//!
//! | module | content |
//! |---|---|
//! | `format` | the file format |
//! | `kernel` | decision diagrams |
//! | `values`, `encode`, `steps` | expressions, the transition relation, images and views as sets |
//! | `conditions` | the table of conditions |
//! | `confirm` | one check |
#![forbid(unsafe_code)]

mod conditions;
mod confirm;
mod encode;
#[cfg(test)]
mod encode_tests;
pub mod format;
mod kernel;
mod steps;
mod values;

pub use confirm::{Failure, Limits, confirm, digest};
pub use format::Certificate;
pub use kernel::Limit;
