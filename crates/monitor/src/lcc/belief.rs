//! The runs that are possible after a log, as far as they differ: pairs of a state and what is remembered of the run.

use std::collections::BTreeMap;

use masque_mu::StateId;
use rustc_hash::FxHashMap;

use super::history::{Due, History, Instance};
use super::interner::Interner;

/// The number of a history.
pub(super) type HistoryId = u32;

/// The end of a run and what is remembered of it.
pub(super) type Pair = (StateId, HistoryId);

/// The number of a belief.
pub(super) type BeliefId = u32;

/// All pairs that are possible after a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Belief {
    /// Sorted.
    pub(super) pairs: Box<[Pair]>,
    /// A bound beyond which there may be other runs.
    pub(super) cut: Option<&'static str>,
}

impl Belief {
    pub(super) fn heap_bytes(&self) -> usize {
        self.pairs.len() * size_of::<Pair>()
    }

    /// Iterates over the possible states, each once.
    pub(super) fn states(&self) -> impl Iterator<Item = StateId> {
        // The pairs of a state are neighbours.
        let is_first = |index: &usize| *index == 0 || self.pairs[index - 1].0 != self.pairs[*index].0;
        (0..self.pairs.len()).filter(is_first).map(|index| self.pairs[index].0)
    }
}

/// How an instance ended on all possible runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Met,
    Discharged,
    NeverDue,
}

/// Number of runs for each status of an instance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub(super) owed: usize,
    met: usize,
    discharged: usize,
}

impl Census {
    /// How an instance ended that no run owes.
    pub(super) fn ended(self) -> Ended {
        match (self.discharged, self.met) {
            (0, 0) => Ended::NeverDue,
            (0, _) => Ended::Met,
            _ => Ended::Discharged,
        }
    }
}

/// Counts the instances of runs with these histories.
pub(super) fn census(histories: &Interner<History>, pairs: &[Pair]) -> BTreeMap<Instance, Census> {
    let mut n_runs: FxHashMap<HistoryId, usize> = FxHashMap::default();
    pairs.iter().for_each(|(_, history)| *n_runs.entry(*history).or_default() += 1);
    let mut all: BTreeMap<Instance, Census> = BTreeMap::new();
    for (history, n_runs) in n_runs {
        for (instance, due) in &histories.get(history).dues {
            let census = all.entry(*instance).or_default();
            *match due {
                Due::Owed => &mut census.owed,
                Due::Met => &mut census.met,
                Due::Discharged => &mut census.discharged,
            } += n_runs;
        }
    }
    all
}

/// The result of an observation.
#[derive(Clone, Debug)]
pub(super) struct Successor {
    /// The possible runs after it; `None` if there are none.
    pub(super) belief: Option<BeliefId>,
    /// The instances that no possible run owes any more.
    pub(super) ended: Vec<(Instance, Ended)>,
}
