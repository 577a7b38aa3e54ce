//! Backward search along edges, over all workers.
//!
//! When the source of an edge is kept by another worker, its index is sent there. Within a round each
//! worker follows the edges between its own states; a search ends with a round in which no worker has
//! sent anything.

use masque_explicit::parts::Bitset;
use masque_verdict::Stop;

use crate::graph::Graph;
use crate::net::{Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};

/// Calls `found` for the source of each edge into a state of a set, at the worker that keeps the source.
pub(crate) fn each_source(
    net: &mut Net,
    graph: &Graph,
    states: &Bitset,
    found: impl FnMut(usize),
) -> Result<(), Stop> {
    let me = net.index();
    net.run_until_done(&mut EachSource { graph, states, found, me, next: 0, until: 0 })
}

/// Searches backwards from `seeds`: `take` is called for the source of each edge into a visited vertex, at
/// the worker that keeps the source, and pushes the vertices to visit next.
pub(crate) fn backwards<N: Vertex>(
    net: &mut Net,
    graph: &Graph,
    seeds: impl Iterator<Item = N>,
    take: impl FnMut(N, &mut Vec<N>),
) -> Result<(), Stop> {
    let me = net.index();
    net.run_until_quiet(&mut Backwards {
        graph,
        seeds,
        has_seeds: true,
        open: Vec::new(),
        take,
        me,
        n_looked: 0,
    })
}

/// A vertex of a search: a state, and perhaps a further component such as a state of an automaton.
pub(crate) trait Vertex: Copy {
    /// Returns the index of the state.
    fn state(self) -> u32;

    /// Returns the source of an edge into the state, given its index, with the same further component.
    fn source(self, index: u32) -> Self;

    /// Encodes the vertex for a message.
    fn word(self) -> u64;

    /// Decodes a vertex from a message.
    fn from_word(word: u64) -> Self;
}

impl Vertex for u32 {
    fn state(self) -> u32 {
        self
    }

    fn source(self, index: u32) -> u32 {
        index
    }

    fn word(self) -> u64 {
        u64::from(self)
    }

    fn from_word(word: u64) -> u32 {
        word as u32
    }
}

/// Finds the predecessors of a set.
struct EachSource<'a, F> {
    graph: &'a Graph,
    states: &'a Bitset,
    found: F,
    me: usize,
    next: usize,
    until: usize,
}

impl<F: FnMut(usize)> Task for EachSource<'_, F> {
    fn begin(&mut self) {
        self.until = self.graph.n_states().min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STATES_PER_STRIDE);
        for state in (self.next..end).filter(|&state| self.states.contains(state)) {
            for source in self.graph.predecessors(state) {
                if source.worker() == self.me {
                    (self.found)(source.index() as usize);
                } else {
                    out.send(source.worker(), &[u64::from(source.index())]);
                }
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.iter().for_each(|&index| (self.found)(index as usize));
        Ok(())
    }

    /// Number of states not yet processed.
    fn vote(&self) -> Vec<u64> {
        vec![(self.graph.n_states() - self.next) as u64]
    }
}

/// A backward search.
struct Backwards<'a, N, I, F> {
    graph: &'a Graph,
    seeds: I,
    /// Whether `seeds` may yield more.
    has_seeds: bool,
    open: Vec<N>,
    take: F,
    me: usize,
    /// Number of vertices visited in this round.
    n_looked: usize,
}

impl<N: Vertex, I: Iterator<Item = N>, F: FnMut(N, &mut Vec<N>)> Task for Backwards<'_, N, I, F> {
    fn begin(&mut self) {
        self.n_looked = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        if self.n_looked >= STATES_PER_ROUND {
            return Ok(false);
        }
        for _ in 0..STATES_PER_STRIDE {
            let Some(vertex) = self.open.pop().or_else(|| self.seeds.next()) else {
                self.has_seeds = false;
                return Ok(false);
            };
            self.n_looked += 1;
            for state in self.graph.predecessors(vertex.state() as usize) {
                let source = vertex.source(state.index());
                if state.worker() != self.me {
                    out.send(state.worker(), &[source.word()]);
                } else {
                    (self.take)(source, &mut self.open);
                }
            }
        }
        Ok(true)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.iter().for_each(|&word| (self.take)(N::from_word(word), &mut self.open));
        Ok(())
    }

    /// Nonzero if there may be vertices left to visit.
    fn vote(&self) -> Vec<u64> {
        vec![self.open.len() as u64 + u64::from(self.has_seeds)]
    }
}
