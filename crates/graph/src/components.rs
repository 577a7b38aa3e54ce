//! Strongly connected components, by Tarjan's algorithm with an explicit stack. [Tarjan72 §4]
//!
//! Vertices are numbers. The edges of a vertex are read one by one, by index, so that a graph may be
//! given as lists, as slices of one array, or computed during the search. A search may be restricted to
//! a part of the graph; it then takes time linear in that part, however large the graph is. It needs
//! one number per vertex, and a frame for each vertex on the current path.

use std::convert::Infallible;

/// Finds strongly connected components of parts of one graph.
///
/// ```
/// use masque_graph::Components;
/// // 0 ⇄ 1 → 2, and 3 by itself.
/// let edges = [vec![1], vec![0, 2], vec![], vec![0]];
/// let mut components = Components::new(edges.len());
/// assert_eq!(components.of(&edges, &[0, 1, 2, 3]), [vec![2], vec![0, 1], vec![3]]);
/// assert_eq!(components.of(&edges, &[1, 3]), [[1], [3]]);
/// ```
#[derive(Debug)]
pub struct Components {
    /// For each vertex of the part the number of its visit, from 1; `NEW` before, `DONE` once its
    /// component is known. All other vertices are `DONE`.
    order: Vec<u32>,
    n_visited: u32,
    /// Visited vertices whose component is not known yet, in the order of their visits.
    open: Vec<u32>,
    /// Vertices on the current path.
    path: Vec<Frame>,
}

/// A vertex on the current path of the search.
#[derive(Debug)]
struct Frame {
    vertex: u32,
    /// Index of the edge to follow next.
    next: u32,
    /// Earliest visit among the open vertices known to be reachable from here.
    low: u32,
}

const DONE: u32 = 0;
const NEW: u32 = u32::MAX;

impl Components {
    /// Prepares searches in a graph with the vertices `0..n_vertices`.
    pub fn new(n_vertices: usize) -> Components {
        Components { order: vec![DONE; n_vertices], n_visited: 0, open: Vec::new(), path: Vec::new() }
    }

    /// Returns the components of a part of a graph given as lists. Each component comes after those it
    /// leads to.
    pub fn of(&mut self, edges: &[Vec<u32>], part: &[u32]) -> Vec<Vec<u32>> {
        let edge = |vertex: u32, index: u32| edges[vertex as usize].get(index as usize).copied();
        let mut all = Vec::new();
        let Ok(()) =
            self.search(part.iter().copied(), edge, never_stops, |members| all.push(members.to_vec()));
        all
    }

    /// Calls `found` with the members of each component of a part, after those it leads to. The first
    /// member is the one that was visited first.
    ///
    /// `edge` returns the target of a vertex's edge with an index from 0, and `None` beyond the last edge;
    /// edges that leave the part are ignored. `step` is called at least once for each vertex, and stops
    /// the search by an error.
    pub fn search<E>(
        &mut self,
        part: impl Iterator<Item = u32> + Clone,
        edge: impl Fn(u32, u32) -> Option<u32>,
        mut step: impl FnMut() -> Result<(), E>,
        mut found: impl FnMut(&[u32]),
    ) -> Result<(), E> {
        part.clone().for_each(|vertex| self.order[vertex as usize] = NEW);
        self.n_visited = 0;
        for root in part.clone() {
            if self.order[root as usize] == NEW {
                self.visit(root);
            }
            while !self.path.is_empty() {
                if let Err(stop) = step() {
                    self.open.clear();
                    self.path.clear();
                    part.for_each(|vertex| self.order[vertex as usize] = DONE);
                    return Err(stop);
                }
                self.advance(&edge, &mut found);
            }
        }
        Ok(())
    }

    fn visit(&mut self, vertex: u32) {
        self.n_visited += 1;
        self.order[vertex as usize] = self.n_visited;
        self.open.push(vertex);
        self.path.push(Frame { vertex, next: 0, low: self.n_visited });
    }

    /// Follows the edges of the last vertex on the path until one leads to a new vertex, or finishes it.
    #[inline]
    fn advance(&mut self, edge: &impl Fn(u32, u32) -> Option<u32>, found: &mut impl FnMut(&[u32])) {
        let Some(frame) = self.path.last_mut() else { return };
        while let Some(target) = edge(frame.vertex, frame.next) {
            frame.next += 1;
            match self.order[target as usize] {
                NEW => return self.visit(target),
                DONE => {}
                order => frame.low = frame.low.min(order),
            }
        }
        let Frame { vertex, low, .. } = *frame;
        self.path.pop();
        if low == self.order[vertex as usize] {
            // The component is complete: this vertex and all open ones that were visited after it.
            let begin = self.open.iter().rposition(|&open| open == vertex).unwrap_or(0);
            self.open[begin..].iter().for_each(|&member| self.order[member as usize] = DONE);
            found(&self.open[begin..]);
            self.open.truncate(begin);
        }
        if let Some(caller) = self.path.last_mut() {
            caller.low = caller.low.min(low);
        }
    }
}

