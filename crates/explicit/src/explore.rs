//! Reachability, breadth first.

use masque_model::{Deadlock, System};
use std::rc::Rc;

use masque_verdict::{Budget, Found as Progress, Stop};

use crate::batch::Wanted;
use crate::crew::{Crew, Found};
use crate::early::Watch;
use crate::graph::{Edges, Graph};
use crate::initial::each_initial_state;
use crate::jobs::Jobs;
use crate::steps::Steps;
use crate::store::Store;
use crate::successors::Stepper;

/// The reachable states, numbered breadth first: the initial ones first, then layer by layer; all of
/// them, or those of the first layers.
pub(crate) struct Space {
    pub(crate) store: Store,
    /// Where each layer begins, and at last the number of states.
    pub(crate) layers: Vec<u32>,
    /// The successors of so many states, from the first, are all here.
    pub(crate) n_expanded: usize,
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

    /// Whether there may be more states than these.
    pub(crate) fn is_part(&self) -> bool {
        self.n_expanded < self.n_states()
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
    watch: &mut Watch<'_, '_, '_>,
    with_graph: bool,
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Space, Stop> {
    let (system, steps) = (watch.system, Rc::clone(&watch.steps));
    let store = Store::new(steps.layout.n_words);
    let mut search = Search::new(system, &steps, store, with_graph, jobs, budget);
    let result = search.initial_states(system).and_then(|()| search.all_states(watch));
    let Search { mut store, layers, edges, .. } = search;
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
            watch.stopped(&store, &layers, budget);
            Err(stop.after_states(store.len() as u64).with_bytes(store.bytes()))
        }
    }
}

/// The transitions between states that are already explored; the store comes back as it was.
pub(crate) fn transitions(
    space: &mut Space,
    system: &System,
    steps: &Steps<'_>,
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Graph, Stop> {
    let (n_states, n_expanded) = (space.n_states(), space.n_expanded);
    let store = std::mem::replace(&mut space.store, Store::new(steps.layout.n_words));
    let mut search = Search::new(system, steps, store, true, jobs, budget);
    let result = search.expand_up_to(n_expanded);
    let Search { store, edges, .. } = search;
    space.store = store;
    result?;
    let mut edges = edges.unwrap_or_default();
    edges.pad(n_states);
    edges.into_graph(jobs, budget, space.store.bytes())
}

/// States that are being expanded, in the order of their numbers.
struct Search<'a> {
    steps: &'a Steps<'a>,
    jobs: &'a Jobs,
    budget: &'a Budget,
    wanted: Wanted,
    store: Store,
    edges: Option<Edges>,
    /// The first state that is not yet expanded, now and when limits were last looked at.
    next: usize,
    checked: usize,
    /// How many states there were when their number was last looked at.
    n_checked: usize,
    pulse: usize,
    /// Where each layer begins, up to the one being expanded, and where that ends.
    layers: Vec<u32>,
    stepper: Stepper<'a>,
    /// Several threads, once there is enough to do.
    crew: Option<Crew<'a>>,
    /// The state being expanded, and its successors.
    state: Vec<u64>,
    targets: Vec<u32>,
    found: Found,
}

/// How often one thread looks at its limits, in states; more often if few states are allowed.
const PULSE: usize = 4096;
const SHORTEST_PULSE: usize = 256;

