//! Search for edges from states or moves of a worker to states of any worker.
//!
//! The source of a transition is a state; in a game, the source of an edge is a move. The target is known
//! as a row, and the worker that keeps the row stores the edge.

use masque_verdict::{Budget, Stop, Why};

use crate::graph::{Edges, Graph, StateRef};
use crate::net::{Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};
use crate::store::{Store, owner};

/// Finds all edges between known states: `each` adds the edges that begin at a given state of this worker.
///
/// `held` is the number of bytes that the worker holds already; it counts for the memory limit.
pub(crate) fn find_edges(
    net: &mut Net,
    store: &Store,
    held: u64,
    each: impl FnMut(u32, &mut Sink<'_>) -> Result<(), Stop>,
) -> Result<Graph, Stop> {
    let budget = net.budget.clone();
    let (me, peers) = (net.index(), net.peers());
    let edges = Edges::default();
    let mut task =
        Finding { me, peers, store, edges, each, next: 0, n_done: 0, base: held, held: 0, budget: &budget };
    net.run_until_done(&mut task)?;
    let (edges, held) = (task.edges, task.base + task.held);
    budget.check_memory(held + edges.bytes() + edges.targets().len() as u64 * 8)?;
    edges.into_graph(store.len())
}

/// Receiver of the edges that are found.
pub(crate) struct Sink<'a> {
    me: usize,
    peers: usize,
    store: &'a Store,
    edges: &'a mut Edges,
    out: &'a mut Outbox,
    n_found: usize,
    held: &'a mut u64,
}

impl Sink<'_> {
    /// Adds an edge from a state or move of this worker, given by its index, to a row. An edge may be added
    /// twice.
    pub(crate) fn add(&mut self, source: u32, row: &[u64]) -> Result<(), Stop> {
        self.n_found += 1;
        match owner(row, self.peers) {
            to if to != self.me => {
                self.out.send_two(to, row, &[u64::from(source)]);
                Ok(())
            }
            me => keep(self.store, self.edges, StateRef::new(me, source), row),
        }
    }

    /// Sets the number of bytes that the sources of the edges take so far.
    pub(crate) fn set_source_bytes(&mut self, bytes: u64) {
        *self.held = bytes;
    }
}

fn keep(store: &Store, edges: &mut Edges, source: StateRef, row: &[u64]) -> Result<(), Stop> {
    // Every successor of a reachable state is reachable and was stored by its worker during exploration.
    edges.add(source, store.find(row).ok_or(Stop::from(Why::Unsupported))?);
    Ok(())
}

struct Finding<'a, F> {
    me: usize,
    peers: usize,
    store: &'a Store,
    edges: Edges,
    each: F,
    /// Index of the next state.
    next: usize,
    /// Number of states and edges processed in this round.
    n_done: usize,
    /// Number of bytes held before the search.
    base: u64,
    /// Number of bytes of the sources of edges, if these are moves.
    held: u64,
    budget: &'a Budget,
}

impl<F: FnMut(u32, &mut Sink<'_>) -> Result<(), Stop>> Task for Finding<'_, F> {
    fn begin(&mut self) {
        self.n_done = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let Finding { me, peers, store, edges, each, next, n_done, held, .. } = self;
        let until = STATES_PER_ROUND.min(*n_done + STATES_PER_STRIDE);
        let mut sink = Sink { me: *me, peers: *peers, store, edges, out, n_found: 0, held };
        while *next < store.len() && *n_done < until {
            each(*next as u32, &mut sink)?;
            *next += 1;
            *n_done += 1 + std::mem::take(&mut sink.n_found);
        }
        self.budget.check_memory(self.base + self.held + self.edges.bytes())?;
        Ok(self.next < self.store.len() && self.n_done < STATES_PER_ROUND)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.store.width();
        for record in words.chunks_exact(width + 1) {
            let source = StateRef::new(from, record[width] as u32);
            keep(self.store, &mut self.edges, source, &record[..width])?;
        }
        Ok(())
    }

    /// Number of states not yet processed.
    fn vote(&self) -> Vec<u64> {
        vec![(self.store.len() - self.next) as u64]
    }
}
