//! Worlds as explicit graphs: the steps within each world, and the states accessible from each state.

use masque_symbolic::space::{Bit, Limited, Set};
use masque_verdict::Budget;
use rustc_hash::FxHashMap;

use super::Engine;
use crate::model::{ActionId, Edge, PointId, State};
use crate::outcome::Status;
use crate::plan::WorldId;

/// States of some worlds in breadth-first order, initial states first.
#[derive(Clone, Debug, Default)]
pub struct WorldGraph {
    /// States, each with its world. They have the values of defined attitudes.
    pub states: Vec<(WorldId, State)>,
    /// Number of initial states of the top world; they come first.
    pub n_initial: usize,
    /// For each state its links to other states, by index; empty for states that were not expanded.
    pub links: Vec<Vec<(Link, usize)>>,
    /// For each state, whether all its links are listed.
    pub is_expanded: Vec<bool>,
}

/// A link from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A step within a world, with the action that is performed.
    Step(Option<ActionId>),
    /// The other state is accessible on this edge.
    Access(Edge),
}

impl Engine<'_> {
    /// Returns the states that can be reached from the initial states of a world by steps and by
    /// accessibility, at most `max_states`.
    pub fn graph(&mut self, top: WorldId, max_states: usize, budget: &Budget) -> Limited<WorldGraph> {
        self.set_budget(budget);
        let mut graph = GraphBuilder {
            max_states,
            graph: WorldGraph::default(),
            sets: Vec::new(),
            indices: FxHashMap::default(),
        };
        if self.world(top).status == Status::Ok {
            let initial = self.space.and(&self.world(top).initial, &self.world(top).kept)?;
            graph.add_all(self, top, initial)?;
        }
        graph.graph.n_initial = graph.graph.states.len();
        while let Some((world, alone)) = graph.sets.get(graph.graph.links.len()).cloned() {
            budget.check()?;
            let mut links = Vec::new();
            let kept = self.world(world).kept.clone();
            let next = self.space.and(&self.post(&self.world(world).transitions, &alone)?, &kept)?;
            let (next, mut is_expanded) = graph.add_all(self, world, next)?;
            let action = |graph: &GraphBuilder, to: usize| graph.graph.states[to].1.action;
            links.extend(next.into_iter().map(|to| (Link::Step(action(&graph, to)), to)));
            let plan = self.plan;
            for (&edge, &child) in &plan.worlds[world.index()].children {
                let accessible = self.accessible_from(world, edge, &alone)?;
                let (accessible, is_all) = graph.add_all(self, child, accessible)?;
                is_expanded &= is_all;
                links.extend(accessible.into_iter().map(|to| (Link::Access(edge), to)));
            }
            graph.graph.links.push(links);
            graph.graph.is_expanded.push(is_expanded);
        }
        for (index, (world, alone)) in std::mem::take(&mut graph.sets).into_iter().enumerate() {
            let state = graph.graph.states[index].1.clone();
            for defined in self.with_definitions(world, vec![(state, alone)])? {
                graph.graph.states[index].1 = defined;
            }
        }
        Ok(graph.graph)
    }

    /// Returns the first `max` initial states of a world that match a pattern, least first, and whether these
    /// are all. They have the values of defined attitudes.
    pub fn initial_states(
        &mut self,
        world: WorldId,
        pattern: &StatePattern,
        max: usize,
    ) -> Limited<(Vec<State>, bool)> {
        if self.world(world).status != Status::Ok {
            return Ok((Vec::new(), true));
        }
        let initial = self.space.and(&self.world(world).initial, &self.world(world).kept)?;
        self.first_matching(world, initial, pattern, max)
    }

    /// Returns the first `max` successors of a state that match a pattern, as [`Engine::initial_states`] does.
    pub fn next_states(
        &mut self,
        world: WorldId,
        state: &State,
        pattern: &StatePattern,
        max: usize,
    ) -> Limited<(Vec<State>, bool)> {
        let alone = self.singleton(world, state)?;
        let next = self.post(&self.world(world).transitions, &alone)?;
        let next = self.space.and(&next, &self.world(world).kept)?;
        self.first_matching(world, next, pattern, max)
    }

    fn first_matching(
        &mut self,
        world: WorldId,
        set: Set,
        pattern: &StatePattern,
        max: usize,
    ) -> Limited<(Vec<State>, bool)> {
        let mut left = self.space.and(&set, &self.pattern_set(world, pattern)?)?;
        let mut found = Vec::new();
        while !left.is_empty() && found.len() < max {
            let (state, alone) = self.least(world, &left)?;
            left = self.space.minus(&left, &alone)?;
            let defined = self.with_definitions(world, vec![(state, alone)])?;
            found.extend(defined.into_iter().filter(|state| pattern.admits(state)));
        }
        Ok((found, left.is_empty()))
    }

    /// Returns the states that match a pattern, except for its defined attitudes.
    fn pattern_set(&self, world: WorldId, pattern: &StatePattern) -> Limited<Set> {
        let program = self.model.program(self.program_of(world));
        let layout = self.layout_of(world);
        let mut valuation: Vec<(Bit, bool)> = Vec::new();
        if let Some(point) = pattern.point {
            if !layout.points.contains(&point) {
                return Ok(self.space.none());
            }
            valuation.extend(bits_of(&layout.point.current, layout.code(point)));
        }
        for (var, value) in program.vars.iter().zip(&pattern.values) {
            if let (Some(field), Some(value)) = (layout.vars.get(var), value) {
                let Some(code) = self.layout.code(self.model, *var, *value) else {
                    return Ok(self.space.none());
                };
                valuation.extend(bits_of(&field.current, code));
            }
        }
        if let Some(action) = pattern.action {
            let code = super::step::action_code(&program.actions, action);
            valuation.extend(bits_of(&layout.action.current, code));
        }
        self.space.valuation(valuation)
    }

    /// Whether a property is true in a state of its world.
    pub fn truth_at(&mut self, index: usize, state: &State) -> Limited<bool> {
        let world = self.plan.properties[index];
        let holds = self.true_states(index)?;
        let alone = self.singleton(world, state)?;
        self.space.is_subset(&alone, &holds)
    }

    /// Returns the singleton set of a state.
    pub(super) fn singleton(&self, world: WorldId, state: &State) -> Limited<Set> {
        self.pattern_set(world, &StatePattern::of(state))
    }
}

