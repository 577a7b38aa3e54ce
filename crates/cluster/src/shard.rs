//! A worker's share of a system: its states, and what is known of them.
//!
//! All workers do the same in the same order, each with its own states; where an operator looks from
//! state to state, they exchange. Every set is a subset of the domain `D`, cut to the states kept
//! here, and a complement is taken inside it.

use std::rc::Rc;

use masque_explicit::parts::{Domain, Labels, Machine};
use masque_model::{ExprId, FormulaId, GroupId, System};
use masque_verdict::Stop;

use crate::explore::{Space, transitions};
use crate::games::Game;
use crate::graph::Graph;
use crate::net::Net;
use crate::uniform::Whole;

/// A worker's share.
pub(crate) struct Shard<'s> {
    pub(crate) system: &'s System,
    pub(crate) machine: &'s Machine<'s>,
    pub(crate) net: Net,
    pub(crate) space: Space,
    pub(crate) labels: Labels,
    /// The transitions by steps that meet a condition, as far as somebody asked.
    pub(crate) steps_with: Vec<(ExprId, Rc<Graph>)>,
    /// The game of a group asked for last.
    pub(crate) game: Option<(GroupId, Rc<Game>)>,
    /// The game of a group searched last, all in one place.
    pub(crate) whole: Option<Whole<'s>>,
    /// Whether a limit was hit, so that one worker may have come farther than another.
    is_torn: bool,
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
            whole: None,
            is_torn: false,
            peak_bytes: space.bytes(),
            space,
        }
    }

    /// Takes the place of the states so far.
    pub(crate) fn set_space(&mut self, space: Space) {
        self.labels.replace_states(self.system, space.n_states());
        self.forget_aids();
        self.peak_bytes = self.peak_bytes.max(space.bytes());
        self.space = space;
    }

    /// Forgets what can be had again.
    fn forget_aids(&mut self) {
        self.steps_with.clear();
        (self.game, self.whole) = (None, None);
    }

    /// A limit was hit somewhere.
    pub(crate) fn tear(&mut self) {
        self.is_torn = true;
    }

    /// After a limit, makes all workers know the same again.
    ///
    /// One that stops between two rounds is heard of in the next one only; until then another may have
    /// labelled a formula more. What not all know is forgotten: what is known decides what workers do
    /// next, and they must do the same.
    pub(crate) fn mend(&mut self) -> Result<(), Stop> {
        if !self.is_torn {
            return Ok(());
        }
        self.labels.forget_temporary(self.system);
        self.forget_aids();
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
        self.is_torn = false;
        Ok(())
    }

    /// Makes sure that the transitions are there.
    pub(crate) fn make_graph(&mut self) -> Result<(), Stop> {
        if self.space.graph.is_none() {
            let graph = transitions(&mut self.net, self.system, self.machine, &self.space)?;
            self.space.graph = Some(graph);
            self.check_bytes(0)?;
        }
        Ok(())
    }

    /// What this worker holds.
    pub(crate) fn bytes(&self) -> u64 {
        let steps: u64 = self.steps_with.iter().map(|(_, graph)| graph.bytes()).sum();
        let game = self.game.as_ref().map_or(0, |(_, game)| game.bytes());
        let whole = self.whole.as_ref().map_or(0, Whole::bytes);
        self.space.bytes() + self.labels.bytes() + steps + game + whole
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

    /// One worker has not come as far as the others. If they went on like that, it would wait for
    /// answers to questions that nobody hears.
    #[test]
    fn after_a_limit_all_know_the_same_again() {
        let text = one_agent("MultiAssignment", "n : 0..99;", "", "n = n + 1 if n < 99;", "A.n = 0");
        let text = text.replace("Evaluation end", "Evaluation far if A.n > 60; end");
        let system = Arc::new(system(&text.replace("Formulae end", "Formulae AG EF far; EX far; end")));
        let counts = workers(3, move |mut net| {
            let machine = Machine::new(&system);
            let mut space = Space::initial(&net, &machine, true).unwrap();
            explore(&mut net, &system, &machine, &mut space, None, &mut |_, _, _| Ok(true)).unwrap();
            let budget = net.budget.clone();
            let mut shard = Shard::new(&system, &machine, net, space);
            let [first, second] = [0, 1].map(|number: usize| system.properties[number].formula);
            let counts = [first, second].map(|formula| shard.truth(formula, &budget).unwrap().count());
            if shard.net.index() == 1 {
                shard.labels.plain.known.remove(&first);
                shard.space.graph = None;
            }
            shard.tear();
            shard.mend().unwrap();
            assert!(
                !shard.labels.plain.known.contains_key(&first)
                    && shard.labels.plain.known.contains_key(&second)
            );
            assert!(shard.space.graph.is_none());
            assert_eq!([first, second].map(|formula| shard.truth(formula, &budget).unwrap().count()), counts);
            counts
        });
        let sum = |number: usize| counts.iter().map(|counts| counts[number]).sum::<usize>();
        assert_eq!([sum(0), sum(1)], [100, 40]);
    }
}
