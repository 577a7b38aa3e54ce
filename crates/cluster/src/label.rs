//! The operators on the states of a worker, as the labeller of `masque-explicit` uses them.
//!
//! Each worker evaluates connectives and conditions alone. Path operators, knowledge and strategies need
//! messages (`temporal`, `product`, `views`, `games`). A worker has one budget, that of its
//! [`Net`](crate::net::Net), so the budget parameters are not used.

use masque_explicit::parts::{Bitset, Enforcement, Labels, StoredStates, is_same};
use masque_model::{AgentId, ExprId, GroupId, System};
use masque_verdict::{Automaton, Budget, State, Stop};

use crate::backwards::each_source;
use crate::shard::Shard;

impl<'s> StoredStates<'s> for Shard<'s> {
    /// A resumed run decides the same properties again, so their labels are stored too.
    const KEEPS_DECISIVE_LABELS: bool = true;

    fn system(&self) -> &'s System {
        self.system
    }

    fn labels(&mut self) -> &mut Labels {
        &mut self.labels
    }

    fn n_states(&self) -> usize {
        self.space.n_states()
    }

    fn n_initial(&self) -> usize {
        self.space.n_initial()
    }

    fn any(&mut self, is_true_here: bool) -> Result<bool, Stop> {
        self.net.any(is_true_here)
    }

    fn count(&mut self, states: &Bitset) -> Result<u64, Stop> {
        self.net.sum(states.count() as u64)
    }

    fn check_memory(&mut self, more: u64, _: &Budget) -> Result<(), Stop> {
        self.check_bytes(more)
    }

    fn where_true(&mut self, condition: ExprId, states: &Bitset, _: &Budget) -> Result<Bitset, Stop> {
        let store = &self.space.store;
        self.machine.where_true(condition, states, |state| store.row(state), &self.net.budget)
    }

    fn exists_next(&mut self, phi: &Bitset, domain: &Bitset, _: &Budget) -> Result<Bitset, Stop> {
        let mut before = Bitset::empty(self.n_states());
        self.each_source(phi, |source| _ = before.insert(source))?;
        Ok(before.and(domain))
    }

    /// By searching backwards from `ψ` through `φ`.
    fn exists_until(&mut self, phi: &Bitset, psi: &Bitset, _: &Budget) -> Result<Bitset, Stop> {
        let mut reached = psi.clone();
        self.backwards(psi, |source| phi.contains(source) && reached.insert(source))?;
        Ok(reached)
    }

    fn exists_globally(
        &mut self,
        phi: &Bitset,
        constraints: &[Bitset],
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.stays_in_fairly(phi, constraints, budget)
    }

    fn exists_step(
        &mut self,
        condition: ExprId,
        phi: &Bitset,
        domain: &Bitset,
        _: &Budget,
    ) -> Result<Bitset, Stop> {
        let graph = self.steps_with(condition)?;
        let mut before = Bitset::empty(self.n_states());
        each_source(&mut self.net, &graph, phi, |source| _ = before.insert(source))?;
        Ok(before.and(domain))
    }

    fn exists_accepted_path(
        &mut self,
        automaton: &Automaton,
        meeting: Vec<Bitset>,
        constraints: &[Bitset],
        _: &Budget,
    ) -> Result<Bitset, Stop> {
        self.accepted_paths(automaton, meeting, constraints)
    }

    fn knows(
        &mut self,
        agents: &[AgentId],
        domain: &Bitset,
        not_phi: &Bitset,
        _: &Budget,
    ) -> Result<Bitset, Stop> {
        self.known_through(&self.machine.seen_by(agents), domain, not_phi)
    }

    fn common_knowledge(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        not_phi: &Bitset,
        _: &Budget,
    ) -> Result<Bitset, Stop> {
        self.known_by_chains(group, domain, not_phi)
    }

    fn enforces(&mut self, question: Enforcement<'_>, _: &Budget) -> Result<Bitset, Stop> {
        self.enforced(question)
    }

    fn find_state(&self, state: &State) -> Result<Option<usize>, Stop> {
        Ok(self.state_index(&self.pack(state)?))
    }

    fn alike(&self, agents: &[AgentId], state: &State, among: &Bitset) -> Result<Bitset, Stop> {
        let (mask, row) = (self.machine.seen_by(agents), self.pack(state)?);
        Ok(among.filter(|other| is_same(&row, self.space.store.row(other), &mask)))
    }

    fn recurrent(&mut self, inside: Bitset, _: &Budget) -> Result<Bitset, Stop> {
        self.recurrent_states(&inside)
    }
}
