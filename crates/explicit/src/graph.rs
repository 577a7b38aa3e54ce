//! Transitions as adjacency lists.
//!
//! Exploration finds successors; the algorithms on the graph need only predecessors:
//! backward search uses them directly, the number of a state's successors inside a set is counted
//! through them, and strongly connected components are those of the reversed graph. So the
//! successors are reversed once and dropped.

use std::ops::Range;

use masque_verdict::{Budget, Stop, Why};

use crate::jobs::Jobs;

/// Successors, state by state.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    /// End of each source's targets in `targets`.
    ends: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// Adds the successors of the next state; each is kept once.
    pub(crate) fn add_source(&mut self, targets: &mut Vec<u32>) -> Result<(), Stop> {
        targets.sort_unstable();
        targets.dedup();
        self.targets.extend_from_slice(targets);
        self.ends.push(u32::try_from(self.targets.len()).map_err(|_| Stop::from(Why::Memory))?);
        Ok(())
    }

    /// Adds the successors of the next states, each once per state; `ends` has the end of each state's
    /// successors.
    pub(crate) fn add_sources(
        &mut self,
        targets: impl Iterator<Item = u32>,
        ends: &[u32],
    ) -> Result<(), Stop> {
        let begin = self.targets.len() as u32;
        self.targets.extend(targets);
        u32::try_from(self.targets.len()).map_err(|_| Stop::from(Why::Memory))?;
        self.ends.extend(ends.iter().map(|end| begin + end));
        Ok(())
    }

    /// Adds states without successors until there are `n_states`.
    pub(crate) fn pad(&mut self, n_states: usize) {
        let end = self.targets.len() as u32;
        self.ends.resize(n_states.max(self.ends.len()), end);
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.ends.capacity() + self.targets.capacity()) as u64 * 4
    }

    /// Creates the reversed graph. `base` is the number of bytes that are held elsewhere.
    ///
    /// This is a counting sort by target. Several threads read all transitions, each for the targets in
    /// a range of its own: reading is cheap, and no two threads write the same entry.
    pub(crate) fn into_graph(mut self, jobs: &Jobs, budget: &Budget, base: u64) -> Result<Graph, Stop> {
        self.ends.shrink_to_fit();
        self.targets.shrink_to_fit();
        let n_states = self.ends.len();
        budget.check_memory(base + self.bytes() * 2)?;
        let parts = jobs.parts(n_states);
        let mut begins = vec![0_u32; n_states + 1];
        let mut counts = split(&mut begins[1..], parts.iter().map(|part| part.len()));
        jobs.each(n_states, &mut counts, |part, counts| {
            for &target in &self.targets {
                if let Some(count) = counts.get_mut((target as usize).wrapping_sub(parts[part].start)) {
                    *count += 1;
                }
            }
            Ok(())
        })?;
        for state in 0..n_states {
            begins[state + 1] += begins[state];
        }
        let mut sources = vec![0_u32; self.targets.len()];
        let ranges: Vec<Range<u32>> = parts.iter().map(|part| begins[part.start]..begins[part.end]).collect();
        let slices = split(&mut sources, ranges.iter().map(|range| range.len()));
        let nexts = split(&mut begins, parts.iter().map(|part| part.len()));
        let mut pairs: Vec<_> = nexts.into_iter().zip(slices).collect();
        jobs.each(n_states, &mut pairs, |part, (nexts, sources)| {
            let mut begin = 0;
            for (source, &end) in (0..).zip(&self.ends) {
                for &target in &self.targets[begin as usize..end as usize] {
                    if let Some(next) = nexts.get_mut((target as usize).wrapping_sub(parts[part].start)) {
                        sources[(*next - ranges[part].start) as usize] = source;
                        *next += 1;
                    }
                }
                begin = end;
            }
            Ok(())
        })?;
        // Each begin is now the begin of the next state.
        begins.rotate_right(1);
        begins[0] = 0;
        Ok(Graph { begins, sources })
    }
}

/// Splits a slice into parts of these lengths.
fn split(mut slice: &mut [u32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [u32]> {
    let mut parts = Vec::new();
    for length in lengths {
        let (part, rest) = slice.split_at_mut(length);
        parts.push(part);
        slice = rest;
    }
    parts
}

/// Predecessors of every state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Start of each state's predecessors in `sources`, then the number of all.
    begins: Vec<u32>,
    sources: Vec<u32>,
}

impl Graph {
    /// Returns the predecessors of a state in increasing order, each once.
    #[inline]
    pub(crate) fn predecessors(&self, state: usize) -> &[u32] {
        &self.sources[self.begins[state] as usize..self.begins[state + 1] as usize]
    }

    pub(crate) fn n_states(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn n_edges(&self) -> usize {
        self.sources.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.begins.capacity() + self.sources.capacity()) as u64 * 4
    }
}

#[cfg(test)]
use std::num::NonZeroUsize;

#[cfg(test)]
impl Graph {
    /// Creates the graph with these transitions.
    pub(crate) fn of(n_states: usize, transitions: &[(u32, u32)]) -> Graph {
        let mut edges = Edges::default();
        for state in 0..n_states as u32 {
            let mut targets = transitions.iter().filter(|t| t.0 == state).map(|t| t.1).collect();
            edges.add_source(&mut targets).unwrap();
        }
        edges.into_graph(&Jobs::new(NonZeroUsize::new(1)), &Budget::unlimited(), 0).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reversal() {
        let graph = Graph::of(4, &[(0, 1), (0, 2), (2, 1), (1, 1), (0, 1)]);
        assert_eq!((graph.n_states(), graph.n_edges()), (4, 4));
        let predecessors: Vec<_> = (0..4).map(|s| graph.predecessors(s).to_vec()).collect();
        assert_eq!(predecessors, [vec![], vec![0, 1, 2], vec![0], vec![]]);
    }
}
