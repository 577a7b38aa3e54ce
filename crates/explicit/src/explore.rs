//! Reachability, breadth first.

use masque_model::{Deadlock, System};
use std::rc::Rc;

use masque_verdict::{Budget, Found as Progress, Stop};

use crate::batch::Wanted;
use crate::early::Watch;
use crate::graph::{Edges, Graph};
use crate::initial::each_initial_state;
use crate::jobs::Jobs;
use crate::parallel_expand::{Found, ParallelExpander};
use crate::steps::Steps;
use crate::store::Store;
use crate::successors::Stepper;

/// The reachable states, numbered breadth first: the initial ones first, then layer by layer; all of
/// them, or those of the first layers.
pub(crate) struct Space {
    pub(crate) store: Store,
    /// First state of each layer, then the number of states.
    pub(crate) layers: Vec<u32>,
    /// Number of states, from the first, whose successors are all stored.
    pub(crate) n_expanded: usize,
    /// The states without successors in the first layer that has such states.
    pub(crate) nearest_deadlocks: Vec<u32>,
    /// The states where some choice overflows in the first layer that has such states.
    pub(crate) nearest_overflows: Vec<u32>,
    /// The transitions, if they are stored.
    pub(crate) graph: Option<Graph>,
}

impl Space {
    pub(crate) fn n_states(&self) -> usize {
        self.store.len()
    }

    /// Whether there may be more states than these.
    pub(crate) fn is_part(&self) -> bool {
        self.n_expanded < self.n_states()
    }

    pub(crate) fn n_initial(&self) -> usize {
        self.layers[1] as usize
    }

    /// Returns the layer of a state: its distance from the initial states.
    pub(crate) fn layer_of(&self, state: u32) -> usize {
        self.layers.partition_point(|&begin| begin <= state) - 1
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.store.bytes() + self.graph.as_ref().map_or(0, Graph::bytes)
    }
}

