//! Partitioned checking: the initial states are split into parts, and workers explore and check what
//! is reachable from them. [KLQ10]
//!
//! | file | has | in the paper |
//! |---|---|---|
//! | `disjuncts` | the form `e_s ∧ (e_1 ∨ .. ∨ e_m)` of InitStates | §5 |
//! | `partition` | splitting the initial states | §4 step 1, §5 |
//! | `team` | threads, and exchanges of messages among all workers | processes PP and CP |
//! | `strategy` | which worker explores which parts: simple, merge, full, semi | Procedures 8, 14-16 |
//! | `worker` | checking submodels, sets exchanged for epistemic operators | Procedures 9-13 |
//! | `partitioned` | facts and verdicts from all workers | Procedure 7 |
//! | `auto` | whether splitting saves time | |
//!
//! Each worker has its own store of diagrams, which it sifts independently, and workers send each other
//! sets as plain nodes; or all workers share one store, for comparison. The reports do not depend on
//! this: counts are of the union of the submodels, and the ordinary checker finds paths and evidence in
//! this union.

mod auto;
mod disjuncts;
mod partition;
mod partitioned;
mod strategy;
mod team;
mod worker;

use masque_model::{ExprId, System, VarId};
use masque_verdict::{Budget, Early, Encoded, Stats, Stop, outside_ctl};
use serde::{Deserialize, Serialize};

use crate::engine::Symbolic;
use partitioned::Partitioned;
use strategy::Explored;

/// Options for splitting the initial states into parts for several workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parallel {
    /// Distribution of the parts among the workers.
    pub strategy: SplitStrategy,
    /// Number of workers. 0 means 1.
    pub jobs: usize,
    /// Maximum number of parts; there are fewer if there are fewer initial states. `None`: one part for
    /// each class, or a number that suits the strategy if the classes are given by chosen bits.
    pub parts: Option<usize>,
    /// What the initial states are split by.
    pub split: SplitBy,
    /// Whether the workers share one store of diagrams.
    pub shared: bool,
}

impl Parallel {
    /// Makes options with a strategy and a number of workers, and defaults for the rest.
    pub fn new(strategy: SplitStrategy, jobs: usize) -> Parallel {
        Parallel { strategy, jobs, parts: None, split: SplitBy::Automatic, shared: false }
    }
}

/// The division of the initial states into classes. [KLQ10 §5]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SplitBy {
    /// The disjuncts of InitStates if it has the form `e and (e1 or .. or em)`, otherwise bits that are
    /// chosen automatically.
    #[default]
    Automatic,
    /// Bits that are chosen automatically, for any form of InitStates.
    ChosenBits,
    /// A class for each formula, without the classes before it, and one for the remaining states; each of
    /// these is split by the values of the variables.
    Classes {
        /// Conditions on states.
        formulas: Vec<ExprId>,
        /// Variables by whose values the classes are split.
        variables: Vec<VarId>,
    },
}

/// The distribution of the parts among the workers. [KLQ10 §4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SplitStrategy {
    /// Like `Simple` if diagrams grow in an order that must not be changed, else nothing is split.
    #[default]
    Auto,
    /// `SIMPLE_PARA`: each worker explores and checks one part. [Procedure 8]
    Simple,
    /// `MERGE_PARA`: workers explore one part after the other and check all of their parts as one.
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
        let built = engine.build(system, early, budget, &mut stats)?;
        return engine.diagrams(built, stats);
    }
    let explored = engine.build_in_order(system, budget, &mut stats, |ordered, stats| {
        // Notes about an order that was abandoned are not reported.
        stats.notes.clear();
        match parallel.strategy {
            SplitStrategy::Auto => auto::explore(parallel, ordered, budget, stats),
            _ => strategy::explore(parallel, ordered, budget, stats),
        }
    })?;
    match explored {
        Explored::Whole(built) => engine.diagrams(*built, stats),
        Explored::Parts(parts) => Ok(Box::new(Partitioned::new(parts, engine.evidence, stats))),
    }
}

/// Returns the reason why a system cannot be split, if there is one.
fn undivided(system: &System) -> Option<&'static str> {
    if !system.fairness.is_empty() {
        return Some("there are fairness constraints");
    }
    let mut properties = system.properties.iter();
    let is_beyond = properties.any(|property| outside_ctl(&system.formulas, property.formula).is_some());
    is_beyond.then_some("there are properties outside CTL with knowledge and norms")
}
