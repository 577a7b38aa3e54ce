//! Initial states, reachable states, deadlock.

use std::collections::{BTreeSet, HashMap};

use super::step::codes;
use super::{State, is_true, joint_actions, step};
use crate::{Deadlock, Expr, ExprId, System};

/// The reachable part of a system, state by state. States are indexed breadth-first, the initial
/// ones first; states found together are sorted lexicographically by their codes.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The reachable states.
    pub states: Vec<State>,
    /// For each state, whether it is initial.
    pub initial: Vec<bool>,
    /// For each state its successors, in increasing order, each once. Under
    /// [`Deadlock::Stutter`] a deadlocked state is its own successor.
    pub successors: Vec<Vec<usize>>,
    /// For each state, whether it has no successor in the system itself, without the loops of
    /// [`Deadlock::Stutter`].
    pub deadlocked: Vec<bool>,
    /// For each state, whether some enabled joint action has a choice removed by an overflow.
    pub overflowing: Vec<bool>,
    index: HashMap<State, usize>,
}

impl Structure {
    /// Returns the number of reachable states.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// Returns the index of a state, if it is reachable.
    pub fn index_of(&self, state: &[i64]) -> Option<usize> {
        self.index.get(state).copied()
    }

    /// Returns the index of a state; adds the state if it is new.
    fn intern(&mut self, state: State, is_initial: bool) -> usize {
        *self.index.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            self.initial.push(is_initial);
            self.states.len() - 1
        })
    }
}

/// Computes the reachable states and their successors; returns `None` if there are more than `limit`.
///
/// ```text
/// G is the least set with  I ⊆ G  and  g ∈ G, g → g'  ⟹  g' ∈ G
/// g → g'   iff   some joint action enabled in g leads to g'
/// ```
///
/// A state with no `g'` is deadlocked. [`Deadlock::Error`] explores like [`Deadlock::Finite`]: the
/// caller reports `deadlocked`, as it reports `overflowing` under [`Overflow::Error`].
///
/// [`Overflow::Error`]: crate::Overflow::Error
pub fn explore(system: &System, limit: usize) -> Option<Structure> {
    let mut structure = Structure {
        states: Vec::new(),
        initial: Vec::new(),
        successors: Vec::new(),
        deadlocked: Vec::new(),
        overflowing: Vec::new(),
        index: HashMap::new(),
    };
    for state in initial_states(system, limit)? {
        structure.intern(state, true);
    }
    while let Some(state) = structure.states.get(structure.successors.len()).cloned() {
        let mut found = BTreeSet::new();
        let mut overflows = false;
        for joint in joint_actions(system, &state) {
            let outcome = step(system, &state, &joint);
            overflows |= outcome.overflow;
            found.extend(outcome.successors.into_iter().map(|s| (codes(system, &s), s)));
        }
        structure.deadlocked.push(found.is_empty());
        structure.overflowing.push(overflows);
        if found.is_empty() && system.meaning.deadlock == Deadlock::Stutter {
            found.insert((codes(system, &state), state));
        }
        let successors: BTreeSet<usize> =
            found.into_iter().map(|(_, successor)| structure.intern(successor, false)).collect();
        structure.successors.push(successors.into_iter().collect());
        if structure.n_states() > limit {
            return None;
        }
    }
    Some(structure)
}

/// Returns all valuations that satisfy InitStates, in lexicographic order of codes; `None` if there are
/// more than `limit`.
///
/// ```text
/// I = {g | g(v) in the domain of v for all v, g ⊨ InitStates}
/// ```
///
/// If InitStates is a conjunction, a valuation is dropped at the first conjunct that is false
/// on the variables chosen so far. The set is the same, because a false conjunct stays false.
pub fn initial_states(system: &System, limit: usize) -> Option<Vec<State>> {
    let conjuncts = match system.exprs.get(system.initial) {
        Expr::And(list) => list.to_vec(),
        _ => vec![system.initial],
    };
    // due[n]: the conjuncts that read the first n variables only, and not fewer.
    let mut due = vec![Vec::new(); system.variables.len() + 1];
    for conjunct in conjuncts {
        due[n_variables_needed(system, conjunct)].push(conjunct);
    }
    let mut complete = Vec::new();
    extend(system, &due, &mut State::new(), limit, &mut complete)?;
    Some(complete)
}

/// Adds to `complete` all initial states that begin with `state`; returns `None` if there are more than
/// `limit`.
fn extend(
    system: &System,
    due: &[Vec<ExprId>],
    state: &mut State,
    limit: usize,
    complete: &mut Vec<State>,
) -> Option<()> {
    if !due[state.len()].iter().all(|&c| is_true(system, c, state, &[])) {
        return Some(());
    }
    let Some(variable) = system.variables.get(state.len()) else {
        complete.push(state.clone());
        return (complete.len() <= limit).then_some(());
    };
    for code in 0..u64::try_from(variable.domain.size()).ok()? {
        state.push(variable.domain.value(code));
        extend(system, due, state, limit, complete)?;
        state.pop();
    }
    Some(())
}

/// Returns one more than the index of the last variable that an expression reads; 0 if it reads none.
fn n_variables_needed(system: &System, expr: ExprId) -> usize {
    let mut needed = match system.exprs.get(expr) {
        Expr::Variable(v) => v.index() + 1,
        _ => 0,
    };
    system.exprs.each_operand(expr, |operand| needed = needed.max(n_variables_needed(system, operand)));
    needed
}
