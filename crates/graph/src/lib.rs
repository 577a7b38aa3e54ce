//! Graph algorithms that several crates share.
//!
//! | module | computes |
//! |---|---|
//! | `components` | strongly connected components, and whether a cycle meets given sets of nodes |
#![forbid(unsafe_code)]

mod components;

pub use components::{components, has_circle};
