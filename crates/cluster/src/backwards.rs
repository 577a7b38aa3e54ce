//! Walking edges backwards, over all workers.
//!
//! What leads to a state of mine from something of yours is sent to you as its number. Each worker
//! follows what it can by itself; a round ends where all must hear from others, and a search ends with
//! a round in which nobody has sent anything.

use masque_explicit::parts::Bitset;
use masque_verdict::Stop;

use crate::graph::Graph;
use crate::net::{Net, Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};

/// Calls `found`, where it is kept, for the source of each edge into a state of a set.
pub(crate) fn each_source(
    net: &mut Net,
    graph: &Graph,
    states: &Bitset,
    found: impl FnMut(usize),
) -> Result<(), Stop> {
    let me = net.index();
    net.work_off(&mut EachSource { graph, states, found, me, next: 0, until: 0 })
}

/// Searches backwards from seeds: `take` is called, where it is kept, for the source of each edge
/// into a node that is gone on from, and adds the nodes to go on from next.
pub(crate) fn backwards<N: Node>(
    net: &mut Net,
    graph: &Graph,
    seeds: impl Iterator<Item = N>,
    take: impl FnMut(N, &mut Vec<N>),
) -> Result<(), Stop> {
    let me = net.index();
    net.run(&mut Backwards { graph, seeds, has_seeds: true, open: Vec::new(), take, me, n_looked: 0 })
}

/// What a search goes on from: a state, and perhaps what it is there for.
pub(crate) trait Node: Copy {
    /// The state.
    fn state(self) -> u32;

    /// The source of an edge into the state, given by its number; there for the same.
    fn source(self, number: u32) -> Self;

    /// As it travels.
    fn word(self) -> u64;

    fn from_word(word: u64) -> Self;
}

impl Node for u32 {
    fn state(self) -> u32 {
        self
    }

    fn source(self, number: u32) -> u32 {
        number
    }

    fn word(self) -> u64 {
        u64::from(self)
    }

    fn from_word(word: u64) -> u32 {
        word as u32
    }
}

/// One step back from a set.
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
                    (self.found)(source.number() as usize);
                } else {
                    out.send(source.worker(), &[u64::from(source.number())]);
                }
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.iter().for_each(|&number| (self.found)(number as usize));
        Ok(())
    }

    /// The states not looked at yet.
    fn vote(&self) -> Vec<u64> {
        vec![(self.graph.n_states() - self.next) as u64]
    }
}

/// A search backwards.
struct Backwards<'a, N, I, F> {
    graph: &'a Graph,
    seeds: I,
    /// Whether there may be more of them.
    has_seeds: bool,
    open: Vec<N>,
    take: F,
    me: usize,
    /// In this round.
    n_looked: usize,
}

impl<N: Node, I: Iterator<Item = N>, F: FnMut(N, &mut Vec<N>)> Task for Backwards<'_, N, I, F> {
    fn begin(&mut self) {
        self.n_looked = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        if self.n_looked >= STATES_PER_ROUND {
            return Ok(false);
        }
        for _ in 0..STATES_PER_STRIDE {
            let Some(node) = self.open.pop().or_else(|| self.seeds.next()) else {
                self.has_seeds = false;
                return Ok(false);
            };
            self.n_looked += 1;
            for place in self.graph.predecessors(node.state() as usize) {
                let source = node.source(place.number());
                if place.worker() != self.me {
                    out.send(place.worker(), &[source.word()]);
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

    /// Whether there may be something to go on from.
    fn vote(&self) -> Vec<u64> {
        vec![self.open.len() as u64 + u64::from(self.has_seeds)]
    }
}
