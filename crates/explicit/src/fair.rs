//! Fair paths: infinite paths that meet every constraint infinitely often.

use masque_graph::Components;
use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::graph::Graph;
use crate::temporal::Clock;

/// A graph with predecessors, and constraints that must be met infinitely often on its paths.
pub(crate) trait Reversed {
    /// Returns the number of vertices, which are `0..n_vertices`.
    fn n_vertices(&self) -> usize;

    /// Whether a vertex is part of the graph.
    fn contains(&self, vertex: usize) -> bool;

    /// Returns the predecessor of a vertex at an index from 0; `None` beyond the last. It need not be part
    /// of the graph.
    fn source(&self, vertex: u32, index: u32) -> Option<u32>;

    /// Returns the number of constraints.
    fn n_constraints(&self) -> usize;

    /// Whether a vertex meets a constraint.
    fn meets(&self, vertex: u32, constraint: usize) -> bool;
}

/// The part of a graph inside a set, with constraints as sets.
pub(crate) struct Inside<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) phi: &'a Bitset,
    pub(crate) constraints: &'a [Bitset],
}

impl Reversed for Inside<'_> {
    fn n_vertices(&self) -> usize {
        self.graph.n_states()
    }

    fn contains(&self, vertex: usize) -> bool {
        self.phi.contains(vertex)
    }

    #[inline]
    fn source(&self, vertex: u32, index: u32) -> Option<u32> {
        self.graph.predecessors(vertex as usize).get(index as usize).copied()
    }

    fn n_constraints(&self) -> usize {
        self.constraints.len()
    }

    fn meets(&self, vertex: u32, constraint: usize) -> bool {
        self.constraints[constraint].contains(vertex as usize)
    }
}

/// Computes the vertices at which an infinite path starts that meets every constraint infinitely often.
///
/// Such a path ends in one strongly connected component, where it can visit every vertex infinitely often:
/// these are the vertices from which a fair component can be reached. [CGP99 §4.1.1]
pub(crate) fn fair_vertices(graph: &impl Reversed, budget: &Budget) -> Result<Bitset, Stop> {
    let mut reached = fair_components(graph, budget)?;
    let mut open: Vec<u32> = reached.iter().map(|vertex| vertex as u32).collect();
    let mut clock = Clock::new(budget);
    while let Some(vertex) = open.pop() {
        clock.tick()?;
        let sources = (0..).map_while(|index| graph.source(vertex, index));
        for source in sources {
            if graph.contains(source as usize) && reached.insert(source as usize) {
                open.push(source);
            }
        }
    }
    Ok(reached)
}

/// Computes the union of the strongly connected components that contain a transition and meet every
/// constraint. The reversed graph has the same components.
fn fair_components(graph: &impl Reversed, budget: &Budget) -> Result<Bitset, Stop> {
    let n_vertices = graph.n_vertices();
    let mut fair = Bitset::empty(n_vertices);
    let mut clock = Clock::new(budget);
    let vertices = (0..n_vertices as u32).filter(|&vertex| graph.contains(vertex as usize));
    let source = |vertex: u32, index: u32| graph.source(vertex, index);
    Components::new(n_vertices).search(
        vertices,
        source,
        || clock.tick(),
        |members| {
            let root = members[0];
            let mut sources = (0..).map_while(|index| graph.source(root, index));
            let has_transition = members.len() > 1 || sources.any(|source| source == root);
            let meets = |constraint| members.iter().any(|&vertex| graph.meets(vertex, constraint));
            if has_transition && (0..graph.n_constraints()).all(meets) {
                members.iter().for_each(|&vertex| _ = fair.insert(vertex as usize));
            }
        },
    )?;
    Ok(fair)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `0 ⇄ 1 → 2 ⇄ 3`, `4 → 4`, `3 → 4`.
    #[rustfmt::skip]
    #[test]
    fn components() {
        let graph = Graph::of(5, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (4, 4), (3, 4)]);
        let check = |phi: &[usize], constraints: &[&[usize]], expected: &[usize]| {
            let set = |members: &[usize]| Bitset::full(5).filter(|s| members.contains(&s));
            let constraints: Vec<Bitset> = constraints.iter().map(|c| set(c)).collect();
            let inside = Inside { graph: &graph, phi: &set(phi), constraints: &constraints };
            let fair = fair_components(&inside, &Budget::unlimited()).unwrap();
            assert_eq!(fair.iter().collect::<Vec<_>>(), expected);
        };
        //    inside             constraints         expected
        check(&[0, 1, 2, 3, 4],  &[&[0, 2, 4]],      &[0, 1, 2, 3, 4]);
        check(&[0, 1, 2, 3, 4],  &[&[0], &[1]],      &[0, 1]);
        check(&[0, 1, 2, 3, 4],  &[&[0], &[2]],      &[]);
        check(&[0, 2, 3, 4],     &[&[0, 4]],         &[4]);
    }
}