/// Computes `G`, the least set of states with `I ⊆ G` that is closed under `→`.
///
/// Under [`Deadlock::Stutter`] a state without successors gets a transition to itself in the graph.
pub(crate) fn explore(
    watch: &mut Watch<'_, '_, '_>,
    with_graph: bool,
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Space, Stop> {
    let (system, steps) = (watch.system, Rc::clone(&watch.steps));
    let store = Store::new(steps.layout.n_words);
    let mut search = Exploration::new(system, &steps, store, with_graph, jobs, budget);
    let result = search.initial_states(system).and_then(|()| search.all_states(watch));
    let Exploration { mut store, layers, edges, .. } = search;
    match result {
        Ok(nearest) => {
            store.shrink();
            let [nearest_deadlocks, nearest_overflows] = nearest;
            let n_expanded = store.len();
            let mut space =
                Space { store, layers, n_expanded, nearest_deadlocks, nearest_overflows, graph: None };
            space.graph = edges.map(|edges| edges.into_graph(jobs, budget, space.bytes())).transpose()?;
            Ok(space)
        }
        Err(stop) => {
            watch.on_stop(&store, &layers, budget);
            Err(stop.after_states(store.len() as u64).with_bytes(store.bytes()))
        }
    }
}

/// Finds the transitions between states that are already explored. The states do not change.
pub(crate) fn transitions(
    space: &mut Space,
    system: &System,
    steps: &Steps<'_>,
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Graph, Stop> {
    let (n_states, n_expanded) = (space.n_states(), space.n_expanded);
    let store = std::mem::replace(&mut space.store, Store::new(steps.layout.n_words));
    let mut search = Exploration::new(system, steps, store, true, jobs, budget);
    let result = search.expand_up_to(n_expanded);
    let Exploration { store, edges, .. } = search;
    space.store = store;
    result?;
    let mut edges = edges.unwrap_or_default();
    edges.pad(n_states);
    edges.into_graph(jobs, budget, space.store.bytes())
}

/// An expansion of states, in the order of their indices.
struct Exploration<'a> {
    steps: &'a Steps<'a>,
    jobs: &'a Jobs,
    budget: &'a Budget,
    wanted: Wanted,
    store: Store,
    edges: Option<Edges>,
    /// First state that is not yet expanded.
    next: usize,
    /// Value of `next` when the limits were last checked.
    checked: usize,
    /// Number of states when the limit on it was last checked during an expansion.
    n_checked: usize,
    /// Number of states between two checks of the limits.
    states_between_checks: usize,
    /// First state of each layer, up to the one being expanded, and the end of that one.
    layers: Vec<u32>,
    stepper: Stepper<'a>,
    /// Expander with several threads, once a layer is large enough for it.
    parallel: Option<ParallelExpander<'a>>,
    /// Row of the state being expanded.
    row: Vec<u64>,
    /// Successors of the state being expanded.
    targets: Vec<u32>,
    found: Found,
}

/// Number of states that a single thread expands between two checks of the limits; fewer if the limit on
/// the number of states is lower, but at least [`MIN_STATES_BETWEEN_CHECKS`].
const STATES_BETWEEN_CHECKS: usize = 4096;
const MIN_STATES_BETWEEN_CHECKS: usize = 256;

impl<'a> Exploration<'a> {
    fn new(
        system: &System,
        steps: &'a Steps<'a>,
        store: Store,
        with_graph: bool,
        jobs: &'a Jobs,
        budget: &'a Budget,
    ) -> Exploration<'a> {
        let stutter = system.meaning.deadlock == Deadlock::Stutter;
        Exploration {
            steps,
            jobs,
            budget,
            wanted: Wanted { transitions: with_graph, stutter },
            store,
            edges: with_graph.then(Edges::default),
            next: 0,
            checked: 0,
            n_checked: 0,
            states_between_checks: budget.states().map_or(STATES_BETWEEN_CHECKS, |limit| {
                (limit as usize).clamp(MIN_STATES_BETWEEN_CHECKS, STATES_BETWEEN_CHECKS)
            }),
            layers: Vec::new(),
            stepper: Stepper::new(steps, budget),
            parallel: None,
            row: Vec::new(),
            targets: Vec::new(),
            found: Found::default(),
        }
    }

    fn check_limits(&mut self) -> Result<(), Stop> {
        self.checked = self.next;
        let (states, layer) = (self.store.len() as u64, self.layers.len().saturating_sub(2) as u64);
        self.budget.meter().found(Progress { states, layer, workers: 1 });
        self.budget.check()?;
        self.budget.check_states(self.store.len() as u64)?;
        let edges = self.edges.as_ref().map_or(0, Edges::bytes);
        self.budget.check_memory(self.store.bytes_soon(0) + edges)
    }

    fn initial_states(&mut self, system: &System) -> Result<(), Stop> {
        let Exploration { steps, budget, .. } = *self;
        each_initial_state(system, &steps.layout, budget, |row| {
            let state = self.store.insert(row)?;
            let is_due = (state as usize + 1).is_multiple_of(self.states_between_checks);
            if is_due { self.check_limits() } else { Ok(()) }
        })
    }

    /// Expands all states; returns the nearest ones without successors, and those with overflows.
    fn all_states(&mut self, watch: &mut Watch<'_, '_, '_>) -> Result<[Vec<u32>; 2], Stop> {
        self.layers = vec![0, self.store.len() as u32];
        let mut nearest = [Vec::new(), Vec::new()];
        while self.next < self.store.len() {
            let end = self.store.len();
            if self.next != 0 {
                self.layers.push(end as u32);
            }
            self.budget.check_states(end as u64)?;
            watch.on_layer(&self.store, &self.layers, self.budget)?;
            self.expand_up_to(end)?;
            for (nearest, found) in
                nearest.iter_mut().zip([&mut self.found.dead, &mut self.found.overflowing])
            {
                if nearest.is_empty() {
                    nearest.append(found);
                }
                found.clear();
            }
        }
        self.check_limits()?;
        watch.on_complete(&self.store, &self.layers, self.budget)?;
        Ok(nearest)
    }

    /// Expands states, by one thread or by several.
    fn expand_up_to(&mut self, end: usize) -> Result<(), Stop> {
        while self.next < end {
            if end - self.next >= self.jobs.grain.least && self.start_threads() {
                self.expand_parallel(end)?;
                self.check_limits()?;
            } else {
                // Counts expanded states, not layers: there may be many layers of few states.
                self.expand_sequentially(end.min(self.checked + self.states_between_checks))?;
                if self.next >= self.checked + self.states_between_checks {
                    self.check_limits()?;
                }
            }
        }
        Ok(())
    }

    /// Creates the parallel expander, unless it exists; returns false if there is only one thread.
    fn start_threads(&mut self) -> bool {
        if self.parallel.is_none() {
            self.parallel = ParallelExpander::new(self.jobs, self.steps, self.wanted, self.budget);
            if self.parallel.is_some() {
                self.store.split(self.jobs.n_threads());
            }
        }
        self.parallel.is_some()
    }

    fn expand_parallel(&mut self, end: usize) -> Result<(), Stop> {
        let Some(parallel) = &mut self.parallel else { return Ok(()) };
        let states = self.next as u32..end as u32;
        self.next = parallel.expand(states, &mut self.store, &mut self.edges, &mut self.found)? as usize;
        Ok(())
    }

    fn expand_sequentially(&mut self, end: usize) -> Result<(), Stop> {
        while self.next < end {
            let state = self.next as u32;
            let Exploration { store, row, stepper, targets, wanted, budget, states_between_checks, .. } =
                self;
            row.clear();
            row.extend_from_slice(store.row(state as usize));
            targets.clear();
            let n_checked = &mut self.n_checked;
            let expansion = stepper.expand(row, |row| {
                let successor = store.insert(row)?;
                if wanted.transitions {
                    targets.push(successor);
                }
                if store.len() > *n_checked + *states_between_checks {
                    *n_checked = store.len();
                    budget.check_states(store.len() as u64)?;
                    budget.check_memory(store.bytes_soon(0))?;
                }
                Ok(())
            })?;
            if expansion.is_dead {
                self.found.dead.push(state);
                if wanted.stutter {
                    targets.push(state);
                }
            }
            if expansion.overflows {
                self.found.overflowing.push(state);
            }
            if let Some(edges) = &mut self.edges {
                edges.add_source(targets)?;
            }
            self.next += 1;
        }
        Ok(())
    }
}
