//! Fair paths: where one can go on for ever and meet every constraint again and again.

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
/// constraint.
///
/// Tarjan's algorithm on the reversed graph, which has the same components, without recursion.
/// [Tarjan72 §4]
fn fair_components(graph: &impl Reversed, budget: &Budget) -> Result<Bitset, Stop> {
    let n_nodes = graph.n_nodes();
    let mut search = Search {
        graph,
        order: vec![0; n_nodes],
        n_visited: 0,
        component: Vec::new(),
        calls: Vec::new(),
        fair: Bitset::empty(n_nodes),
    };
    let mut clock = Clock::new(budget);
    for root in 0..n_nodes {
        if search.order[root] == 0 && graph.contains(root) {
            search.visit(root as u32);
            while !search.calls.is_empty() {
                clock.tick()?;
                search.advance();
            }
        }
    }
    Ok(search.fair)
}

struct Search<'a, G> {
    graph: &'a G,
    /// When a node was visited, from 1; `DONE` once its component is known.
    order: Vec<u32>,
    n_visited: u32,
    /// The nodes visited whose component is not yet known.
    component: Vec<u32>,
    /// The nodes being visited.
    calls: Vec<Call>,
    fair: Bitset,
}

struct Call {
    node: u32,
    /// The predecessor to look at next.
    next: u32,
    /// The earliest node known to be reached from here that is still open.
    low: u32,
}

const DONE: u32 = u32::MAX;

impl<G: Reversed> Search<'_, G> {
    fn visit(&mut self, node: u32) {
        self.n_visited += 1;
        self.order[node as usize] = self.n_visited;
        self.component.push(node);
        self.calls.push(Call { node, next: 0, low: self.n_visited });
    }

    /// Looks at one more predecessor of the node being visited, or finishes it.
    fn advance(&mut self) {
        let Some(call) = self.calls.last_mut() else { return };
        while let Some(source) = self.graph.source(call.node, call.next) {
            call.next += 1;
            if !self.graph.contains(source as usize) {
                continue;
            }
            match self.order[source as usize] {
                0 => return self.visit(source),
                DONE => {}
                order => call.low = call.low.min(order),
            }
        }
        let (node, low) = (call.node, call.low);
        self.calls.pop();
        if low == self.order[node as usize] {
            self.close(node);
        }
        if let Some(caller) = self.calls.last_mut() {
            caller.low = caller.low.min(low);
        }
    }

    /// The component of `root` is complete: it and all visited after it.
    fn close(&mut self, root: u32) {
        let begin = self.component.iter().rposition(|&node| node == root).unwrap_or(0);
        let members = &self.component[begin..];
        for &node in members {
            self.order[node as usize] = DONE;
        }
        let mut sources = (0..).map_while(|position| self.graph.source(root, position));
        let has_transition = members.len() > 1 || sources.any(|source| source == root);
        let meets = |constraint| members.iter().any(|&node| self.graph.meets(node, constraint));
        if has_transition && (0..self.graph.n_constraints()).all(meets) {
            for &node in members {
                self.fair.insert(node as usize);
            }
        }
        self.component.truncate(begin);
    }
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
