//! Transitions, stored at their target: the predecessors of each state, at any worker.

use masque_verdict::{Stop, Why};

/// A state (or, in a game, a move) of any worker: the worker in the high half, the index of the state at
/// that worker in the low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateRef(pub(crate) u64);

impl StateRef {
    pub(crate) fn new(worker: usize, index: u32) -> StateRef {
        StateRef((worker as u64) << 32 | u64::from(index))
    }

    pub(crate) fn worker(self) -> usize {
        (self.0 >> 32) as usize
    }

    pub(crate) fn index(self) -> u32 {
        self.0 as u32
    }
}

/// Transitions in the order in which they are found.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    targets: Vec<u32>,
    sources: Vec<u64>,
}

impl Edges {
    /// Adds a transition. A transition may be added twice.
    #[inline]
    pub(crate) fn add(&mut self, source: StateRef, target: u32) {
        self.targets.push(target);
        self.sources.push(source.0);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.targets.capacity() as u64 * 4 + self.sources.capacity() as u64 * 8
    }

    pub(crate) fn targets(&self) -> &[u32] {
        &self.targets
    }

    pub(crate) fn sources(&self) -> &[u64] {
        &self.sources
    }

    /// Creates transitions from their targets and sources; `None` unless these are equally many and every
    /// target is below `n_states`.
    pub(crate) fn from_parts(targets: Vec<u32>, sources: Vec<u64>, n_states: usize) -> Option<Edges> {
        let is_sound = targets.len() == sources.len() && targets.iter().all(|&t| (t as usize) < n_states);
        is_sound.then_some(Edges { targets, sources })
    }

    /// Creates the graph of `n_states` states: sorted by target, each transition once.
    pub(crate) fn into_graph(self, n_states: usize) -> Result<Graph, Stop> {
        u32::try_from(self.targets.len()).map_err(|_| Stop::from(Why::Memory))?;
        let mut begins = vec![0_u32; n_states + 1];
        for &target in &self.targets {
            begins[target as usize + 1] += 1;
        }
        for state in 0..n_states {
            begins[state + 1] += begins[state];
        }
        let mut sorted = vec![0_u64; self.sources.len()];
        for (&target, &source) in self.targets.iter().zip(&self.sources) {
            let begin = &mut begins[target as usize];
            sorted[*begin as usize] = source;
            *begin += 1;
        }
        drop(self);
        // Each begin is now the end of the state's sources.
        let (mut read, mut written) = (0, 0);
        for end in &mut begins[..n_states] {
            let first = written;
            sorted[read..*end as usize].sort_unstable();
            while read < *end as usize {
                if written == first || sorted[written - 1] != sorted[read] {
                    sorted[written] = sorted[read];
                    written += 1;
                }
                read += 1;
            }
            *end = written as u32;
        }
        sorted.truncate(written);
        sorted.shrink_to_fit();
        begins.rotate_right(1);
        begins[0] = 0;
        Ok(Graph { begins, sources: sorted })
    }
}

/// Predecessors of every state of a worker.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Start of each state's predecessors in `sources`, then the number of all.
    pub(crate) begins: Vec<u32>,
    pub(crate) sources: Vec<u64>,
}

impl Graph {
    /// Returns the predecessors of a state in increasing order, each once.
    #[inline]
    pub(crate) fn predecessors(&self, state: usize) -> impl Iterator<Item = StateRef> + '_ {
        self.sources[self.begins[state] as usize..self.begins[state + 1] as usize]
            .iter()
            .copied()
            .map(StateRef)
    }

    pub(crate) fn n_states(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn n_edges(&self) -> usize {
        self.sources.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.begins.capacity() as u64 * 4 + self.sources.capacity() as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_sorted_by_target_and_kept_once() {
        let mut edges = Edges::default();
        for (worker, source, target) in
            [(1, 7, 1), (0, 7, 1), (1, 7, 1), (2, 0, 0), (0, 3, 3), (0, 3, 3), (0, 4, 3)]
        {
            edges.add(StateRef::new(worker, source), target);
        }
        let graph = edges.into_graph(4).unwrap();
        let sources = |state| {
            let sources = graph.predecessors(state);
            sources.map(|source| (source.worker(), source.index())).collect::<Vec<_>>()
        };
        assert_eq!(sources(0), [(2, 0)]);
        assert_eq!(sources(1), [(0, 7), (1, 7)]);
        assert_eq!(sources(2), []);
        assert_eq!(sources(3), [(0, 3), (0, 4)]);
        assert_eq!(graph.n_edges(), 5);
    }
}
