//! Finding edges: from what a worker keeps to states, wherever these are kept.
//!
//! A transition comes from a state; in a game, an edge comes from a move. Where an edge leads is
//! known as a row, and the one that keeps the row stores the edge.

use masque_verdict::{Budget, Stop, Why};

use crate::graph::{Edges, Graph, Place};
use crate::net::{Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};
use crate::store::{Store, owner};

/// All edges between known states: `each` adds those that begin at a state of this worker.
///
/// So many bytes are held besides.
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
    net.work_off(&mut task)?;
    let (edges, held) = (task.edges, task.base + task.held);
    budget.check_memory(held + edges.bytes() + edges.targets().len() as u64 * 8)?;
    edges.into_graph(store.len())
}

/// Takes edges as they are found.
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
    /// Adds an edge from something of this worker's, by number, to a row; one may be added twice.
    pub(crate) fn add(&mut self, source: u32, row: &[u64]) -> Result<(), Stop> {
        self.n_found += 1;
        match owner(row, self.peers) {
            to if to != self.me => {
                self.out.send_two(to, row, &[u64::from(source)]);
                Ok(())
            }
            me => keep(self.store, self.edges, Place::new(me, source), row),
        }
    }

    /// Tells how many bytes the edges' sources take so far.
    pub(crate) fn holds(&mut self, bytes: u64) {
        *self.held = bytes;
    }
}

fn keep(store: &Store, edges: &mut Edges, source: Place, row: &[u64]) -> Result<(), Stop> {
    // Every successor of a reachable state is one, and is known to the one that keeps it.
    edges.add(source, store.find(row).ok_or(Stop::from(Why::Unsupported))?);
    Ok(())
}

struct Finding<'a, F> {
    me: usize,
    peers: usize,
    store: &'a Store,
    edges: Edges,
    each: F,
    /// The state to look at next.
    next: usize,
    /// States and edges looked at in this round.
    n_done: usize,
    /// The bytes held when it began.
    base: u64,
    /// The bytes of what the edges come from, as far as they are not states.
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
            let source = Place::new(from, record[width] as u32);
            keep(self.store, &mut self.edges, source, &record[..width])?;
        }
        Ok(())
    }

    /// The states not looked at yet.
    fn vote(&self) -> Vec<u64> {
        vec![(self.store.len() - self.next) as u64]
    }
}
