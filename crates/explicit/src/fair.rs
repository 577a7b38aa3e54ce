//! Fair paths: where one can go on for ever and meet every constraint again and again.

use masque_graph::Components;
use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::graph::Graph;
use crate::temporal::Clock;

/// A graph walked backwards, with what must recur on its paths.
pub(crate) trait Reversed {
    /// Nodes are `0..n_nodes`.
    fn n_nodes(&self) -> usize;

    /// Whether a node is part of the graph.
    fn contains(&self, node: usize) -> bool;

    /// The predecessor of a node at a position from 0, none beyond the last. It need not be part of
    /// the graph.
    fn source(&self, node: u32, position: u32) -> Option<u32>;

    /// How many constraints there are.
    fn n_constraints(&self) -> usize;

    /// Whether a node meets a constraint.
    fn meets(&self, node: u32, constraint: usize) -> bool;
}

/// The part of a graph inside a set, with constraints as sets.
pub(crate) struct Inside<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) phi: &'a Bitset,
    pub(crate) constraints: &'a [Bitset],
}

impl Reversed for Inside<'_> {
    fn n_nodes(&self) -> usize {
        self.graph.n_states()
    }

    fn contains(&self, node: usize) -> bool {
        self.phi.contains(node)
    }

    #[inline]
    fn source(&self, node: u32, position: u32) -> Option<u32> {
        self.graph.predecessors(node as usize).get(position as usize).copied()
    }

    fn n_constraints(&self) -> usize {
        self.constraints.len()
    }

    fn meets(&self, node: u32, constraint: usize) -> bool {
        self.constraints[constraint].contains(node as usize)
    }
}

/// The nodes at which an infinite path starts that meets every constraint again and again.
///
/// Such a path ends in one strongly connected component, and there it can meet all of it again and
/// again: the nodes from which a fair component can be reached. [CGP99 §4.1.1]
pub(crate) fn fair_nodes(graph: &impl Reversed, budget: &Budget) -> Result<Bitset, Stop> {
    let mut reached = fair_components(graph, budget)?;
    let mut open: Vec<u32> = reached.iter().map(|node| node as u32).collect();
    let mut clock = Clock::new(budget);
    while let Some(node) = open.pop() {
        clock.tick()?;
        let sources = (0..).map_while(|position| graph.source(node, position));
        for source in sources {
            if graph.contains(source as usize) && reached.insert(source as usize) {
                open.push(source);
            }
        }
    }
    Ok(reached)
}

/// The union of the strongly connected components that have a transition inside and meet every
/// constraint. The reversed graph has the same components.
fn fair_components(graph: &impl Reversed, budget: &Budget) -> Result<Bitset, Stop> {
    let n_nodes = graph.n_nodes();
    let mut fair = Bitset::empty(n_nodes);
    let mut clock = Clock::new(budget);
    let nodes = (0..n_nodes as u32).filter(|&node| graph.contains(node as usize));
    let source = |node: u32, position: u32| graph.source(node, position);
    Components::new(n_nodes).search(
        nodes,
        source,
        || clock.tick(),
        |members| {
            let root = members[0];
            let mut sources = (0..).map_while(|position| graph.source(root, position));
            let has_transition = members.len() > 1 || sources.any(|source| source == root);
            let meets = |constraint| members.iter().any(|&node| graph.meets(node, constraint));
            if has_transition && (0..graph.n_constraints()).all(meets) {
                members.iter().for_each(|&node| _ = fair.insert(node as usize));
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
