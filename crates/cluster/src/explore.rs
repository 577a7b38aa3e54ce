//! Reachability: layer by layer, all workers together.
//!
//! Each state is kept by one worker, which is computed from its row ([`owner`]). A worker expands the
//! states it keeps; successors that others keep are sent to them as rows. All expand the same layer, so
//! the states of a layer have consecutive indices at each worker, distances are exact, and between
//! rounds no message is in flight that a checkpoint would have to hold.

use masque_explicit::parts::{Machine, Successors};
use masque_model::{Deadlock, System};
use masque_verdict::{Budget, Found, Stop, Why};

use crate::edges::find_edges;
use crate::graph::{Edges, Graph, StateRef};
use crate::net::{Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};
use crate::store::{Store, owner};

/// The reachable states that a worker keeps, numbered breadth first.
pub(crate) struct Space {
    pub(crate) store: Store,
    /// First state of each layer, then the number of states. All workers have the same number of layers.
    pub(crate) layers: Vec<u32>,
    /// The states without successors in this worker's first layer that has such states.
    pub(crate) nearest_deadlocks: Vec<u32>,
    /// The states where some choice overflows in this worker's first layer that has such states.
    pub(crate) nearest_overflows: Vec<u32>,
    /// The transitions, if they are stored.
    pub(crate) graph: Option<Graph>,
    /// Number of states at all workers.
    pub(crate) n_everywhere: u64,
    /// Position of the exploration, unless it is complete.
    pub(crate) frontier: Option<Frontier>,
}

/// Progress of an exploration between two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Within a layer.
    InLayer,
    /// At the end of a layer: all states of the next layer are known.
    EndOfLayer,
    /// All reachable states are known.
    Complete,
}

/// Position of an exploration between two rounds.
#[derive(Debug)]
pub(crate) struct Frontier {
    /// Next state to expand; it is in the last layer.
    pub(crate) next: u32,
    /// The transitions found so far, if they are stored.
    pub(crate) edges: Option<Edges>,
}

impl Space {
    /// Creates a space without states.
    pub(crate) fn empty(width: usize) -> Space {
        Space {
            store: Store::new(width),
            layers: vec![0, 0],
            nearest_deadlocks: Vec::new(),
            nearest_overflows: Vec::new(),
            graph: None,
            n_everywhere: 0,
            frontier: None,
        }
    }

    pub(crate) fn n_states(&self) -> usize {
        self.store.len()
    }

    /// Returns the number of initial states kept here.
    pub(crate) fn n_initial(&self) -> usize {
        self.layers[1] as usize
    }

    /// Returns the layer of a state: its distance from the initial states.
    pub(crate) fn layer_of(&self, state: u32) -> usize {
        self.layers.partition_point(|&begin| begin <= state) - 1
    }

    /// Returns the states of a layer.
    pub(crate) fn layer(&self, layer: usize) -> std::ops::Range<usize> {
        let begin = |layer: usize| self.layers.get(layer).map_or(self.n_states(), |&n| n as usize);
        begin(layer)..begin(layer + 1)
    }

    pub(crate) fn bytes(&self) -> u64 {
        let edges = self.frontier.as_ref().and_then(|frontier| frontier.edges.as_ref());
        self.store.bytes() + self.graph.as_ref().map_or(0, Graph::bytes) + edges.map_or(0, Edges::bytes)
    }

    /// Creates the space of the initial states that this worker keeps.
    ///
    /// Every worker enumerates all initial states and keeps its own, which needs no message.
    pub(crate) fn initial(net: &Net, machine: &Machine<'_>, with_graph: bool) -> Result<Space, Stop> {
        let mut space = Space::empty(machine.width());
        let (me, peers, budget) = (net.index(), net.peers(), &net.budget);
        machine.each_initial_state(budget, |row| {
            space.n_everywhere += 1;
            if owner(row, peers) == me {
                let state = space.store.insert(row)?;
                if state % 4096 == 4095 {
                    budget.check_memory(space.store.bytes_soon())?;
                }
            }
            Ok(())
        })?;
        space.layers[1] = space.n_states() as u32;
        space.frontier = Some(Frontier { next: 0, edges: with_graph.then(Edges::default) });
        Ok(space)
    }
}

/// Computes `G`, the least set of states with `I ⊆ G` that is closed under `→`.
///
/// `between` is called between rounds, when no message is in flight, and returns whether to continue; an
/// exploration that was stopped there, and stored, can be resumed from the stored space. Returns whether
/// all states are found.
pub(crate) fn explore(
    net: &mut Net,
    system: &System,
    machine: &Machine<'_>,
    space: &mut Space,
    max_states: Option<u64>,
    between: &mut dyn FnMut(&mut Net, &Space, Progress) -> Result<bool, Stop>,
) -> Result<bool, Stop> {
    let Some(Frontier { next, edges }) = space.frontier.take() else { return Ok(true) };
    let budget = net.budget.clone();
    let mut task = Expanding::new(net, system, machine, space, edges, &budget);
    task.next = next as usize;
    task.end = task.space.n_states().min(task.space.layers.last().map_or(0, |&end| end as usize));
    loop {
        let votes = net.round(&mut task)?;
        let (left, in_layer) = (votes.sum(0), votes.sum(1));
        task.space.n_everywhere = votes.sum(2);
        let (states, layer) = (task.space.n_everywhere, task.space.layers.len() as u64 - 2);
        budget.meter().found(Found { states, layer, workers: net.peers() as u64 });
        if max_states.is_some_and(|most| task.space.n_everywhere > most) {
            return Err(Stop::from(Why::States).after_states(task.space.n_everywhere));
        }
        let is_complete = in_layer == 0;
        if left == 0 && !is_complete {
            task.end = task.space.n_states();
            task.space.layers.push(task.end as u32);
        }
        task.space.frontier = Some(Frontier { next: task.next as u32, edges: task.edges.take() });
        let progress = match (is_complete, left) {
            (true, _) => Progress::Complete,
            (false, 0) => Progress::EndOfLayer,
            (false, _) => Progress::InLayer,
        };
        if !between(net, task.space, progress)? && !is_complete {
            return Ok(false);
        }
        task.edges = task.space.frontier.take().and_then(|frontier| frontier.edges);
        if is_complete {
            break;
        }
    }
    let edges = task.edges.take();
    finish(net, space, edges)?;
    Ok(true)
}

