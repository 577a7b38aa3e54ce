//! Partitioned checking: the initial states are split into parts, and workers explore and check what
//! is reachable from them. [KLQ10]
//!
//! | file | has | in the paper |
//! |---|---|---|
//! | `partition` | splitting the initial states | §4 step 1, §5 |
//! | `team` | threads, and meetings of all workers | processes PP and CP |
//! | `strategy` | who explores what: simple, merge, full, semi | Procedures 8, 14-16 |
//! | `worker` | checking submodels, sets exchanged for epistemic operators | Procedures 9-13 |
//! | `partitioned` | facts and verdicts from all workers | Procedure 7 |
//! | `pays` | whether splitting pays | |
//!
//! Workers have stores of diagrams of their own, which they may sift as they like, and send each
//! other sets as plain nodes; or they share one store, for comparison. What is reported does not
//! depend on any of this: counts are of the union of the submodels, and paths and evidence are found
//! in it by the same code as ever.

mod partition;
mod partitioned;
mod pays;
mod strategy;
mod team;
mod worker;

use masque_model::{System, VarId};
use masque_verdict::{Budget, Early, Encoded, Stats, Stop, outside_ctl};
use serde::{Deserialize, Serialize};

use crate::engine::Symbolic;
use partitioned::Partitioned;
use strategy::Explored;

/// How the initial states are split, and what workers do with the parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parallel {
    /// What the workers do.
    pub strategy: Strategy,
    /// How many workers there are.
    pub jobs: usize,
    /// How many parts there are, if there can be so many. Else one for each value of the variables
    /// to split by, if these are given; else as many as suits the strategy.
    pub parts: Option<usize>,
    /// The variables to split by; if there are none, bits are chosen.
    pub split: Vec<VarId>,
    /// Whether the workers share one store of diagrams.
    pub shared: bool,
}

impl Parallel {
    /// A strategy for so many workers, all else as it comes.
    pub fn new(strategy: Strategy, jobs: usize) -> Parallel {
        Parallel { strategy, jobs, parts: None, split: Vec::new(), shared: false }
    }
}

/// What workers do with parts of the initial states. [KLQ10 §4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// Like `Merge` if measured sizes say that splitting pays, else nothing is split.
    #[default]
    Auto,
    /// `SIMPLE_PARA`: each worker explores and checks one part. [Procedure 8]
    Simple,
    /// `MERGE_PARA`: workers explore one part after the other and check theirs together.
    /// [Procedure 14]
    Merge,
    /// `FULL_PARA`: workers explore one part after the other and check each by itself. [Procedure 15]
    Full,
    /// `SEMI_PARA`: each worker explores one part, and one worker checks all. [Procedure 16]
    Semi,
}

/// Encodes and explores a system in parts, if it can be split.
pub(crate) fn encode<'s>(
    engine: &Symbolic,
    parallel: &Parallel,
    system: &'s System,
    early: &mut Early<'_>,
    budget: &Budget,
) -> Result<Box<dyn Encoded + 's>, Stop> {
    let mut stats = Stats::default();
    if let Some(why) = undivided(system) {
        stats.notes.push(format!("not split: {why}"));
        let built = engine.built(system, early, budget, &mut stats)?;
        return engine.diagrams(built, stats);
    }
    let explored = engine.in_order(system, budget, &mut stats, |items, on_trouble, stats| {
        let ordered = (system, items, on_trouble);
        // What is said of an order that led to trouble is of no interest.
        stats.notes.clear();
        match parallel.strategy {
            Strategy::Auto => pays::explore(parallel, ordered, budget, stats),
            _ => strategy::explore(parallel, ordered, budget, stats),
        }
    })?;
    match explored {
        Explored::Whole(built) => engine.diagrams(*built, stats),
        Explored::Parts(parts) => Ok(Box::new(Partitioned::new(parts, engine.evidence, stats))),
    }
}

/// Why a system is not split, if it is not.
fn undivided(system: &System) -> Option<&'static str> {
    if !system.fairness.is_empty() {
        return Some("there are fairness constraints");
    }
    let mut properties = system.properties.iter();
    let is_beyond = properties.any(|property| outside_ctl(&system.formulas, property.formula).is_some());
    is_beyond.then_some("there are properties outside CTL with knowledge and norms")
}
