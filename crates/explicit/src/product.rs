//! LTL and CTL*: the paths of the system that an automaton accepts [VW86; CGP99 §9]. Path formulas that
//! CTL can express are labelled without an automaton.

use masque_model::FormulaId;
use masque_verdict::{Automaton, Branch, Branching, Budget, Stop, Why};

use crate::bitset::Bitset;
use crate::fair::{Reversed, fair_vertices};
use crate::graph::Graph;
use crate::labelling::{StoredStates, known};
use crate::labels::Scope;

/// `E path`, or `E ¬path` if not `truth`, over infinite paths.
pub(crate) fn some_path<'s>(
    states: &mut impl StoredStates<'s>,
    path: FormulaId,
    truth: bool,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let formulas = &states.system().formulas;
    if let Some(branching) = Branching::of(formulas, path, truth) {
        return some_branch(states, &branching, budget);
    }
    let automaton = Automaton::new(formulas, path, truth, budget)?;
    let Scope { domain, constraints } = states.labels().scope();
    let mut meeting = Vec::with_capacity(automaton.covers.len());
    for cover in &automaton.covers {
        let mut found = (*domain).clone();
        for literal in &cover.literals {
            let phi = known(states, literal.formula)?;
            found = if literal.holds { found.and(&phi) } else { found.minus(&phi) };
        }
        meeting.push(found);
    }
    states.exists_accepted_path(&automaton, meeting, &constraints, budget)
}

/// `E path` of a path formula that CTL can express, over infinite paths.
fn some_branch<'s>(
    states: &mut impl StoredStates<'s>,
    branching: &Branching,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let Scope { domain, constraints } = states.labels().scope();
    states.check_memory(domain.bytes() * (branching.steps.len() + 2) as u64, budget)?;
    // States at which an infinite path starts.
    let endless = if constraints.is_empty() {
        states.exists_globally(&domain, &constraints, budget)?
    } else {
        (*domain).clone()
    };
    let mut sets: Vec<Bitset> = Vec::with_capacity(branching.steps.len());
    for step in &branching.steps {
        let set = match step {
            Branch::State(literal) => {
                let phi = known(states, literal.formula)?;
                if literal.holds { (*phi).clone() } else { (*domain).clone().minus(&phi) }
            }
            Branch::And(parts) => parts.iter().fold((*domain).clone(), |all, &part| all.and(&sets[part])),
            Branch::Or(parts) => {
                let none = Bitset::empty(domain.len());
                parts.iter().fold(none, |some, &part| some.or(&sets[part]))
            }
            Branch::Next(a) => states.exists_next(&sets[*a].clone().and(&endless), &domain, budget)?,
            Branch::Until(kept, goal) => {
                states.exists_until(&sets[*kept], &sets[*goal].clone().and(&endless), budget)?
            }
            Branch::Weak(kept, goal) => {
                let goal = sets[*goal].clone().and(&endless);
                let until = states.exists_until(&sets[*kept], &goal, budget)?;
                until.or(&states.exists_globally(&sets[*kept], &constraints, budget)?)
            }
        };
        sets.push(set);
    }
    Ok(sets.pop().unwrap_or_else(|| (*domain).clone()).and(&endless))
}

/// The product of a graph and an automaton: pairs of a state and a cover that it meets.
pub(crate) struct Product<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) automaton: &'a Automaton,
    /// The states that meet the literals of each cover.
    pub(crate) meeting: Vec<Bitset>,
    /// The states where each fairness constraint is true.
    pub(crate) constraints: &'a [Bitset],
}

impl Product<'_> {
    /// Computes the states at which an infinite path starts, fair if there are constraints, that the
    /// automaton accepts.
    ///
    /// ```text
    /// {s | a fair path starts at (s, q) for some initial q}
    /// ```
    ///
    /// All pairs are examined, not only those reachable from an initial one: a path quantifier may
    /// stand inside other operators, which need it at every state.
    pub(crate) fn starts(&self, budget: &Budget) -> Result<Bitset, Stop> {
        let n_vertices = self.n_vertices();
        if u32::try_from(n_vertices).is_err() {
            return Err(Why::Memory.into());
        }
        let fair = fair_vertices(self, budget)?;
        let n_states = self.graph.n_states();
        let begins = |&cover: &u32, state: usize| fair.contains(cover as usize * n_states + state);
        Ok(Bitset::full(n_states).filter(|state| self.automaton.initial.iter().any(|q| begins(q, state))))
    }

    /// Returns the maximum number of bytes that the search takes.
    pub(crate) fn bytes(n_states: usize, automaton: &Automaton) -> u64 {
        // Indices, the two stacks of the search, and sets.
        (n_states * automaton.covers.len()) as u64 * 21
    }
}

impl Reversed for Product<'_> {
    fn n_vertices(&self) -> usize {
        self.graph.n_states() * self.automaton.covers.len()
    }

    #[inline]
    fn contains(&self, vertex: usize) -> bool {
        let n_states = self.graph.n_states();
        self.meeting[vertex / n_states].contains(vertex % n_states)
    }

    /// Predecessors are all pairs of a predecessor of the state and one of the cover.
    #[inline]
    fn source(&self, vertex: u32, index: u32) -> Option<u32> {
        let n_states = self.graph.n_states();
        let (cover, state) = (vertex as usize / n_states, vertex as usize % n_states);
        let states = self.graph.predecessors(state);
        if states.is_empty() {
            return None;
        }
        let (nth_cover, nth_state) = (index as usize / states.len(), index as usize % states.len());
        let before = *self.automaton.predecessors[cover].get(nth_cover)?;
        Some(before * n_states as u32 + states[nth_state])
    }

    fn n_constraints(&self) -> usize {
        self.automaton.n_promises + self.constraints.len()
    }

    /// The constraints of the automaton, by which no until is postponed forever, come first, then fairness.
    fn meets(&self, vertex: u32, constraint: usize) -> bool {
        let n_states = self.graph.n_states();
        let (cover, state) = (vertex as usize / n_states, vertex as usize % n_states);
        match constraint.checked_sub(self.automaton.n_promises) {
            None => !self.automaton.covers[cover].promises.contains(&(constraint as u32)),
            Some(fairness) => self.constraints[fairness].contains(state),
        }
    }
}
