//! Reachability, breadth first.

use masque_model::{Deadlock, System};
use masque_verdict::{Budget, Stop};

use crate::graph::{Edges, Graph};
use crate::initial::each_initial_state;
use crate::steps::Steps;
use crate::store::Store;
use crate::successors::Stepper;

/// The reachable states, numbered breadth first: the initial ones first, then layer by layer.
pub(crate) struct Space {
    pub(crate) store: Store,
    /// Where each layer begins, and at last the number of states.
    pub(crate) layers: Vec<u32>,
    /// The states without successors in the first layer that has any.
    pub(crate) nearest_deadlocks: Vec<u32>,
    /// The states where some choice overflows in the first layer that has any.
    pub(crate) nearest_overflows: Vec<u32>,
    /// The transitions, if they were asked for.
    pub(crate) graph: Option<Graph>,
}

impl Space {
    pub(crate) fn n_states(&self) -> usize {
        self.store.len()
    }

    pub(crate) fn n_initial(&self) -> usize {
        self.layers[1] as usize
    }

    /// The layer of a state: its distance from the initial states.
    pub(crate) fn layer_of(&self, state: u32) -> usize {
        self.layers.partition_point(|&begin| begin <= state) - 1
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.store.bytes() + self.graph.as_ref().map_or(0, Graph::bytes)
    }
}

/// `G`, the least set of states with `I ⊆ G` that is closed under `→`.
///
/// Under [`Deadlock::Stutter`] a state without successors gets a transition to itself in the graph.
pub(crate) fn explore(
    system: &System,
    steps: &Steps<'_>,
    with_graph: bool,
    budget: &Budget,
) -> Result<Space, Stop> {
    let mut store = Store::new(steps.layout.n_words);
    let result = explore_into(&mut store, system, steps, with_graph, budget);
    let n_states = store.len() as u64;
    match result {
        Ok((layers, nearest_deadlocks, nearest_overflows, edges)) => {
            store.shrink();
            let mut space = Space { store, layers, nearest_deadlocks, nearest_overflows, graph: None };
            space.graph = edges.map(|edges| edges.into_graph(budget, space.bytes())).transpose()?;
            Ok(space)
        }
        Err(stop) => Err(stop.after_states(n_states).with_bytes(store.bytes())),
    }
}

type Explored = (Vec<u32>, Vec<u32>, Vec<u32>, Option<Edges>);

fn explore_into(
    store: &mut Store,
    system: &System,
    steps: &Steps<'_>,
    with_graph: bool,
    budget: &Budget,
) -> Result<Explored, Stop> {
    let limits = |store: &Store, edges: &Option<Edges>| {
        budget.check()?;
        budget.check_states(store.len() as u64)?;
        budget.check_memory(store.bytes_soon() + edges.as_ref().map_or(0, Edges::bytes))
    };
    let mut edges = with_graph.then(Edges::default);
    each_initial_state(system, &steps.layout, budget, |row| {
        let number = store.insert(row)?;
        if number % 4096 == 4095 { limits(store, &edges) } else { Ok(()) }
    })?;
    let mut layers = vec![0, store.len() as u32];
    let mut nearest_deadlocks = Vec::new();
    let mut nearest_overflows = Vec::new();
    let mut stepper = Stepper::new(steps, budget);
    let mut state = Vec::new();
    let mut found: Vec<u32> = Vec::new();
    let (mut deadlock_layer, mut overflow_layer) = (None, None);
    let mut number = 0;
    while number < store.len() {
        if number == layers[layers.len() - 1] as usize {
            layers.push(store.len() as u32);
        }
        let layer = layers.len();
        state.clear();
        state.extend_from_slice(store.row(number));
        found.clear();
        let mut n_before = store.len();
        let expansion = stepper.expand(&state, |row| {
            let successor = store.insert(row)?;
            if with_graph {
                found.push(successor);
            }
            if store.len() > n_before + 4096 {
                n_before = store.len();
                limits(store, &None)?;
            }
            Ok(())
        })?;
        if expansion.is_dead && *deadlock_layer.get_or_insert(layer) == layer {
            nearest_deadlocks.push(number as u32);
        }
        if expansion.overflows && *overflow_layer.get_or_insert(layer) == layer {
            nearest_overflows.push(number as u32);
        }
        if let Some(edges) = &mut edges {
            if expansion.is_dead && system.meaning.deadlock == Deadlock::Stutter {
                found.push(number as u32);
            }
            edges.add_source(&mut found)?;
        }
        number += 1;
        if number % 4096 == 0 {
            limits(store, &edges)?;
        }
    }
    limits(store, &edges)?;
    if layers[layers.len() - 1] as usize != store.len() {
        layers.push(store.len() as u32);
    }
    Ok((layers, nearest_deadlocks, nearest_overflows, edges))
}

/// The transitions between states that are already explored.
pub(crate) fn transitions(
    space: &mut Space,
    system: &System,
    steps: &Steps<'_>,
    budget: &Budget,
) -> Result<Graph, Stop> {
    let mut edges = Edges::default();
    let mut stepper = Stepper::new(steps, budget);
    let mut state = Vec::new();
    let mut found: Vec<u32> = Vec::new();
    let base = space.store.bytes();
    for number in 0..space.n_states() {
        if number % 4096 == 4095 {
            budget.check()?;
            budget.check_memory(base + edges.bytes())?;
        }
        state.clear();
        state.extend_from_slice(space.store.row(number));
        found.clear();
        let store = &mut space.store;
        let expansion = stepper.expand(&state, |row| {
            found.push(store.insert(row)?);
            Ok(())
        })?;
        if expansion.is_dead && system.meaning.deadlock == Deadlock::Stutter {
            found.push(number as u32);
        }
        edges.add_source(&mut found)?;
    }
    edges.into_graph(budget, base)
}
