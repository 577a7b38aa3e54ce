//! The decision-diagram engine.
//!
//! [`space`] has sets of bit vectors and knows nothing of agents; [`fixpoint`] computes fixpoints and
//! shortest paths on them. The other modules encode interpreted systems and decide formulas.
//!
//! | modules | content |
//! |---|---|
//! | `kernel`, `rename`, `simplify`, `sift`, `space` | decision diagrams: the library with our cache, renaming, don't cares, reordering, sets of bit vectors |
//! | `fixpoint` | fixpoints and shortest paths for any step relation |
//! | `order`, `trial`, `layout` | the order of the variables, its choice by trial, and the bits of each variable |
//! | `encode`, `linear`, `cubes`, `shared_lists` | conditions, arithmetic, tables of lines and lists with common operands as sets |
//! | `parts`, `merge`, `stages` | the conjuncts of the transition relation, merged into clusters, and images |
//! | `events`, `lines`, `clusters`, `chain` | relations as unions of events, and fixpoints of many events |
//! | `relation`, `reach`, `overflow` | the whole relation, the reachable states, assignments outside domains |
//! | `check`, `everywhere`, `world` | the operators of the logic, on the reachable or fair states |
//! | `knowledge` | epistemic operators by quantification |
//! | `tableau`, `recurring` | LTL and CTL*: the product with a tableau, and where none is needed |
//! | `moves`, `turns`, `strategic` | ATL: steps with actions, games with perfect information |
//! | `uniform`, `arena`, `arena_search`, `group_strategy` | ATL: uniform strategies |
//! | `early` | verdicts during exploration |
//! | `certificate` | the sets from which certificates are made |
//! | `facts`, `evidence` | facts, extents, and the oracle that evidence is built from |
//! | `parallel` | initial states split among workers |
//! | `diagram` | the reachable states as a diagram for export |
//! | `diagram_states` | the interface for monitors: sets of states, and their images under some joint actions |
//! | `engine` | the engine: from options and a system to verdicts |
#![deny(unsafe_code)]

mod arena;
mod arena_search;
mod certificate;
mod chain;
mod check;
mod clusters;
mod cubes;
mod diagram;
mod diagram_states;
mod early;
mod encode;
mod engine;
mod events;
mod everywhere;
mod evidence;
mod facts;
pub mod fixpoint;
mod group_strategy;
mod growing;
mod kernel;
mod knowledge;
mod layout;
#[cfg(test)]
mod limit_tests;
mod linear;
mod lines;
mod merge;
mod moves;
mod order;
mod overflow;
mod parallel;
mod parts;
#[cfg(feature = "planted-bugs")]
pub mod planted;
mod reach;
mod recurring;
mod relation;
mod rename;
mod shared_lists;
mod sift;
mod simplify;
pub mod space;
mod stages;
mod strategic;
mod tableau;
#[cfg(test)]
mod thread_tests;
mod trial;
mod turns;
mod uniform;
mod world;

pub use diagram::{Diagram, DiagramBit, DiagramNode, ONE};
pub use diagram_states::DiagramStates;
pub use engine::{Order, Reorder, Symbolic};
pub use parallel::{Parallel, SplitBy, SplitStrategy};
