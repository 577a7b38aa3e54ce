//! Infinite paths that satisfy a path formula.
//!
//! The path is searched in the product with the formula's automaton, breadth first from the given state.
//! The search takes the first pair of a state and a cover, in the order of discovery, that lies in a
//! strongly connected component in which every until and every fairness constraint is met. From there,
//! shortest walks meet one after the other and lead back. At most [`MAX_PAIRS`] pairs are explored, so a
//! path may not be found.

use std::collections::{HashMap, VecDeque};

use masque_graph::component_numbers;
use masque_model::FormulaId;
use masque_model::steps::Neighbourhood;
use masque_verdict::claims::local_truth;
use masque_verdict::{Automaton, Literal, RegionPart, State, Stop};

use crate::explain::Explainer;
use crate::lasso::Lasso;

/// Maximum number of explored pairs of a state and a cover.
const MAX_PAIRS: usize = 20_000;

impl Explainer<'_> {
    /// Finds an infinite path from a state on which a path formula has a truth value. Returns `None` if it
    /// is not found within the limit.
    pub(crate) fn path_run(
        &mut self,
        path: FormulaId,
        truth: bool,
        state: &State,
    ) -> Result<Option<Lasso>, Stop> {
        let automaton = Automaton::new(&self.system.formulas, path, truth, self.budget)?;
        let mut pairs = Pairs::new(self, &automaton);
        let start = pairs.nearby.number(state.clone());
        pairs.explore(start)?;
        pairs.lasso()
    }
}

/// The explored part of the product.
struct Pairs<'e, 'a> {
    explainer: &'e mut Explainer<'a>,
    automaton: &'e Automaton,
    successors: Vec<Vec<u32>>,
    nearby: Neighbourhood<'a>,
    /// State and cover of each pair, in the order of discovery.
    pairs: Vec<(u32, u32)>,
    /// For each pair, the index of the pair from which it was found.
    found_from: Vec<Option<usize>>,
    edges: Vec<Vec<usize>>,
    numbers: HashMap<(u32, u32), usize>,
    /// Known truth values of formulas at states.
    literals: HashMap<(u32, FormulaId), bool>,
    /// For each state, which fairness constraints are true; `None` if no fair path starts there.
    constraints: HashMap<u32, Option<Vec<bool>>>,
}

impl<'e, 'a> Pairs<'e, 'a> {
    fn new(explainer: &'e mut Explainer<'a>, automaton: &'e Automaton) -> Pairs<'e, 'a> {
        let mut successors = vec![Vec::new(); automaton.covers.len()];
        for (cover, before) in (0..).zip(&automaton.predecessors) {
            before.iter().for_each(|&from| successors[from as usize].push(cover));
        }
        let nearby = Neighbourhood::new(explainer.system);
        Pairs {
            explainer,
            automaton,
            successors,
            nearby,
            pairs: Vec::new(),
            found_from: Vec::new(),
            edges: Vec::new(),
            numbers: HashMap::new(),
            literals: HashMap::new(),
            constraints: HashMap::new(),
        }
    }

    /// Explores breadth first from a state and the initial covers.
    fn explore(&mut self, start: u32) -> Result<(), Stop> {
        for &cover in &self.automaton.initial.clone() {
            self.pair((start, cover), None)?;
        }
        let mut at = 0;
        while at < self.pairs.len() {
            if at % 256 == 0 {
                self.explainer.budget.check()?;
            }
            let (state, cover) = self.pairs[at];
            let mut edges = Vec::new();
            for next in self.nearby.successors(state).unwrap_or_default() {
                for position in 0..self.successors[cover as usize].len() {
                    let follower = self.successors[cover as usize][position];
                    edges.extend(self.pair((next, follower), Some(at))?);
                }
            }
            self.edges.push(edges);
            at += 1;
        }
        Ok(())
    }

    /// Returns the index of a pair, which is added if it is new. Returns `None` if the state does not satisfy
    /// the literals of the cover, or if there are too many pairs.
    fn pair(&mut self, pair: (u32, u32), from: Option<usize>) -> Result<Option<usize>, Stop> {
        if let Some(&number) = self.numbers.get(&pair) {
            return Ok(Some(number));
        }
        if self.pairs.len() >= MAX_PAIRS || self.met(pair.0)?.is_none() {
            return Ok(None);
        }
        for literal in &self.automaton.covers[pair.1 as usize].literals {
            if !self.is_true(pair.0, *literal)? {
                return Ok(None);
            }
        }
        self.numbers.insert(pair, self.pairs.len());
        self.pairs.push(pair);
        self.found_from.push(from);
        Ok(Some(self.pairs.len() - 1))
    }