/// Bits with the values that encode a number.
fn bits_of(bits: &[Bit], code: u64) -> impl Iterator<Item = (Bit, bool)> {
    let values = (0..bits.len()).rev().map(move |bit| code >> bit & 1 == 1);
    bits.iter().copied().zip(values)
}

/// Parts of a state of a world; every other part may be anything.
#[derive(Clone, Debug, Default)]
pub struct StatePattern {
    /// Point of control.
    pub point: Option<PointId>,
    /// Action of the last step, or `Some(None)` for no action.
    pub action: Option<Option<ActionId>>,
    /// Values of the program's variables, within their domains.
    pub values: Vec<Option<i64>>,
}

impl StatePattern {
    /// The pattern that only this state matches.
    pub fn of(state: &State) -> StatePattern {
        let values = state.values.iter().copied().map(Some).collect();
        StatePattern { point: Some(state.point), action: Some(state.action), values }
    }

    /// Whether a state matches. Its defined attitudes must have their values.
    pub fn admits(&self, state: &State) -> bool {
        self.point.is_none_or(|point| point == state.point)
            && self.action.is_none_or(|action| action == state.action)
            && self.values.iter().zip(&state.values).all(|(wanted, value)| wanted.is_none_or(|w| w == *value))
    }
}

/// A graph that is being explored.
struct GraphBuilder {
    max_states: usize,
    graph: WorldGraph,
    /// Singleton set of each state.
    sets: Vec<(WorldId, Set)>,
    indices: FxHashMap<(WorldId, State), usize>,
}

impl GraphBuilder {
    /// Adds the states of a set, least first; returns their indices, and whether all could be added.
    fn add_all(&mut self, engine: &Engine<'_>, world: WorldId, mut set: Set) -> Limited<(Vec<usize>, bool)> {
        let mut indices = Vec::new();
        while !set.is_empty() {
            let (state, alone) = engine.least(world, &set)?;
            set = engine.space.minus(&set, &alone)?;
            let key = (world, state);
            let index = match self.indices.get(&key) {
                Some(&index) => index,
                None if self.graph.states.len() >= self.max_states => return Ok((indices, false)),
                None => {
                    self.graph.states.push(key.clone());
                    self.sets.push((world, alone));
                    self.indices.insert(key, self.graph.states.len() - 1);
                    self.graph.states.len() - 1
                }
            };
            indices.push(index);
        }
        Ok((indices, true))
    }
}
