//! Fair components: where a path can stay and meet every constraint again and again.

use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::graph::Graph;
use crate::temporal::Clock;

/// The union of the strongly connected components of `phi` that have a transition inside and meet
/// every constraint.
///
/// Tarjan's algorithm on the reversed graph, which has the same components, without recursion.
/// [Tarjan72 §4]
pub(crate) fn fair_components(
    graph: &Graph,
    phi: &Bitset,
    constraints: &[Bitset],
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let mut search = Search {
        graph,
        phi,
        constraints,
        order: vec![0; graph.n_states()],
        n_visited: 0,
        component: Vec::new(),
        calls: Vec::new(),
        fair: Bitset::empty(graph.n_states()),
    };
    let mut clock = Clock::new(budget);
    for root in phi.iter() {
        if search.order[root] == 0 {
            search.visit(root as u32);
            while !search.calls.is_empty() {
                clock.tick()?;
                search.advance();
            }
        }
    }
    Ok(search.fair)
}

struct Search<'a> {
    graph: &'a Graph,
    phi: &'a Bitset,
    constraints: &'a [Bitset],
    /// When a state was visited, from 1; `DONE` once its component is known.
    order: Vec<u32>,
    n_visited: u32,
    /// The states visited whose component is not yet known.
    component: Vec<u32>,
    /// The states being visited.
    calls: Vec<Call>,
    fair: Bitset,
}

struct Call {
    state: u32,
    /// The predecessor to look at next.
    next: u32,
    /// The earliest state known to be reached from here that is still open.
    low: u32,
}

const DONE: u32 = u32::MAX;

impl Search<'_> {
    fn visit(&mut self, state: u32) {
        self.n_visited += 1;
        self.order[state as usize] = self.n_visited;
        self.component.push(state);
        self.calls.push(Call { state, next: 0, low: self.n_visited });
    }

    /// Looks at one more predecessor of the state being visited, or finishes it.
    fn advance(&mut self) {
        let Some(call) = self.calls.last_mut() else { return };
        let predecessors = self.graph.predecessors(call.state as usize);
        while let Some(&source) = predecessors.get(call.next as usize) {
            call.next += 1;
            if !self.phi.contains(source as usize) {
                continue;
            }
            match self.order[source as usize] {
                0 => return self.visit(source),
                DONE => {}
                order => call.low = call.low.min(order),
            }
        }
        let (state, low) = (call.state, call.low);
        self.calls.pop();
        if low == self.order[state as usize] {
            self.close(state);
        }
        if let Some(caller) = self.calls.last_mut() {
            caller.low = caller.low.min(low);
        }
    }

    /// The component of `root` is complete: it and all visited after it.
    fn close(&mut self, root: u32) {
        let begin = self.component.iter().rposition(|&state| state == root).unwrap_or(0);
        let members = &self.component[begin..];
        for &state in members {
            self.order[state as usize] = DONE;
        }
        let has_transition = members.len() > 1 || self.graph.predecessors(root as usize).contains(&root);
        let meets = |constraint: &Bitset| members.iter().any(|&state| constraint.contains(state as usize));
        if has_transition && self.constraints.iter().all(meets) {
            for &state in members {
                self.fair.insert(state as usize);
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
            let fair = fair_components(&graph, &set(phi), &constraints, &Budget::unlimited()).unwrap();
            assert_eq!(fair.iter().collect::<Vec<_>>(), expected);
        };
        //    inside             constraints         expected
        check(&[0, 1, 2, 3, 4],  &[&[0, 2, 4]],      &[0, 1, 2, 3, 4]);
        check(&[0, 1, 2, 3, 4],  &[&[0], &[1]],      &[0, 1]);
        check(&[0, 1, 2, 3, 4],  &[&[0], &[2]],      &[]);
        check(&[0, 2, 3, 4],     &[&[0, 4]],         &[4]);
    }
}
