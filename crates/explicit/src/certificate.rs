//! The sets of this engine as certificates need them: sets of stored states, which become diagrams.

use std::rc::Rc;

use masque_model::{AgentId, ExprId, GroupId, System};
use masque_proof::{NodeTable, Place, ProofSets, Ref, prove, to_text};
use masque_verdict::{Budget, CertificateRequest, NotCertified, Stop};

use crate::bitset::Bitset;
use crate::label::Labeller;
use crate::labelling::StoredStates;
use crate::layout::Field;
use crate::strategic::{Arena, Goal};
use crate::temporal::Clock;

/// The sets of a labeller.
struct Sets<'l, 's> {
    labeller: &'l mut Labeller<'s>,
    budget: &'l Budget,
    /// For each place of the order the field and the power of its bit. Actions come last and have none.
    bits: Vec<(Field, u32)>,
}

impl Labeller<'_> {
    /// Writes the certificate of a verdict.
    pub(crate) fn certificate(
        &mut self,
        request: &CertificateRequest<'_>,
        budget: &Budget,
    ) -> Result<String, NotCertified> {
        let system = self.system;
        let bits = system.variable_ids().flat_map(|v| {
            let field = self.steps.layout.variable(v);
            (0..system.variable(v).domain.bits()).rev().map(move |power| (field, power))
        });
        let bits = bits.collect();
        prove(&mut Sets { labeller: self, budget, bits }, request).map(|certificate| to_text(&certificate))
    }
}

impl<'s> ProofSets<'s> for Sets<'_, 's> {
    type Set = Rc<Bitset>;

    fn system(&self) -> &'s System {
        self.labeller.system
    }

    fn initial(&mut self) -> Result<Rc<Bitset>, Stop> {
        let space = &self.labeller.space;
        Ok(Rc::new(Bitset::first(space.n_initial(), space.n_states())))
    }

    fn reachable(&mut self) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new(Bitset::full(self.labeller.space.n_states())))
    }

    fn nothing(&mut self) -> Rc<Bitset> {
        Rc::new(Bitset::empty(self.labeller.space.n_states()))
    }

    fn and(&mut self, a: &Rc<Bitset>, b: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new((**a).clone().and(b)))
    }

    fn or(&mut self, a: &Rc<Bitset>, b: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new((**a).clone().or(b)))
    }

    fn minus(&mut self, a: &Rc<Bitset>, b: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new((**a).clone().minus(b)))
    }

    fn is_empty(&self, a: &Rc<Bitset>) -> bool {
        a.is_empty()
    }

    fn condition(&mut self, condition: ExprId) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        Ok(Rc::new(self.labeller.where_true(condition, &all, self.budget)?))
    }

    fn before(&mut self, set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        Ok(Rc::new(self.labeller.exists_next(set, &all, self.budget)?))
    }

    fn before_by(&mut self, condition: ExprId, set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        Ok(Rc::new(self.labeller.exists_step(condition, set, &all, self.budget)?))
    }

    fn after(&mut self, set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        let graph = self.labeller.graph(self.budget)?;
        let follows = |state: usize| graph.predecessors(state).iter().any(|p| set.contains(*p as usize));
        Ok(Rc::new(all.filter(follows)))
    }

    fn alike(&mut self, agents: &[AgentId], set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        // The agents do not know that the state is outside the set.
        let known = self.labeller.knows(agents, &all, set, self.budget)?;
        self.minus(&all, &Rc::new(known))
    }

    fn forced(&mut self, group: GroupId, set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        let game = self.labeller.game(group, self.budget)?;
        let arena = Arena { game: &game, allowed: None, domain: &all, constraints: &[], budget: self.budget };
        Ok(Rc::new(arena.solve(&Goal::Next((**set).clone()))?.win))
    }

    fn places(&mut self) -> Vec<Place> {
        let system = self.labeller.system;
        let variables = system.variable_ids().flat_map(|v| {
            let name = system.full_name(v);
            let powers = (0..system.variable(v).domain.bits()).rev();
            powers.map(move |power| Place { is_action: false, name: name.clone(), power })
        });
        let actions = system.agents.iter().flat_map(|agent| {
            let n_bits = usize::BITS - (agent.actions.len() - 1).leading_zeros();
            (0..n_bits).map(|power| Place { is_action: true, name: agent.name.clone(), power })
        });
        variables.chain(actions).collect()
    }

    fn write(
        &mut self,
        set: &Rc<Bitset>,
        care: Option<&Rc<Bitset>>,
        nodes: &mut NodeTable,
    ) -> Result<Ref, Stop> {
        let mut states: Vec<u32> = match care {
            Some(care) => care.iter().map(|state| state as u32).collect(),
            None => set.iter().map(|state| state as u32).collect(),
        };
        let mut clock = Clock::new(self.budget);
        let mut tree = Tree { sets: self, set, is_exact: care.is_none(), nodes, clock: &mut clock };
        Ok(tree.write(&mut states, 0)?.unwrap_or(Ref::NONE))
    }
}

/// A set that is written as a diagram.
struct Tree<'a, 'l, 's> {
    sets: &'a Sets<'l, 's>,
    set: &'a Bitset,
    /// Whether valuations that are not listed are outside the set. Otherwise they do not matter.
    is_exact: bool,
    nodes: &'a mut NodeTable,
    clock: &'a mut Clock<'l>,
}

impl Tree<'_, '_, '_> {
    /// Writes the set among the listed states, which agree on the bits above a place; `None` if no state is listed.
    fn write(&mut self, states: &mut [u32], place: usize) -> Result<Option<Ref>, Stop> {
        self.clock.tick()?;
        let Some(first) = states.first() else { return Ok(None) };
        let is_member = self.set.contains(*first as usize);
        let are_same = !self.is_exact && states.iter().all(|s| self.set.contains(*s as usize) == is_member);
        let (false, Some(&(field, power))) = (are_same, self.sets.bits.get(place)) else {
            return Ok(Some(if is_member { Ref::ALL } else { Ref::NONE }));
        };
        let store = &self.sets.labeller.space.store;
        let is_high = |state: &u32| field.get(store.row(*state as usize)) >> power & 1 == 1;
        let mut n_low = 0;
        for index in 0..states.len() {
            if !is_high(&states[index]) {
                states.swap(index, n_low);
                n_low += 1;
            }
        }
        let (low, high) = states.split_at_mut(n_low);
        let (low, high) = (self.write(low, place + 1)?, self.write(high, place + 1)?);
        let missing = |other| if self.is_exact { Some(Ref::NONE) } else { other };
        let (low, high) = (low.or(missing(high)), high.or(missing(low)));
        Ok(low.zip(high).map(|(low, high)| self.nodes.node(place as u32, low, high)))
    }
}
