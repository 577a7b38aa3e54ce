//! Worlds as explicit graphs: the steps within each world, and the states accessible from each state.

use masque_symbolic::space::{Bit, Limited, Set};
use masque_verdict::Budget;
use rustc_hash::FxHashMap;

use super::Engine;
use crate::model::{ActionId, Edge, State};
use crate::outcome::Status;
use crate::plan::WorldId;

/// States of some worlds in breadth-first order, initial states first.
#[derive(Clone, Debug, Default)]
pub struct WorldGraph {
    /// States, each with its world.
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
        Ok(graph.graph)
    }

    /// Whether a property is true in a state of its world.
    pub fn truth_at(&mut self, index: usize, state: &State) -> Limited<bool> {
        let world = self.plan.properties[index];
        let holds = self.true_states(index)?;
        let alone = self.singleton(world, state)?;
        self.space.is_subset(&alone, &holds)
    }

    /// Returns the singleton set of a state.
    fn singleton(&self, world: WorldId, state: &State) -> Limited<Set> {
        let program = self.model.program(self.program_of(world));
        let layout = self.layout_of(world);
        let mut valuation: Vec<(Bit, bool)> = Vec::new();
        let mut write = |bits: &[Bit], code: u64| {
            let values = (0..bits.len()).rev().map(|bit| code >> bit & 1 == 1);
            valuation.extend(bits.iter().copied().zip(values));
        };
        write(&layout.point.current, layout.code(state.point));
        for (var, value) in program.vars.iter().zip(&state.values) {
            if let Some(field) = layout.vars.get(var) {
                write(&field.current, (value - self.model.var(*var).domain.bounds().0) as u64);
            }
        }
        write(&layout.action.current, super::step::action_code(&program.actions, state.action));
        self.space.valuation(valuation)
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