    fn is_true(&mut self, state: u32, literal: Literal) -> Result<bool, Stop> {
        let key = (state, literal.formula);
        if let Some(&truth) = self.literals.get(&key) {
            return Ok(truth == literal.holds);
        }
        let Explainer { oracle, system, budget, .. } = &mut *self.explainer;
        let at = self.nearby.state(state);
        let truth = match local_truth(system, literal.formula, at) {
            Some(truth) => truth,
            None => oracle.is_true(literal.formula, at, budget)?,
        };
        self.literals.insert(key, truth);
        Ok(truth == literal.holds)
    }

    /// Which fairness constraints are true at a state; `None` if no fair path starts there.
    fn met(&mut self, state: u32) -> Result<Option<Vec<bool>>, Stop> {
        if let Some(met) = self.constraints.get(&state) {
            return Ok(met.clone());
        }
        let Explainer { oracle, system, budget, .. } = &mut *self.explainer;
        let here = RegionPart::Is(self.nearby.state(state).clone());
        let mut met = Some(Vec::new());
        if !system.fairness.is_empty() && oracle.least(std::slice::from_ref(&here), budget)?.is_none() {
            met = None;
        }
        if let Some(met) = &mut met {
            for number in 0..system.fairness.len() {
                met.push(oracle.least(&[here.clone(), RegionPart::Constraint(number)], budget)?.is_some());
            }
        }
        self.constraints.insert(state, met.clone());
        Ok(met)
    }

    /// Whether a pair meets an acceptance condition: the untils come first, then the fairness constraints.
    fn meets(&self, pair: usize, number: usize) -> bool {
        let (state, cover) = self.pairs[pair];
        match number.checked_sub(self.automaton.n_promises) {
            None => !self.automaton.covers[cover as usize].promises.contains(&(number as u32)),
            Some(constraint) => {
                let met = self.constraints.get(&state).and_then(Option::as_ref);
                met.is_some_and(|met| met[constraint])
            }
        }
    }

    fn lasso(&self) -> Result<Option<Lasso>, Stop> {
        let n_constraints = self.explainer.system.fairness.len();
        let n_recurring = self.automaton.n_promises + n_constraints;
        let component = component_numbers(&self.edges);
        let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
        (0..self.pairs.len()).for_each(|pair| members.entry(component[pair]).or_default().push(pair));
        let is_fair = |pair: &usize| {
            let inside = &members[&component[*pair]];
            let has_edge = self.edges[*pair].iter().any(|next| component[*next] == component[*pair]);
            has_edge && (0..n_recurring).all(|number| inside.iter().any(|&pair| self.meets(pair, number)))
        };
        let Some(head) = (0..self.pairs.len()).find(is_fair) else { return Ok(None) };
        let mut walk = vec![head];
        while let Some(before) = self.found_from[walk[walk.len() - 1]] {
            walk.push(before);
        }
        walk.reverse();
        let back_to = walk.len() - 1;
        let inside = |pair: usize| component[pair] == component[head];
        let mut fair = Vec::new();
        for number in 0..n_recurring {
            let last = walk[walk.len() - 1];
            if !self.meets(last, number) {
                walk.extend(self.shortest(last, &inside, |pair| self.meets(pair, number)));
            }
            if number >= self.automaton.n_promises {
                fair.push(walk.len() - 1);
            }
        }
        let last = walk[walk.len() - 1];
        if walk.len() - 1 > back_to && last == head {
            let end = walk.len() - 1;
            fair.iter_mut().filter(|position| **position == end).for_each(|position| *position = back_to);
        } else {
            walk.extend(self.shortest(last, &inside, |pair| pair == head));
        }
        walk.pop(); // The head, which the walk has reached again.
        let states = walk.into_iter().map(|pair| self.nearby.state(self.pairs[pair].0).clone()).collect();
        Ok(Some(Lasso { states, back_to, fair }))
    }

    /// The pairs after `from` on a shortest walk of at least one step to a goal, which must exist.
    fn shortest(
        &self,
        from: usize,
        inside: &dyn Fn(usize) -> bool,
        is_goal: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(pair) = queue.pop_front() {
            for &next in self.edges[pair].iter().filter(|next| inside(**next)) {
                if before.contains_key(&next) {
                    continue;
                }
                before.insert(next, pair);
                if is_goal(next) {
                    let mut walk = vec![next];
                    while let Some(&earlier) = before.get(&walk[walk.len() - 1]) {
                        if earlier == from {
                            break;
                        }
                        walk.push(earlier);
                    }
                    walk.reverse();
                    return walk;
                }
                queue.push_back(next);
            }
        }
        Vec::new()
    }
}
