//! The sets of this engine as certificates need them: sets of stored states, which become diagrams.

use std::rc::Rc;

use masque_model::{AgentId, ExprId, GroupId, System};
use masque_proof::{
    Choice, GroupStrategy, NodeTable, Place, Placed, ProofSets, Ref, UniformGoal, item_order, prove, to_text,
};
use masque_verdict::{ANY_ACTION, Budget, CertificateRequest, NotCertified, Stop};

use crate::bitset::Bitset;
use crate::label::Labeller;
use crate::labelling::StoredStates;
use crate::sorted_states::SortedStates;
use crate::strategic::{Arena, Goal};

/// The sets of a labeller.
struct Sets<'l, 's> {
    labeller: &'l mut Labeller<'s>,
    budget: &'l Budget,
    /// The order of the variables and actions.
    order: Vec<Placed>,
    /// The stored states, sorted when the first set is written.
    sorted: Option<Rc<SortedStates>>,
}

/// A set is compared with the states that matter only if these are at most as many for each of its own states;
/// otherwise with all stored states, which costs less.
const MAX_CARED_PER_MEMBER: usize = 16;
/// States that matter are looked at in any case if there are at most this many.
const FEW_CARED: usize = 4096;

impl Labeller<'_> {
    /// Writes the certificate of a verdict.
    pub(crate) fn certificate(
        &mut self,
        request: &CertificateRequest<'_>,
        budget: &Budget,
    ) -> Result<String, NotCertified> {
        let order = item_order(self.system);
        let mut sets = Sets { labeller: self, budget, order, sorted: None };
        prove(&mut sets, request).map(|certificate| to_text(&certificate))
    }
}

impl<'s> Sets<'_, 's> {
    fn sorted(&mut self) -> Result<Rc<SortedStates>, Stop> {
        if let Some(sorted) = &self.sorted {
            return Ok(Rc::clone(sorted));
        }
        let (system, layout) = (self.labeller.system, &self.labeller.steps.layout);
        // Places of actions are never tested; their bits are those of a field without bits.
        let bits: Vec<_> = self
            .order
            .iter()
            .flat_map(|item| match *item {
                Placed::Variable(v) => {
                    let powers = (0..system.variable(v).domain.bits()).rev();
                    powers.map(|power| (Some(layout.variable(v)), power)).collect::<Vec<_>>()
                }
                Placed::Action(agent) => (0..action_bits(system, agent)).map(|power| (None, power)).collect(),
            })
            .collect();
        let sorted = Rc::new(SortedStates::new(&self.labeller.space.store, &bits, self.budget)?);
        self.sorted = Some(Rc::clone(&sorted));
        Ok(sorted)
    }
}

fn action_bits(system: &System, agent: AgentId) -> u32 {
    usize::BITS - system.agent(agent).actions.len().saturating_sub(1).leading_zeros()
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

    fn forced(
        &mut self,
        group: GroupId,
        strategy: Option<&[Choice<Rc<Bitset>>]>,
        set: &Rc<Bitset>,
    ) -> Result<Rc<Bitset>, Stop> {
        let all = self.reachable()?;
        let game = self.labeller.game(group, self.budget)?;
        let allowed = strategy.map(|strategy| {
            let follows = |(member, &action): (usize, &u32), state: usize| {
                action == ANY_ACTION
                    || strategy.iter().any(|choice| {
                        (choice.member, choice.action) == (member, action) && choice.states.contains(state)
                    })
            };
            Bitset::full(game.n_moves()).filter(|index| {
                let state = game.owner(index as u32) as usize;
                game.actions(index as u32).iter().enumerate().all(|action| follows(action, state))
            })
        });
        let allowed = allowed.as_ref();
        let arena = Arena { game: &game, allowed, domain: &all, constraints: &[], budget: self.budget };
        Ok(Rc::new(arena.solve(&Goal::Next((**set).clone()))?.win))
    }

    fn uniform(
        &mut self,
        goal: &UniformGoal<'_, Rc<Bitset>>,
    ) -> Result<Vec<GroupStrategy<Rc<Bitset>>>, Stop> {
        let UniformGoal { group, strategies, path, phi, psi, asked } = *goal;
        let all = self.reachable()?;
        let game = self.labeller.game(group, self.budget)?;
        let arena = Arena { game: &game, allowed: None, domain: &all, constraints: &[], budget: self.budget };
        let goal = Goal::new(self.labeller.system.formulas.get(path), phi, psi, &all)?;
        self.labeller.uniform_strategies(strategies, &arena, &goal, asked.map(|set| &**set))
    }

    fn places(&mut self) -> Vec<Place> {
        let system = self.labeller.system;
        let place = |is_action, name: &str, power| Place { is_action, name: name.to_string(), power };
        let places = |item: &Placed| -> Vec<Place> {
            match *item {
                Placed::Variable(v) => {
                    let (name, n_bits) = (system.full_name(v), system.variable(v).domain.bits());
                    (0..n_bits).rev().map(|power| place(false, &name, power)).collect()
                }
                Placed::Action(agent) => {
                    let (name, n_bits) = (&system.agent(agent).name, action_bits(system, agent));
                    (0..n_bits).rev().map(|power| place(true, name, power)).collect()
                }
            }
        };
        self.order.iter().flat_map(places).collect()
    }

    fn write(
        &mut self,
        set: &Rc<Bitset>,
        care: Option<&Rc<Bitset>>,
        nodes: &mut NodeTable,
    ) -> Result<Ref, Stop> {
        let sorted = self.sorted()?;
        let Some(care) = care else {
            return sorted.write_exactly(&sorted.positions(set), nodes, self.budget);
        };
        let members = sorted.positions(&(**set).clone().and(care));
        let n_cared = care.count();
        if n_cared == set.len() || n_cared > (members.len() * MAX_CARED_PER_MEMBER).max(FEW_CARED) {
            return sorted.write_roughly(&members, None, nodes, self.budget);
        }
        sorted.write_roughly(&members, Some(&sorted.positions(care)), nodes, self.budget)
    }

    fn write_view(&mut self, agent: AgentId, set: &Rc<Bitset>, nodes: &mut NodeTable) -> Result<Ref, Stop> {
        let sorted = self.sorted()?;
        let system = self.labeller.system;
        let classes = self.labeller.view(&[agent], self.budget)?;
        // One state stands for all with the same view.
        let mut is_known = Bitset::empty(set.len());
        let one_each = set.filter(|state| is_known.insert(classes.of(state) as usize));
        let sees = &system.agent(agent).sees;
        let mask = sorted.mask(self.order.iter().flat_map(|item| match item {
            Placed::Variable(v) => vec![sees.contains(v); system.variable(*v).domain.bits() as usize],
            Placed::Action(agent) => vec![false; action_bits(system, *agent) as usize],
        }));
        sorted.write_views(&sorted.positions(&one_each), &mask, nodes, self.budget)
    }
}