/// Returns the number of the component of each vertex; a component has a smaller number than those that
/// lead to it.
pub fn component_numbers(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut numbers = vec![0; edges.len()];
    let mut next = 0;
    each_component(edges, |members| {
        members.iter().for_each(|&member| numbers[member as usize] = next);
        next += 1;
    });
    numbers
}

/// Returns whether some closed walk in a graph meets every one of these sets of vertices. Without sets:
/// whether there is a cycle.
pub fn has_cycle_meeting(edges: &[Vec<usize>], sets: &[Vec<bool>]) -> bool {
    let mut is_found = false;
    each_component(edges, |members| {
        let first = members[0] as usize;
        let is_cyclic = members.len() > 1 || edges[first].contains(&first);
        let meets = |set: &Vec<bool>| members.iter().any(|&member| set[member as usize]);
        is_found |= is_cyclic && sets.iter().all(meets);
    });
    is_found
}

fn each_component(edges: &[Vec<usize>], found: impl FnMut(&[u32])) {
    let edge =
        |vertex: u32, index: u32| edges[vertex as usize].get(index as usize).map(|&target| target as u32);
    let Ok(()) = Components::new(edges.len()).search(0..edges.len() as u32, edge, never_stops, found);
}

fn never_stops() -> Result<(), Infallible> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns for each vertex the vertices of a part that are reachable from it inside the part.
    fn reached(edges: &[Vec<u32>], part: &[u32]) -> Vec<Vec<bool>> {
        let reach = |from: u32| {
            let mut seen = vec![false; edges.len()];
            let mut open = vec![from];
            while let Some(vertex) = open.pop() {
                for &next in edges[vertex as usize].iter().filter(|next| part.contains(next)) {
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        open.push(next);
                    }
                }
            }
            seen
        };
        (0..edges.len() as u32).map(reach).collect()
    }

    #[test]
    fn components_of_random_graphs_and_parts() {
        for seed in 0..2000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let n = random.usize(1..12);
            let mut list = || (0..random.usize(0..4)).map(|_| random.u32(0..n as u32)).collect();
            let edges: Vec<Vec<u32>> = (0..n).map(|_| list()).collect();
            let mut components = Components::new(n);
            for _ in 0..3 {
                let part: Vec<u32> = (0..n as u32).filter(|_| random.u32(0..4) > 0).collect();
                let reached = reached(&edges, &part);
                let found = components.of(&edges, &part);
                let mut members = found.concat();
                members.sort_unstable();
                assert_eq!(members, part, "seed {seed}: each vertex once");
                let leads = |from: u32, to: u32| reached[from as usize][to as usize];
                for (number, component) in found.iter().enumerate() {
                    for &vertex in component {
                        let returns = |&other: &u32| vertex == other || leads(vertex, other);
                        assert!(component.iter().all(returns), "seed {seed}: {component:?}");
                        let mut later = found[number + 1..].iter().flatten();
                        assert!(!later.any(|&later| leads(vertex, later)), "seed {seed}: {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_search_that_was_stopped_can_be_repeated() {
        let edges = [vec![1], vec![2], vec![0], vec![2]];
        let edge = |vertex: u32, index: u32| edges[vertex as usize].get(index as usize).copied();
        let mut components = Components::new(4);
        let mut n_left = 3;
        let step = || {
            n_left -= 1;
            if n_left > 0 { Ok(()) } else { Err("stop") }
        };
        assert_eq!(components.search(0..4, edge, step, |_| panic!("too early")), Err("stop"));
        assert_eq!(components.of(&edges, &[0, 1, 2, 3]), [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn cycles_that_meet_sets() {
        // 0 ⇄ 1 → 2 → 2, and 3 → 0.
        let edges = [vec![1], vec![0, 2], vec![2], vec![0]];
        let meets = |sets: &[&[usize]]| {
            let set = |members: &&[usize]| (0..4).map(|vertex| members.contains(&vertex)).collect();
            has_cycle_meeting(&edges, &sets.iter().map(set).collect::<Vec<_>>())
        };
        assert!(meets(&[]) && meets(&[&[0], &[1]]) && meets(&[&[2, 3]]));
        assert!(!meets(&[&[3]]) && !meets(&[&[0], &[2]]));
        assert!(!has_cycle_meeting(&[vec![1], vec![]], &[]));
    }
}
