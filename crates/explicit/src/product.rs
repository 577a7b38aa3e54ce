//! LTL and CTL*: the paths of the system that are runs of an automaton as well [VW86; CGP99 §9], unless
//! CTL can say it, too.

use masque_model::FormulaId;
use masque_verdict::{Automaton, Branch, Branching, Budget, Stop, Why};

use crate::bitset::Bitset;
use crate::fair::{Reversed, fair_nodes};
use crate::graph::Graph;
use crate::label::{Labeller, Over};

impl Labeller<'_> {
    /// `E path`, or `E ¬path` if not `truth`, over infinite paths.
    pub(crate) fn some_path(
        &mut self,
        path: FormulaId,
        truth: bool,
        over: Over,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.make_graph(budget)?;
        if let Some(branching) = Branching::of(&self.system.formulas, path, truth) {
            return self.some_branch(&branching, over, budget);
        }
        let automaton = Automaton::new(&self.system.formulas, path, truth, budget)?;
        let (domain, constraints) = self.scope(over);
        let n_states = self.space.n_states();
        self.check_memory(Product::bytes(n_states, &automaton), budget)?;
        let mut meeting = Vec::with_capacity(automaton.covers.len());
        for cover in &automaton.covers {
            let mut states = (*domain).clone();
            for literal in &cover.literals {
                let phi = self.known(literal.formula, over)?;
                states = if literal.holds { states.and(&phi) } else { states.minus(&phi) };
            }
            meeting.push(states);
        }
        let graph = self.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
        Product { graph, automaton: &automaton, meeting, constraints: &constraints }.starts(budget)
    }

    /// `E path` of a path formula that CTL can say, over infinite paths.
    fn some_branch(&mut self, branching: &Branching, over: Over, budget: &Budget) -> Result<Bitset, Stop> {
        let (domain, constraints) = self.scope(over);
        let n_bytes = domain.bytes() * (branching.steps.len() + 2) as u64;
        self.check_memory(n_bytes, budget)?;
        let mut of_states = Vec::new();
        for step in &branching.steps {
            if let Branch::State(literal) = step {
                let phi = self.known(literal.formula, over)?;
                of_states.push(if literal.holds { (*phi).clone() } else { (*domain).clone().minus(&phi) });
            }
        }
        let mut of_states = of_states.into_iter();
        let paths = self.paths(&domain, &constraints, budget)?;
        let endless = match constraints.is_empty() {
            true => paths.exists_globally(&domain)?,
            false => (*domain).clone(),
        };
        let mut sets: Vec<Bitset> = Vec::with_capacity(branching.steps.len());
        for step in &branching.steps {
            let until =
                |kept: usize, goal: usize| paths.exists_until(&sets[kept], &sets[goal].clone().and(&endless));
            let set = match step {
                Branch::State(_) => of_states.next().ok_or(Stop::from(Why::Unsupported))?,
                Branch::And(parts) => parts.iter().fold((*domain).clone(), |all, &part| all.and(&sets[part])),
                Branch::Or(parts) => {
                    let none = Bitset::empty(self.space.n_states());
                    parts.iter().fold(none, |some, &part| some.or(&sets[part]))
                }
                Branch::Next(a) => paths.exists_next(&sets[*a].clone().and(&endless))?,
                Branch::Until(kept, goal) => until(*kept, *goal)?,
                Branch::Weak(kept, goal) => until(*kept, *goal)?.or(&paths.exists_globally(&sets[*kept])?),
            };
            sets.push(set);
        }
        Ok(sets.pop().unwrap_or_else(|| (*domain).clone()).and(&endless))
    }
}

/// The product of a graph and an automaton: pairs of a state and a cover that it meets.
pub(crate) struct Product<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) automaton: &'a Automaton,
    /// For each cover the states that meet its literals.
    pub(crate) meeting: Vec<Bitset>,
    /// Where each fairness constraint is true.
    pub(crate) constraints: &'a [Bitset],
}

impl Product<'_> {
    /// Where a path starts that is infinite, fair if there are constraints, and a run of the automaton.
    ///
    /// ```text
    /// {s | a fair path starts at (s, q) for some initial q}
    /// ```
    ///
    /// All pairs are looked at, not only those that an initial one leads to: a path quantifier may
    /// stand inside other operators, which ask for it at every state.
    pub(crate) fn starts(&self, budget: &Budget) -> Result<Bitset, Stop> {
        let n_nodes = self.n_nodes();
        if u32::try_from(n_nodes).is_err() {
            return Err(Why::Memory.into());
        }
        let fair = fair_nodes(self, budget)?;
        let n_states = self.graph.n_states();
        let begins = |&cover: &u32, state: usize| fair.contains(cover as usize * n_states + state);
        Ok(Bitset::full(n_states).filter(|state| self.automaton.initial.iter().any(|q| begins(q, state))))
    }

    /// The bytes that deciding takes at most.
    pub(crate) fn bytes(n_states: usize, automaton: &Automaton) -> u64 {
        // Numbers, the two stacks of the search, and sets.
        (n_states * automaton.covers.len()) as u64 * 21
    }
}

impl Reversed for Product<'_> {
    fn n_nodes(&self) -> usize {
        self.graph.n_states() * self.automaton.covers.len()
    }

    #[inline]
    fn contains(&self, node: usize) -> bool {
        let n_states = self.graph.n_states();
        self.meeting[node / n_states].contains(node % n_states)
    }

    /// Predecessors are all pairs of a predecessor of the state and one of the cover.
    #[inline]
    fn source(&self, node: u32, position: u32) -> Option<u32> {
        let n_states = self.graph.n_states();
        let (cover, state) = (node as usize / n_states, node as usize % n_states);
        let states = self.graph.predecessors(state);
        if states.is_empty() {
            return None;
        }
        let (nth, at) = (position as usize / states.len(), position as usize % states.len());
        let before = *self.automaton.predecessors[cover].get(nth)?;
        Some(before * n_states as u32 + states[at])
    }

    fn n_constraints(&self) -> usize {
        self.automaton.n_promises + self.constraints.len()
    }

    /// First come the untils, which must not be put off, then fairness.
    fn meets(&self, node: u32, constraint: usize) -> bool {
        let n_states = self.graph.n_states();
        let (cover, state) = (node as usize / n_states, node as usize % n_states);
        match constraint.checked_sub(self.automaton.n_promises) {
            None => !self.automaton.covers[cover].promises.contains(&(constraint as u32)),
            Some(fairness) => self.constraints[fairness].contains(state),
        }
    }
}