impl<'a> Search<'a> {
    fn new(
        system: &System,
        steps: &'a Steps<'a>,
        store: Store,
        with_graph: bool,
        jobs: &'a Jobs,
        budget: &'a Budget,
    ) -> Search<'a> {
        let stutter = system.meaning.deadlock == Deadlock::Stutter;
        Search {
            steps,
            jobs,
            budget,
            wanted: Wanted { transitions: with_graph, stutter },
            store,
            edges: with_graph.then(Edges::default),
            next: 0,
            checked: 0,
            n_checked: 0,
            pulse: budget.states().map_or(PULSE, |most| (most as usize).clamp(SHORTEST_PULSE, PULSE)),
            layers: Vec::new(),
            stepper: Stepper::new(steps, budget),
            crew: None,
            state: Vec::new(),
            targets: Vec::new(),
            found: Found::default(),
        }
    }

    fn limits(&mut self) -> Result<(), Stop> {
        self.checked = self.next;
        let (states, layer) = (self.store.len() as u64, self.layers.len().saturating_sub(2) as u64);
        self.budget.meter().found(Progress { states, layer, workers: 1 });
        self.budget.check()?;
        self.budget.check_states(self.store.len() as u64)?;
        let edges = self.edges.as_ref().map_or(0, Edges::bytes);
        self.budget.check_memory(self.store.bytes_soon(0) + edges)
    }

    fn initial_states(&mut self, system: &System) -> Result<(), Stop> {
        let Search { steps, budget, .. } = *self;
        each_initial_state(system, &steps.layout, budget, |row| {
            let number = self.store.insert(row)?;
            if (number as usize + 1).is_multiple_of(self.pulse) { self.limits() } else { Ok(()) }
        })
    }

    /// Expands all states: tells the nearest ones without successors and with overflows.
    fn all_states(&mut self, watch: &mut Watch<'_, '_, '_>) -> Result<[Vec<u32>; 2], Stop> {
        self.layers = vec![0, self.store.len() as u32];
        let mut nearest = [Vec::new(), Vec::new()];
        while self.next < self.store.len() {
            let end = self.store.len();
            if self.next != 0 {
                self.layers.push(end as u32);
            }
            self.budget.check_states(end as u64)?;
            watch.layer(&self.store, &self.layers, self.budget)?;
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
        self.limits()?;
        watch.all(&self.store, &self.layers, self.budget)?;
        Ok(nearest)
    }

    /// Expands states, by one thread or by several.
    fn expand_up_to(&mut self, end: usize) -> Result<(), Stop> {
        while self.next < end {
            if end - self.next >= self.jobs.grain.least && self.call_crew() {
                self.expand_together(end)?;
                self.limits()?;
            } else {
                // Layers may be thin and many: what counts is how many states have been expanded.
                self.expand_alone(end.min(self.checked + self.pulse))?;
                if self.next >= self.checked + self.pulse {
                    self.limits()?;
                }
            }
        }
        Ok(())
    }

    /// Makes sure that there is a crew; false if there cannot be one.
    fn call_crew(&mut self) -> bool {
        if self.crew.is_none() {
            self.crew = Crew::new(self.jobs, self.steps, self.wanted, self.budget);
            if self.crew.is_some() {
                self.store.split(self.jobs.n_threads());
            }
        }
        self.crew.is_some()
    }

    fn expand_together(&mut self, end: usize) -> Result<(), Stop> {
        let Some(crew) = &mut self.crew else { return Ok(()) };
        let states = self.next as u32..end as u32;
        self.next = crew.expand(states, &mut self.store, &mut self.edges, &mut self.found)? as usize;
        Ok(())
    }

    fn expand_alone(&mut self, end: usize) -> Result<(), Stop> {
        while self.next < end {
            let number = self.next as u32;
            let Search { store, state, stepper, targets, wanted, budget, pulse, .. } = self;
            state.clear();
            state.extend_from_slice(store.row(number as usize));
            targets.clear();
            let n_checked = &mut self.n_checked;
            let expansion = stepper.expand(state, |row| {
                let successor = store.insert(row)?;
                if wanted.transitions {
                    targets.push(successor);
                }
                if store.len() > *n_checked + *pulse {
                    *n_checked = store.len();
                    budget.check_states(store.len() as u64)?;
                    budget.check_memory(store.bytes_soon(0))?;
                }
                Ok(())
            })?;
            if expansion.is_dead {
                self.found.dead.push(number);
                if wanted.stutter {
                    targets.push(number);
                }
            }
            if expansion.overflows {
                self.found.overflowing.push(number);
            }
            if let Some(edges) = &mut self.edges {
                edges.add_source(targets)?;
            }
            self.next += 1;
        }
        Ok(())
    }
}
