//! Backward reachability along the known transitions.

use crate::{Lts, Space, StateId};

impl<L: Lts> Space<L> {
    /// Returns, for each state, whether it is one of `targets` or a path of known transitions leads from it
    /// to one.
    ///
    /// The truth of formulas in other states does not depend on the transitions of the targets.
    pub fn leading_to(&self, targets: &[StateId]) -> Vec<bool> {
        let n = self.n_known();
        // Transitions by target: the index at which those to a state begin, and their sources.
        let mut begins = vec![0_u32; n + 1];
        self.each_transition(|_, to| begins[to.index() + 1] += 1);
        for i in 0..n {
            begins[i + 1] += begins[i];
        }
        let mut ends = begins.clone();
        let mut sources = vec![StateId(0); begins[n] as usize];
        self.each_transition(|from, to| {
            sources[ends[to.index()] as usize] = from;
            ends[to.index()] += 1;
        });
        let mut leads = vec![false; n];
        let mut todo: Vec<StateId> = Vec::new();
        let mut visit = |state: StateId, todo: &mut Vec<StateId>| {
            if !std::mem::replace(&mut leads[state.index()], true) {
                todo.push(state);
            }
        };
        targets.iter().filter(|target| target.index() < n).for_each(|target| visit(*target, &mut todo));
        while let Some(state) = todo.pop() {
            let (begin, end) = (begins[state.index()] as usize, begins[state.index() + 1] as usize);
            sources[begin..end].iter().for_each(|source| visit(*source, &mut todo));
        }
        leads
    }

    fn each_transition(&self, mut visit: impl FnMut(StateId, StateId)) {
        for state in (0..self.n_known() as u32).map(StateId) {
            self.transitions(state).iter().for_each(|(_, to)| visit(state, *to));
        }
    }
}

#[cfg(test)]
mod tests {
    use masque_verdict::Budget;

    use super::*;
    use crate::Graph;

    #[test]
    fn backward_reachability_agrees_with_forward_search() {
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut graph = Graph::new();
            let states: Vec<StateId> = (0..random.usize(1..20)).map(|_| graph.state()).collect();
            for _ in 0..random.usize(0..40) {
                let [from, to] = [(); 2].map(|()| states[random.usize(0..states.len())]);
                graph.transition(from, "a", to);
            }
            let mut space = Space::new(&mut graph);
            let reached = space.explore(&Budget::unlimited()).unwrap();
            let target = reached[random.usize(0..reached.len())];
            let leads = space.leading_to(&[target]);
            for &state in &reached {
                let (mut seen, mut todo) = (vec![state], vec![state]);
                while let Some(at) = todo.pop() {
                    for &(_, to) in space.transitions(at) {
                        if !seen.contains(&to) {
                            seen.push(to);
                            todo.push(to);
                        }
                    }
                }
                assert_eq!(leads[state.index()], seen.contains(&target), "seed {seed}, {state:?}");
            }
        }
    }
}
