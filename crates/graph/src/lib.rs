//! Graph algorithms that several crates share. They know nothing of models, formulas or budgets.
//!
//! Vertices are numbers from 0. A search that may take long has a callback that can stop it.
//!
//! | module | computes |
//! |---|---|
//! | `components` | strongly connected components, and whether a cycle meets given sets of vertices |
//! | `parity` | the winning regions and strategies of parity games |
#![forbid(unsafe_code)]

mod components;
mod parity;

pub use components::{Components, component_numbers, has_cycle_meeting};
pub use parity::{ParityGame, Solution, solve};
