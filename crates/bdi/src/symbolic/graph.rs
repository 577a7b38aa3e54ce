//! Worlds state by state: the steps inside each world, and the states that are accessible from each.

use masque_symbolic::space::{Bit, Limited, Set};
use masque_verdict::Budget;
use rustc_hash::FxHashMap;

use super::Engine;
use crate::model::{ActionId, Edge, State};
use crate::outcome::Status;
use crate::plan::WorldId;

/// A part of the states of some worlds, numbered breadth first, the initial ones before all others.
#[derive(Clone, Debug, Default)]
pub struct WorldGraph {
    /// The states, each with its world.
    pub states: Vec<(WorldId, State)>,
    /// The first this many are initial states of the top world.
    pub n_initial: usize,
    /// For each state what leads on from it, and where; empty for states that were not expanded.
    pub links: Vec<Vec<(Link, usize)>>,
    /// For each state, whether all that leads on from it is there.
    pub is_expanded: Vec<bool>,
}

/// What leads from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A step inside a world, with the action that is performed.
    Step(Option<ActionId>),
    /// The other state is accessible, for this attitude about this agent.
    Access(Edge),
}

impl Engine<'_> {
    /// The states that can be reached from the initial ones of a world by steps and by accessibility; at
    /// most `most`.
    pub fn graph(&mut self, top: WorldId, most: usize, budget: &Budget) -> Limited<WorldGraph> {
        self.set_budget(budget);
        let mut graph =
            Growing { most, graph: WorldGraph::default(), sets: Vec::new(), numbers: FxHashMap::default() };
        if self.world(top).status == Status::Ok {
            let initial = self.space.and(&self.world(top).initial, &self.world(top).kept)?;
            graph.add_all(self, top, initial)?;
        }
        graph.graph.n_initial = graph.graph.states.len();
        while let Some((world, alone)) = graph.sets.get(graph.graph.links.len()).cloned() {
            budget.check()?;
            let mut links = Vec::new();
            let kept = self.world(world).kept.clone();
            let next = self.space.and(&self.post(&self.world(world).arrows, &alone)?, &kept)?;
            let (next, mut is_expanded) = graph.add_all(self, world, next)?;
            let action = |graph: &Growing, to: usize| graph.graph.states[to].1.action;
            links.extend(next.into_iter().map(|to| (Link::Step(action(&graph, to)), to)));
            let edges: Vec<(Edge, WorldId)> = self.plan.worlds[world.index()]
                .children
                .iter()
                .map(|(edge, child)| (*edge, *child))
                .collect();
            for (edge, child) in edges {
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

    /// Whether a property is true at a state of its world.
    pub fn truth_at(&mut self, index: usize, state: &State) -> Limited<bool> {
        let world = self.plan.properties[index];
        let holds = self.answer(index)?;
        let alone = self.alone(world, state)?;
        self.space.is_subset(&alone, &holds)
    }

    /// The set of one state.
    fn alone(&self, world: WorldId, state: &State) -> Limited<Set> {
        let program = self.model.program(self.program_of(world));
        let layout = self.layout_of(world);
        let mut valuation: Vec<(Bit, bool)> = Vec::new();
        let mut write = |bits: &[Bit], code: u64| {
            let values = (0..bits.len()).rev().map(|place| code >> place & 1 == 1);
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
struct Growing {
    most: usize,
    graph: WorldGraph,
    /// Each state as a set of its own.
    sets: Vec<(WorldId, Set)>,
    numbers: FxHashMap<(WorldId, State), usize>,
}

impl Growing {
    /// Adds the states of a set, least first; their numbers, and whether there was room for all.
    fn add_all(&mut self, engine: &Engine<'_>, world: WorldId, mut set: Set) -> Limited<(Vec<usize>, bool)> {
        let mut numbers = Vec::new();
        while !set.is_empty() {
            let (state, alone) = engine.least(world, &set)?;
            set = engine.space.minus(&set, &alone)?;
            let key = (world, state);
            let number = match self.numbers.get(&key) {
                Some(&number) => number,
                None if self.graph.states.len() >= self.most => return Ok((numbers, false)),
                None => {
                    self.graph.states.push(key.clone());
                    self.sets.push((world, alone));
                    self.numbers.insert(key, self.graph.states.len() - 1);
                    self.graph.states.len() - 1
                }
            };
            numbers.push(number);
        }
        Ok((numbers, true))
    }
}
