//! The decision-diagram engine.
//!
//! Below, [`space`] knows sets of bit vectors and nothing of agents, and [`fixpoint`] computes fixpoints
//! and shortest paths on them; above it the encoding of interpreted systems: an order for the variables,
//! conditions and arithmetic as sets, the transition relation, reachability, and the operators of the
//! logic.
#![deny(unsafe_code)]

mod answers;
mod arena;
mod chain;
mod check;
mod clusters;
mod cubes;
mod diagram;
mod early;
mod encode;
mod engine;
mod events;
mod everywhere;
mod evidence;
pub mod fixpoint;
mod kernel;
mod knowledge;
mod layout;
mod linear;
mod lines;
mod merge;
mod moves;
mod order;
mod overflow;
mod parallel;
mod parts;
mod reach;
mod relation;
mod search;
mod sift;
pub mod space;
mod stages;
mod strategic;
mod tableau;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod tight;
mod trial;
mod turns;
mod uniform;
mod world;

pub use diagram::{Diagram, DiagramBit, DiagramNode, ONE};
pub use engine::{Order, Reorder, Symbolic};
pub use parallel::{Parallel, Strategy};
