//! Reachability, breadth first.

use masque_model::{Deadlock, System};
use masque_verdict::{Budget, Found as Progress, Stop};

use crate::batch::Wanted;
use crate::crew::{Crew, Found};
use crate::graph::{Edges, Graph};
use crate::initial::each_initial_state;
use crate::jobs::Jobs;
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
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Space, Stop> {
    let store = Store::new(steps.layout.n_words);
    let mut search = Search::new(system, steps, store, with_graph, jobs, budget);
    let result = search.initial_states(system).and_then(|()| search.all_states());
    let Search { mut store, edges, .. } = search;
    match result {
        Ok((layers, nearest)) => {
            store.shrink();
            let [nearest_deadlocks, nearest_overflows] = nearest;
            let mut space = Space { store, layers, nearest_deadlocks, nearest_overflows, graph: None };
            space.graph = edges.map(|edges| edges.into_graph(jobs, budget, space.bytes())).transpose()?;
            Ok(space)
        }
        Err(stop) => Err(stop.after_states(store.len() as u64).with_bytes(store.bytes())),
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
    let n_states = space.n_states();
    let store = std::mem::replace(&mut space.store, Store::new(steps.layout.n_words));
    let mut search = Search::new(system, steps, store, true, jobs, budget);
    let result = search.expand_up_to(n_states);
    let Search { store, edges, .. } = search;
    space.store = store;
    result?;
    edges.unwrap_or_default().into_graph(jobs, budget, space.store.bytes())
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
    /// The layer of that state, while states are looked for.
    layer: u64,
    stepper: Stepper<'a>,
    /// Several threads, once there is enough to do.
    crew: Option<Crew<'a>>,
    /// The state being expanded, and its successors.
    state: Vec<u64>,
    targets: Vec<u32>,
    found: Found,
}

/// How often one thread looks at its limits, in states.
const PULSE: usize = 4096;

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
            layer: 0,
            stepper: Stepper::new(steps, budget),
            crew: None,
            state: Vec::new(),
            targets: Vec::new(),
            found: Found::default(),
        }
    }

    fn limits(&mut self) -> Result<(), Stop> {
        self.checked = self.next;
        let (states, layer) = (self.store.len() as u64, self.layer);
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
            if number % 4096 == 4095 { self.limits() } else { Ok(()) }
        })
    }

    /// Expands all states: tells where layers begin, and the nearest states without successors and
    /// with overflows.
    fn all_states(&mut self) -> Result<(Vec<u32>, [Vec<u32>; 2]), Stop> {
        let mut layers = vec![0, self.store.len() as u32];
        let mut nearest = [Vec::new(), Vec::new()];
        while self.next < self.store.len() {
            let end = self.store.len();
            if self.next != 0 {
                layers.push(end as u32);
            }
            self.layer = layers.len() as u64 - 2;
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
        Ok((layers, nearest))
    }

    /// Expands states, by one thread or by several.
    fn expand_up_to(&mut self, end: usize) -> Result<(), Stop> {
        while self.next < end {
            if end - self.next >= self.jobs.grain.least && self.call_crew() {
                self.expand_together(end)?;
                self.limits()?;
            } else {
                // Layers may be thin and many: what counts is how many states have been expanded.
                self.expand_alone(end.min(self.checked + PULSE))?;
                if self.next >= self.checked + PULSE {
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
            let Search { store, state, stepper, targets, wanted, budget, .. } = self;
            state.clear();
            state.extend_from_slice(store.row(number as usize));
            targets.clear();
            let mut n_before = store.len();
            let expansion = stepper.expand(state, |row| {
                let successor = store.insert(row)?;
                if wanted.transitions {
                    targets.push(successor);
                }
                if store.len() > n_before + PULSE {
                    n_before = store.len();
                    budget.check_states(n_before as u64)?;
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
