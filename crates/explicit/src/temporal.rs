//! The path operators, each in time linear in the graph. [CGP99 §4.1]
//!
//! `D`, the domain, is the set of reachable states, or with fairness constraints the states at
//! which a fair path starts. All sets here are subsets of `D`.

use masque_verdict::{Budget, Stop};

use crate::bitset::Bitset;
use crate::fair::{Inside, fair_vertices};
use crate::graph::Graph;

/// The paths of a graph.
pub(crate) struct Paths<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) budget: &'a Budget,
}

impl Paths<'_> {
    /// `EX φ`, by looking at the predecessors of each state of `φ`.
    pub(crate) fn exists_next(&self, phi: &Bitset, domain: &Bitset) -> Result<Bitset, Stop> {
        let mut before = Bitset::empty(self.graph.n_states());
        let mut clock = Clock::new(self.budget);
        for state in phi.iter() {
            clock.tick()?;
            for &source in self.graph.predecessors(state) {
                before.insert(source as usize);
            }
        }
        Ok(before.and(domain))
    }

    /// `E(φ U ψ)`, by searching backwards from `ψ` through `φ`.
    pub(crate) fn exists_until(&self, phi: &Bitset, psi: &Bitset) -> Result<Bitset, Stop> {
        backward(self.graph, phi, psi.clone(), self.budget)
    }

    /// `EG φ`: some infinite path, fair if there are constraints, stays in `φ`.
    ///
    /// ```text
    /// EG φ = νZ. φ ∧ EX Z                     without constraints
    /// EG φ = E(φ U C)                         with constraints
    /// ```
    ///
    /// Without constraints: counts the successors of each state of `φ` in `φ`, and removes, repeatedly,
    /// the states that have none left. With constraints `C` is the union
    /// of the strongly connected components of `φ` that contain a transition and meet every
    /// constraint: a path that stays in `φ` forever ends in one component, where it can visit every
    /// state infinitely often. [CGP99 §4.1.1]
    pub(crate) fn exists_globally(&self, phi: &Bitset, constraints: &[Bitset]) -> Result<Bitset, Stop> {
        if constraints.is_empty() {
            return self.stays_in(phi);
        }
        let inside = Inside { graph: self.graph, phi, constraints };
        fair_vertices(&inside, self.budget)
    }

    fn stays_in(&self, phi: &Bitset) -> Result<Bitset, Stop> {
        let graph = self.graph;
        let mut n_successors = vec![0_u32; graph.n_states()];
        let mut clock = Clock::new(self.budget);
        for state in phi.iter() {
            clock.tick()?;
            for &source in graph.predecessors(state) {
                n_successors[source as usize] += 1;
            }
        }
        let mut stays = phi.clone();
        let mut removed: Vec<u32> = Vec::new();
        for state in phi.iter().filter(|&s| n_successors[s] == 0) {
            stays.remove(state);
            removed.push(state as u32);
        }
        while let Some(state) = removed.pop() {
            clock.tick()?;
            for &source in graph.predecessors(state as usize) {
                let left = &mut n_successors[source as usize];
                *left -= 1;
                if *left == 0 && stays.contains(source as usize) {
                    stays.remove(source as usize);
                    removed.push(source);
                }
            }
        }
        Ok(stays)
    }
}

/// Returns the states of `reached`, and those of `through` from which a path inside `through` leads there.
fn backward(graph: &Graph, through: &Bitset, mut reached: Bitset, budget: &Budget) -> Result<Bitset, Stop> {
    let mut open: Vec<u32> = reached.iter().map(|state| state as u32).collect();
    let mut clock = Clock::new(budget);
    while let Some(state) = open.pop() {
        clock.tick()?;
        for &source in graph.predecessors(state as usize) {
            if through.contains(source as usize) && reached.insert(source as usize) {
                open.push(source);
            }
        }
    }
    Ok(reached)
}

/// Checks the budget every 8192 steps.
pub(crate) struct Clock<'a> {
    budget: &'a Budget,
    n_steps: u32,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(budget: &'a Budget) -> Clock<'a> {
        Clock { budget, n_steps: 0 }
    }

    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Stop> {
        self.n_steps = self.n_steps.wrapping_add(1);
        if self.n_steps.is_multiple_of(8192) { self.budget.check() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[usize], len: usize) -> Bitset {
        Bitset::full(len).filter(|state| members.contains(&state))
    }

    /// `0 → 1 → 2 → 1`, `0 → 3`, and 3 is a deadlock.
    #[rustfmt::skip]
    #[test]
    fn operators_on_a_lasso_with_a_deadlock() {
        let graph = Graph::of(4, &[(0, 1), (1, 2), (2, 1), (0, 3)]);
        let budget = Budget::unlimited();
        let check = |constraints: &[&[usize]], domain: &[usize], operator: &str, phi: &[usize], psi: &[usize], expected: &[usize]| {
            let constraints: Vec<Bitset> = constraints.iter().map(|c| set(c, 4)).collect();
            let domain = set(domain, 4);
            let paths = Paths { graph: &graph, budget: &budget };
            let (phi, psi) = (set(phi, 4), set(psi, 4));
            let result = match operator {
                "EX" => paths.exists_next(&phi, &domain),
                "EU" => paths.exists_until(&phi, &psi),
                _ => paths.exists_globally(&phi, &constraints),
            };
            assert_eq!(result.unwrap().iter().collect::<Vec<_>>(), expected, "{operator} {constraints:?}");
        };
        const ALL: &[usize] = &[0, 1, 2, 3];
        //    constraints   domain      operator  φ            ψ       expected
        check(&[],          ALL,        "EX",     &[3],        &[],    &[0]);
        check(&[],          ALL,        "EX",     ALL,         &[],    &[0, 1, 2]);
        check(&[],          ALL,        "EU",     &[0],        &[3],   &[0, 3]);
        check(&[],          ALL,        "EU",     &[1],        &[2],   &[1, 2]);
        check(&[],          ALL,        "EG",     ALL,         &[],    &[0, 1, 2]);
        check(&[],          ALL,        "EG",     &[0, 1],     &[],    &[]);
        check(&[&[2]],      &[0, 1, 2], "EG",     &[0, 1, 2],  &[],    &[0, 1, 2]);
        check(&[&[0]],      &[],        "EG",     ALL,         &[],    &[]);
        check(&[&[1], &[2]],&[0, 1, 2], "EG",     &[0, 1, 2],  &[],    &[0, 1, 2]);
        check(&[&[2]],      &[0, 1, 2], "EG",     &[0, 1],     &[],    &[]);
    }
}