/// Removes the last layer, which is empty at all workers, and sorts the transitions.
fn finish(net: &Net, space: &mut Space, edges: Option<Edges>) -> Result<(), Stop> {
    if space.layers.len() > 2 {
        space.layers.pop();
    }
    space.graph = match edges {
        None => None,
        Some(edges) => {
            let n_edges = edges.targets().len() as u64;
            net.budget.check_memory(space.bytes() + edges.bytes() + n_edges * 8)?;
            Some(edges.into_graph(space.n_states())?)
        }
    };
    Ok(())
}

/// Finds the transitions between states that are already explored.
pub(crate) fn transitions(
    net: &mut Net,
    system: &System,
    machine: &Machine<'_>,
    space: &Space,
) -> Result<Graph, Stop> {
    let budget = net.budget.clone();
    let mut successors = machine.successors(&budget);
    let stutters = system.meaning.deadlock == Deadlock::Stutter;
    find_edges(net, &space.store, space.bytes(), |state, sink| {
        let row = space.store.row(state as usize);
        let expansion = successors.expand(row, |next| sink.add(state, next))?;
        if expansion.is_dead && stutters { sink.add(state, row) } else { Ok(()) }
    })
}

/// Expands the states of a layer and stores the states that other workers send.
struct Expanding<'a> {
    me: usize,
    peers: usize,
    successors: Successors<'a>,
    stutters: bool,
    space: &'a mut Space,
    edges: Option<Edges>,
    budget: &'a Budget,
    /// Next state to expand.
    next: usize,
    /// End of this round's states.
    until: usize,
    /// End of the layer.
    end: usize,
    /// Row of the state that is being expanded.
    row: Vec<u64>,
}

impl<'a> Expanding<'a> {
    fn new(
        net: &Net,
        system: &System,
        machine: &'a Machine<'_>,
        space: &'a mut Space,
        edges: Option<Edges>,
        budget: &'a Budget,
    ) -> Expanding<'a> {
        Expanding {
            me: net.index(),
            peers: net.peers(),
            successors: machine.successors(budget),
            stutters: system.meaning.deadlock == Deadlock::Stutter,
            space,
            edges,
            budget,
            next: 0,
            until: 0,
            end: 0,
            row: Vec::new(),
        }
    }

    /// Expands the next state.
    fn expand(&mut self, out: &mut Outbox) -> Result<(), Stop> {
        let state = self.next as u32;
        let Expanding { me, peers, space, edges, row, .. } = self;
        row.clear();
        row.extend_from_slice(space.store.row(state as usize));
        let source = StateRef::new(*me, state);
        let expansion = self.successors.expand(row, |next| {
            let to = owner(next, *peers);
            match edges {
                Some(edges) if to == *me => edges.add(source, space.store.insert(next)?),
                None if to == *me => _ = space.store.insert(next)?,
                Some(_) => out.send_two(to, next, &[u64::from(state)]),
                None => out.send(to, next),
            }
            Ok(())
        })?;
        let layer = self.space.layers.len();
        if expansion.is_dead {
            keep_if_nearest(&mut self.space.nearest_deadlocks, &self.space.layers, state, layer);
            if self.stutters
                && let Some(edges) = &mut self.edges
            {
                edges.add(source, state);
            }
        }
        if expansion.overflows {
            keep_if_nearest(&mut self.space.nearest_overflows, &self.space.layers, state, layer);
        }
        self.next += 1;
        Ok(())
    }

    fn check_memory(&self) -> Result<(), Stop> {
        let edges = self.edges.as_ref().map_or(0, Edges::bytes);
        self.budget.check_memory(self.space.store.bytes_soon() + edges)
    }
}

/// Adds a state of the current layer unless `kept` has one of an earlier layer.
fn keep_if_nearest(kept: &mut Vec<u32>, layers: &[u32], state: u32, n_layers: usize) {
    let current = layers[n_layers - 2];
    if kept.first().is_none_or(|&first| first >= current) {
        kept.push(state);
    }
}

impl Task for Expanding<'_> {
    fn begin(&mut self) {
        self.until = self.end.min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let until = self.until.min(self.next + STATES_PER_STRIDE);
        while self.next < until {
            self.expand(out)?;
        }
        self.check_memory()?;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.space.store.width();
        match &mut self.edges {
            None => {
                for row in words.chunks_exact(width) {
                    self.space.store.insert(row)?;
                }
            }
            Some(edges) => {
                for record in words.chunks_exact(width + 1) {
                    let target = self.space.store.insert(&record[..width])?;
                    edges.add(StateRef::new(from, record[width] as u32), target);
                }
            }
        }
        Ok(())
    }

    /// Number of states left in the layer, of states in it, and of all states so far.
    fn vote(&self) -> Vec<u64> {
        let layers = &self.space.layers;
        let begin = layers[layers.len() - 2] as usize;
        vec![(self.end - self.next) as u64, (self.end - begin) as u64, self.space.n_states() as u64]
    }
}
