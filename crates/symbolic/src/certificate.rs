//! The sets of this engine as certificates need them.
//!
//! Sets are computed without fairness, over all reachable states: the writer restricts them itself.

use masque_model::{AgentId, ExprId, GroupId, Protocol, System, VarId};
use masque_proof::{Choice, GroupStrategy, NodeTable, Place, ProofSets, Ref, UniformGoal, prove, to_text};
use masque_verdict::{Budget, CertificateRequest, NotCertified, Stop};
use rustc_hash::FxHashMap;

use crate::check::Checker;
use crate::layout::{Item, support};
use crate::space::{Bit, FALSE, Limited, Set, TRUE, Table};
use crate::strategic::Goal;
use crate::uniform::{Requested, UniformGroup, Wanted};
use crate::world::World;

/// The sets of a checker, whose world is the one without fairness.
struct Sets<'c, 's> {
    checker: &'c mut Checker<'s>,
    /// The order in certificates.
    places: Vec<Place>,
    /// For each bit of the current state its place.
    place_of: FxHashMap<Bit, u32>,
}

impl<'s> Checker<'s> {
    /// Writes the certificate of a verdict.
    pub(crate) fn certificate(
        &mut self,
        request: &CertificateRequest<'_>,
        budget: &Budget,
    ) -> Result<String, NotCertified> {
        self.encoder.space.set_budget(budget);
        let plain = World::new(self.system, self.reachable.clone(), Vec::new());
        let world = std::mem::replace(&mut self.world, plain);
        let (places, place_of) = self.places();
        let result = prove(&mut Sets { checker: self, places, place_of }, request);
        self.world = world;
        result.map(|certificate| to_text(&certificate))
    }

    /// Returns the order of the bits of states and actions. An action that this engine does not encode, because the
    /// state determines it, gets a place beside the variables of its agent.
    fn places(&mut self) -> (Vec<Place>, FxHashMap<Bit, u32>) {
        let system = self.system;
        // If a limit is reached here, the next operation says so.
        let is_determined: Vec<bool> =
            system.agent_ids().map(|agent| self.encoder.is_determined(agent).unwrap_or(false)).collect();
        let (layout, space) = (&self.encoder.layout, &self.encoder.space);
        let mut sorted: Vec<(u32, Option<Bit>, Place)> = Vec::new();
        for variable in system.variable_ids() {
            let bits = layout.variables[variable.index()].current.iter().rev();
            let name = system.full_name(variable);
            sorted.extend((0..).zip(bits).map(|(power, &bit)| {
                (space.level(bit).0, Some(bit), Place { is_action: false, name: name.clone(), power })
            }));
        }
        for agent in system.agent_ids() {
            let bits: Vec<u32> =
                layout.actions[agent.index()].iter().rev().map(|bit| space.level(*bit).0).collect();
            let n_bits = usize::BITS - (system.agent(agent).actions.len() - 1).leading_zeros();
            let own = self.lowest(&system.agent(agent).variables).or_else(|| self.lowest_read(agent));
            sorted.extend((0..n_bits).map(|power| {
                let encoded = bits.get(power as usize).filter(|_| !is_determined[agent.index()]);
                let level = encoded.copied().or(own).unwrap_or(0);
                (level, None, Place { is_action: true, name: system.agent(agent).name.clone(), power })
            }));
        }
        sorted.sort_by_key(|(level, bit, _)| (*level, bit.is_none()));
        let place_of = (0..).zip(&sorted).filter_map(|(place, (_, bit, _))| Some(((*bit)?, place))).collect();
        (sorted.into_iter().map(|(.., place)| place).collect(), place_of)
    }
}

/// Maximum number of expressions of a protocol that are read to find a place for its action.
const MAX_READ: usize = 1 << 16;

impl Checker<'_> {
    /// Returns the lowest level of the bits that an agent's protocol reads.
    fn lowest_read(&self, agent: AgentId) -> Option<u32> {
        let Protocol::Lines { lines, .. } = &self.system.agent(agent).protocol else { return None };
        let conditions: Vec<ExprId> = lines.iter().map(|line| line.condition).collect();
        let read = support(self.system, &conditions, MAX_READ)?;
        let variables = read.iter().filter_map(|item| match item {
            Item::Variable(v) => Some(*v),
            Item::Action(_) => None,
        });
        self.lowest(&variables.collect::<Vec<_>>())
    }

    /// Returns the lowest level of the bits of variables.
    fn lowest(&self, variables: &[VarId]) -> Option<u32> {
        let bits = variables.iter().flat_map(|v| &self.encoder.layout.variables[v.index()].current);
        bits.map(|bit| self.encoder.space.level(*bit).0).max()
    }
}

