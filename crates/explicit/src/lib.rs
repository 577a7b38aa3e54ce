//! The explicit-state engine: every reachable state is stored, and labelled with what is true there.
//!
//! It serves systems of up to some ten million states, and checks the symbolic engine on them: the
//! two share the model and what `masque-verdict` offers to all engines, and nothing else.
//!
//! | files | do |
//! |---|---|
//! | `layout`, `store`, `bitset` | pack states into words, keep them, and keep sets of them |
//! | `bounds`, `exact`, `analyse`, `codeset`, `compile`, `emit`, `code` | compile conditions and numbers |
//! | `domains`, `narrow`, `initial` | find the initial states |
//! | `guards`, `steps`, `tables`, `plan`, `successors` | find the successors of a state |
//! | `explore`, `graph` | find all states and their transitions |
//! | `jobs`, `batch`, `crew` | do it with several threads, with the same result |
//! | `labels`, `labelling` | label states, operator by operator, for every engine that stores states |
//! | `atoms`, `temporal`, `fair`, `knowledge`, `label` | the operators, with all states in memory |
//! | `scout` | explore for a while |
//! | `early` | tell verdicts while states are still being explored |
//! | `product` | LTL and CTL*: the product with an automaton |
//! | `moves`, `games`, `strategic`, `coalitions`, `uniform` | ATL: games, with perfect and with imperfect information |
//! | `mu` | the mu-calculus: fixpoints, and steps by what agents do |
//! | `fragment`, `region`, `paths`, `evidence`, `engine` | decide, explain, answer |
//! | `parts` | the public face for an engine on many machines |
#![forbid(unsafe_code)]

mod analyse;
mod atoms;
mod batch;
mod bitset;
mod bounds;
mod coalitions;
mod code;
mod codeset;
mod compile;
mod crew;
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
mod labelling;
mod labels;
mod layout;
mod moves;
mod mu;
mod narrow;
pub mod parts;
mod paths;
mod plan;
mod product;
mod region;
mod scout;
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
pub use scout::{Scout, Unfinished};
