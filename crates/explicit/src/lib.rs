//! The explicit-state engine: every reachable state is stored and labelled with the formulas that are true
//! there.
//!
//! It is for systems of up to some ten million states, and serves as a check of the symbolic engine: the
//! two share only the model and what `masque-verdict` offers to all engines.
//!
//! | files | do |
//! |---|---|
//! | `layout`, `store`, `bitset` | pack states into words, store them, and store sets of them |
//! | `bounds`, `exact`, `analyse`, `codeset`, `compile`, `emit`, `code` | compile conditions and numbers |
//! | `domains`, `narrow`, `initial` | find the initial states |
//! | `guards`, `steps`, `tables`, `plan`, `successors` | find the successors of a state |
//! | `explore`, `graph` | find all states and their transitions |
//! | `jobs`, `batch`, `parallel_expand` | the same with several threads, with the same result |
//! | `labels`, `labelling` | label states, operator by operator, for every engine that stores states |
//! | `atoms`, `temporal`, `fair`, `knowledge`, `label` | the operators, with all states in memory |
//! | `scout` | explore up to a number of states |
//! | `early` | report verdicts during exploration |
//! | `product` | LTL and CTL*: the product with an automaton |
//! | `moves`, `games`, `strategic`, `coalitions`, `uniform` | ATL: games, with perfect and with imperfect information |
//! | `mu` | the mu-calculus: fixpoints, and steps restricted by the agents' actions |
//! | `fragment`, `region`, `paths`, `evidence`, `engine` | decide properties, and answer the questions of evidence |
//! | `certificate`, `sorted_states` | the sets from which certificates are made, and their diagrams |
//! | `parts` | the interface for the distributed engine |
//! | `labelled_states` | the interface for monitors: labelled states and their successors by some joint actions |
#![forbid(unsafe_code)]

mod analyse;
mod atoms;
mod batch;
mod bitset;
mod bounds;
mod certificate;
mod coalitions;
mod code;
mod codeset;
mod compile;
mod domains;
mod early;
mod emit;
mod engine;
mod evidence;
mod exact;
mod explore;
mod fair;
mod fragment;
mod games;
mod graph;
mod guards;
mod initial;
mod jobs;
mod knowledge;
mod label;
mod labelled_states;
mod labelling;
mod labels;
mod layout;
mod moves;
mod mu;
mod narrow;
mod parallel_expand;
pub mod parts;
mod paths;
mod plan;
mod product;
mod region;
mod scout;
mod sorted_states;
mod steps;
mod store;
mod strategic;
mod successors;
mod tables;
mod temporal;
#[cfg(test)]
mod tests;
mod uniform;

pub use engine::Explicit;
pub use labelled_states::LabelledStates;
pub use scout::{BoundedExplicit, StoppedExploration};
