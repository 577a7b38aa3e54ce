//! A worker's share of a system: its states and their labels.
//!
//! All workers do the same in the same order, each with its own states; where an operator follows
//! transitions or compares states, they exchange messages. Every set is a subset of the domain `D`,
//! restricted to the states kept here, and a complement is taken inside it.

use std::rc::Rc;

use masque_explicit::parts::{Domain, Labels, Machine};
use masque_model::{ExprId, FormulaId, GroupId, System};
use masque_verdict::Stop;

use crate::explore::{Space, transitions};
use crate::games::Game;
use crate::graph::Graph;
use crate::net::Net;
use crate::uniform::CollectedGame;

/// A worker's share of a system.
pub(crate) struct Shard<'s> {
    pub(crate) system: &'s System,
    pub(crate) machine: &'s Machine<'s>,
    pub(crate) net: Net,
    pub(crate) space: Space,
    pub(crate) labels: Labels,
    /// The transitions by joint actions that satisfy a condition, for the conditions used so far.
    pub(crate) steps_with: Vec<(ExprId, Rc<Graph>)>,
    /// The last game of a group.
    pub(crate) game: Option<(GroupId, Rc<Game>)>,
    /// The last game that was searched for uniform strategies, collected at the first worker.
    pub(crate) collected: Option<CollectedGame<'s>>,
    /// Whether a limit was hit, after which one worker may have labelled more formulas than another.
    is_inconsistent: bool,
    pub(crate) peak_bytes: u64,
}

impl<'s> Shard<'s> {
    pub(crate) fn new(system: &'s System, machine: &'s Machine<'s>, net: Net, space: Space) -> Shard<'s> {
        Shard {
            system,
            machine,
            net,
            labels: Labels::new(system, space.n_states()),
            steps_with: Vec::new(),
            game: None,
            collected: None,
            is_inconsistent: false,
            peak_bytes: space.bytes(),
            space,
        }
    }

    /// Replaces the states and removes all labels.
    pub(crate) fn set_space(&mut self, space: Space) {
        self.labels.replace_states(self.system, space.n_states());
        self.clear_caches();
        self.peak_bytes = self.peak_bytes.max(space.bytes());
        self.space = space;
    }

    /// Removes data that can be computed again.
    fn clear_caches(&mut self) {
        self.steps_with.clear();
        (self.game, self.collected) = (None, None);
    }

    /// Records that a limit was hit at some worker.
    pub(crate) fn mark_inconsistent(&mut self) {
        self.is_inconsistent = true;
    }

    /// After a limit, makes the labels of all workers consistent again.
    ///
    /// The others learn only in the next round that a worker has stopped; until then they may have labelled
    /// one more formula. Labels that some worker lacks are removed everywhere, because the existing labels
    /// determine what a worker does next, and all must do the same.
    pub(crate) fn make_consistent(&mut self) -> Result<(), Stop> {
        if !self.is_inconsistent {
            return Ok(());
        }
        self.labels.forget_temporary(self.system);
        self.clear_caches();
        let known = |domain: &Domain| {
            let mut ids: Vec<u64> = domain.known.keys().map(|formula| formula.index() as u64).collect();
            ids.sort_unstable();
            ids
        };
        let graph = vec![u64::from(self.space.graph.is_some())];
        let (plain, fair) = (known(&self.labels.plain), self.labels.fair.as_ref().map(known));
        let all = |held: Vec<Vec<u64>>| {
            move |id: &FormulaId| held.iter().all(|ids| ids.binary_search(&(id.index() as u64)).is_ok())
        };
        if self.net.gather(graph)?.concat().contains(&0) {
            self.space.graph = None;
        }
        let is_plain = all(self.net.gather(plain)?);
        self.labels.plain.known.retain(|formula, _| is_plain(formula));
        let has_fair = !self.net.any(fair.is_none())?;
        let is_fair = all(self.net.gather(fair.unwrap_or_default())?);
        match &mut self.labels.fair {
            Some(fair) if has_fair => fair.known.retain(|formula, _| is_fair(formula)),
            fair => *fair = None,
        }
        self.is_inconsistent = false;
        Ok(())
    }

    /// Computes the transitions, unless they are stored already.
    pub(crate) fn make_graph(&mut self) -> Result<(), Stop> {
        if self.space.graph.is_none() {
            let graph = transitions(&mut self.net, self.system, self.machine, &self.space)?;
            self.space.graph = Some(graph);
            self.check_bytes(0)?;
        }
        Ok(())
    }

    /// Returns the number of bytes that this worker holds.
    pub(crate) fn bytes(&self) -> u64 {
        let steps: u64 = self.steps_with.iter().map(|(_, graph)| graph.bytes()).sum();
        let game = self.game.as_ref().map_or(0, |(_, game)| game.bytes());
        let collected = self.collected.as_ref().map_or(0, CollectedGame::bytes);
        self.space.bytes() + self.labels.bytes() + steps + game + collected
    }

    /// Checks whether this number of bytes may be held in addition.
    pub(crate) fn check_bytes(&mut self, more: u64) -> Result<(), Stop> {
        let bytes = self.bytes() + more;
        self.peak_bytes = self.peak_bytes.max(bytes);
        self.net.budget.check_memory(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use masque_explicit::parts::Labelling;
    use masque_testkit::{one_agent, system};

    use super::*;
    use crate::explore::explore;
    use crate::net::tests::workers;

    /// One worker lacks a label that the others have. Without `make_consistent` it would start rounds that
    /// the others do not take part in, and wait forever.
    #[test]
    fn after_a_limit_all_workers_have_the_same_labels() {
        let text = one_agent("MultiAssignment", "n : 0..99;", "", "n = n + 1 if n < 99;", "A.n = 0");
        let text = text.replace("Evaluation end", "Evaluation far if A.n > 60; end");
        let system = Arc::new(system(&text.replace("Formulae end", "Formulae AG EF far; EX far; end")));
        let counts = workers(3, move |mut net| {
            let machine = Machine::new(&system);
            let mut space = Space::initial(&net, &machine, true).unwrap();
            explore(&mut net, &system, &machine, &mut space, None, &mut |_, _, _| Ok(true)).unwrap();
            let budget = net.budget.clone();
            let mut shard = Shard::new(&system, &machine, net, space);
            let [first, second] = [0, 1].map(|index: usize| system.properties[index].formula);
            let counts = [first, second].map(|formula| shard.truth(formula, &budget).unwrap().count());
            if shard.net.index() == 1 {
                shard.labels.plain.known.remove(&first);
                shard.space.graph = None;
            }
            shard.mark_inconsistent();
            shard.make_consistent().unwrap();
            assert!(
                !shard.labels.plain.known.contains_key(&first)
                    && shard.labels.plain.known.contains_key(&second)
            );
            assert!(shard.space.graph.is_none());
            assert_eq!([first, second].map(|formula| shard.truth(formula, &budget).unwrap().count()), counts);
            counts
        });
        let sum = |index: usize| counts.iter().map(|counts| counts[index]).sum::<usize>();
        assert_eq!([sum(0), sum(1)], [100, 40]);
    }
}
