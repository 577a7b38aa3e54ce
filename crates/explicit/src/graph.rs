//! Transitions in compressed rows.
//!
//! Exploration finds successors; the algorithms on the graph want predecessors, and nothing else:
//! backward search needs them by nature, the number of a state's successors inside a set is counted
//! through them, and strongly connected components are those of the reversed graph. So the
//! successors are reversed once and dropped.

use masque_verdict::{Budget, Stop, Why};

/// Successors, as they are found: state by state.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    /// Where each source's targets end.
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

    pub(crate) fn bytes(&self) -> u64 {
        (self.ends.capacity() + self.targets.capacity()) as u64 * 4
    }

    /// The reversed graph; `base` bytes are held besides.
    pub(crate) fn into_graph(mut self, budget: &Budget, base: u64) -> Result<Graph, Stop> {
        self.ends.shrink_to_fit();
        self.targets.shrink_to_fit();
        let n_states = self.ends.len();
        budget.check_memory(base + self.bytes() * 2)?;
        let mut begins = vec![0_u32; n_states + 1];
        for &target in &self.targets {
            begins[target as usize + 1] += 1;
        }
        for state in 0..n_states {
            begins[state + 1] += begins[state];
        }
        let mut sources = vec![0_u32; self.targets.len()];
        let mut begin = 0;
        for (source, &end) in (0..).zip(&self.ends) {
            for &target in &self.targets[begin as usize..end as usize] {
                let place = &mut begins[target as usize];
                sources[*place as usize] = source;
                *place += 1;
            }
            begin = end;
        }
        // Each begin has moved to the next one's place.
        begins.rotate_right(1);
        begins[0] = 0;
        Ok(Graph { begins, sources })
    }
}

/// Predecessors of every state.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Where each state's predecessors begin, and at last their number.
    begins: Vec<u32>,
    sources: Vec<u32>,
}

impl Graph {
    /// In increasing order, each once.
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
impl Graph {
    /// The graph with these transitions, for tests.
    pub(crate) fn of(n_states: usize, transitions: &[(u32, u32)]) -> Graph {
        let mut edges = Edges::default();
        for state in 0..n_states as u32 {
            let mut targets = transitions.iter().filter(|t| t.0 == state).map(|t| t.1).collect();
            edges.add_source(&mut targets).unwrap();
        }
        edges.into_graph(&Budget::unlimited(), 0).unwrap()
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