impl<'s> ProofSets<'s> for Sets<'_, 's> {
    type Set = Set;

    fn system(&self) -> &'s System {
        self.checker.system
    }

    fn initial(&mut self) -> Limited<Set> {
        Ok(self.checker.initial.clone())
    }

    fn reachable(&mut self) -> Limited<Set> {
        Ok(self.checker.reachable.clone())
    }

    fn nothing(&mut self) -> Set {
        self.checker.encoder.space.none()
    }

    fn and(&mut self, a: &Set, b: &Set) -> Limited<Set> {
        self.checker.encoder.space.and(a, b)
    }

    fn or(&mut self, a: &Set, b: &Set) -> Limited<Set> {
        self.checker.encoder.space.or(a, b)
    }

    fn minus(&mut self, a: &Set, b: &Set) -> Limited<Set> {
        self.checker.encoder.space.minus(a, b)
    }

    fn is_empty(&self, a: &Set) -> bool {
        a.is_empty()
    }

    fn condition(&mut self, condition: ExprId) -> Limited<Set> {
        let set = self.checker.encoder.condition(condition)?;
        self.checker.inside(&set)
    }

    fn before(&mut self, set: &Set) -> Limited<Set> {
        let before = self.checker.exists_next(set)?;
        self.checker.inside(&before)
    }

    fn before_by(&mut self, condition: ExprId, set: &Set) -> Limited<Set> {
        let before = self.checker.exists_step(condition, set)?;
        self.checker.inside(&before)
    }

    fn after(&mut self, set: &Set) -> Limited<Set> {
        self.checker.relation.post(&self.checker.encoder, set)
    }

    fn alike(&mut self, agents: &[AgentId], set: &Set) -> Limited<Set> {
        self.checker.confused(agents, set)
    }

    fn forced(&mut self, group: GroupId, strategy: Option<&[Choice<Set>]>, set: &Set) -> Limited<Set> {
        let system = self.checker.system;
        let mut coalition = self.checker.coalition(&system.groups[group.index()].agents)?;
        if let Some(strategy) = strategy {
            self.checker.follow(&mut coalition, strategy)?;
        }
        self.checker.enforce_next(&coalition, set)
    }

    fn uniform(&mut self, goal: &UniformGoal<'_, Set>) -> Limited<Vec<GroupStrategy<Set>>> {
        let UniformGoal { group, strategies, path, phi, psi, asked } = *goal;
        let system = self.checker.system;
        let members = &system.groups[group.index()].agents[..];
        let goal = Goal { path: system.formulas.get(path), phi: phi.clone(), psi: psi.clone() };
        let coalition = self.checker.coalition(members)?;
        let upper = self.checker.enforced(&coalition, &goal)?;
        let mut found = Vec::new();
        let states = asked.map_or(Wanted::All, Wanted::Among);
        let requested = Requested { states, strategies: Some(&mut found) };
        self.checker.enforces_uniformly(UniformGroup { members, strategies }, &goal, &upper, requested)?;
        Ok(found)
    }

    fn places(&mut self) -> Vec<Place> {
        self.places.clone()
    }

    fn write_view(&mut self, agent: AgentId, set: &Set, nodes: &mut NodeTable) -> Limited<Ref> {
        let hidden = self.checker.world.projections.hidden_cube(&self.checker.encoder, &[agent])?;
        let seen = self.checker.encoder.space.exists(set, &hidden)?;
        self.write(&seen, None, nodes)
    }

    fn write(&mut self, set: &Set, care: Option<&Set>, nodes: &mut NodeTable) -> Result<Ref, Stop> {
        let space = &self.checker.encoder.space;
        let mut chosen = set.clone();
        if let Some(care) = care
            && !care.is_empty()
        {
            let simple = space.simplify(set, care)?;
            if space.size(&simple) < space.size(set) {
                chosen = simple;
            }
        }
        let mut refs = vec![Ref::ALL; 2];
        (refs[FALSE], refs[TRUE]) = (Ref::NONE, Ref::ALL);
        for (bit, [high, low]) in Table::new(&chosen).nodes {
            let place =
                self.place_of.get(&bit).copied().ok_or(Stop::from(masque_verdict::Why::Unsupported))?;
            let set = nodes.node(place, refs[low], refs[high]);
            refs.push(set);
        }
        Ok(match refs.len() {
            2 if chosen.is_all() => Ref::ALL,
            2 => Ref::NONE,
            n => refs[n - 1],
        })
    }
}
