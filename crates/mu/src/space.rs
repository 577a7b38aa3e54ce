//! The explored part of a transition system. Each state is expanded once, and each pair of a pattern and a
//! label is matched once, for all formulas together.

use std::mem::size_of;

use masque_verdict::{Budget, Stop, Why};

use crate::dedup::remove_duplicates;
use crate::formula::{Action, ActionId, Formula};
use crate::{AtomId, Completeness, LabelId, Lts, PatternId, StateId};

/// A transition system and the explored part of it.
///
/// It owns or borrows the system: a `&mut` of a system is a system too. Formulas that are checked with one
/// `Space` share the explored states. The verdicts do not depend on the order of the formulas.
#[derive(Debug)]
pub struct Space<L> {
    lts: L,
    /// For each state, the index of its first transition in `transitions`; [`NONE`] if it is not expanded.
    begins: Vec<u32>,
    /// For each state, the number of its transitions.
    counts: Vec<u32>,
    transitions: Vec<(LabelId, StateId)>,
    /// For each state, the bound beyond which it has more transitions: 0 for none, or 1 plus its index in
    /// `bounds`.
    cuts: Vec<u8>,
    bounds: Vec<&'static str>,
    n_expanded: usize,
    n_expansions: u64,
    /// Number of transitions in `transitions` that belong to no state any more.
    n_forgotten: usize,
    /// For each pattern and label: 0 not known, 1 no match, 2 match.
    matches: Vec<Vec<u8>>,
}

const NONE: u32 = u32::MAX;
/// Number of forgotten transitions up to which `transitions` is not compacted.
const MIN_COMPACTED: usize = 1024;

impl<L: Lts> Space<L> {
    /// Returns a space in which nothing is explored.
    pub fn new(lts: L) -> Self {
        Space {
            lts,
            begins: Vec::new(),
            counts: Vec::new(),
            transitions: Vec::new(),
            cuts: Vec::new(),
            bounds: Vec::new(),
            n_expanded: 0,
            n_expansions: 0,
            n_forgotten: 0,
            matches: Vec::new(),
        }
    }

    /// Returns the system.
    pub fn lts(&mut self) -> &mut L {
        &mut self.lts
    }

    /// Returns the system for reading.
    pub fn system(&self) -> &L {
        &self.lts
    }

    /// Forgets all states: the system has other states now, but the same labels.
    pub fn forget_states(&mut self) {
        self.begins.clear();
        self.counts.clear();
        self.cuts.clear();
        self.transitions.clear();
        (self.n_expanded, self.n_forgotten) = (0, 0);
    }

    /// Forgets all states and frees their memory.
    pub(crate) fn drop_states(&mut self) {
        self.forget_states();
        (self.begins, self.counts, self.cuts) = (Vec::new(), Vec::new(), Vec::new());
        self.transitions = Vec::new();
    }

    /// Forgets everything: the system has other states and labels now.
    pub fn clear(&mut self) {
        self.forget_states();
        self.matches.clear();
    }

    /// Returns the initial state.
    pub fn initial(&mut self) -> StateId {
        self.lts.initial()
    }

    /// Returns the number of expanded states.
    pub fn n_expanded(&self) -> usize {
        self.n_expanded
    }

    /// Returns how often a state was expanded, including states that were forgotten since.
    pub fn n_expansions(&self) -> u64 {
        self.n_expansions
    }

    /// Returns the number of transitions of expanded states.
    pub fn n_transitions(&self) -> usize {
        self.transitions.len() - self.n_forgotten
    }

    /// Whether a state is expanded.
    pub fn is_expanded(&self, state: StateId) -> bool {
        self.begins.get(state.index()).is_some_and(|&begin| begin != NONE)
    }

    /// Returns the transitions of an expanded state, without duplicates, in the order of the system; an empty
    /// slice for any other state.
    pub fn transitions(&self, state: StateId) -> &[(LabelId, StateId)] {
        match self.begins.get(state.index()) {
            Some(&begin) if begin != NONE => {
                &self.transitions[begin as usize..(begin + self.counts[state.index()]) as usize]
            }
            _ => &[],
        }
    }

    /// Returns the bound beyond which an expanded state has more transitions, if there is one.
    pub fn cut(&self, state: StateId) -> Option<&'static str> {
        let number = usize::from(*self.cuts.get(state.index())?);
        self.bounds.get(number.checked_sub(1)?).copied()
    }

    /// Expands a state: asks the system for its transitions, unless they are known.
    pub fn expand(&mut self, state: StateId) -> Result<(), Stop> {
        if self.is_expanded(state) {
            return Ok(());
        }
        if self.begins.len() <= state.index() {
            self.begins.resize(state.index() + 1, NONE);
            self.counts.resize(state.index() + 1, 0);
            self.cuts.resize(state.index() + 1, 0);
        }
        let begin = self.transitions.len();
        let transitions = &mut self.transitions;
        let complete = self.lts.successors(state, &mut |label, to| transitions.push((label, to)));
        if let Some(stop) = self.lts.stopped() {
            self.transitions.truncate(begin);
            return Err(stop);
        }
        remove_duplicates(&mut self.transitions, begin);
        let end = u32::try_from(self.transitions.len()).ok().filter(|&end| end != NONE);
        let end = end.ok_or(Stop::from(Why::Memory))?;
        (self.begins[state.index()], self.counts[state.index()]) = (begin as u32, end - begin as u32);
        self.n_expanded += 1;
        self.n_expansions += 1;
        if let Completeness::Cut(bound) = complete {
            let known = self.bounds.iter().position(|other| *other == bound);
            let index = known.unwrap_or_else(|| {
                self.bounds.push(bound);
                self.bounds.len() - 1
            });
            // There are far fewer than 255 bounds; if there were more, the last would get the name of the 255th.
            self.cuts[state.index()] = u8::try_from(index + 1).unwrap_or(u8::MAX);
        }
        Ok(())
    }

    /// Forgets the transitions of a state that have changed; the state is expanded again when necessary.
    pub fn forget(&mut self, state: StateId) {
        if self.is_expanded(state) {
            self.n_expanded -= 1;
            self.n_forgotten += self.counts[state.index()] as usize;
            (self.begins[state.index()], self.counts[state.index()]) = (NONE, 0);
            self.cuts[state.index()] = 0;
        }
        if self.n_forgotten > MIN_COMPACTED && self.n_forgotten > self.transitions.len() / 2 {
            self.compact();
        }
    }

    /// Removes forgotten transitions from `transitions`.
    fn compact(&mut self) {
        let mut kept = Vec::with_capacity(self.n_transitions());
        for (begin, count) in self.begins.iter_mut().zip(&self.counts).filter(|(begin, _)| **begin != NONE) {
            let old = std::mem::replace(begin, kept.len() as u32) as usize;
            kept.extend_from_slice(&self.transitions[old..old + *count as usize]);
        }
        (self.transitions, self.n_forgotten) = (kept, 0);
    }

    /// Returns one more than the largest index of a state that is expanded or is the target of a transition.
    pub(crate) fn n_known(&self) -> usize {
        let largest = self.transitions.iter().map(|(_, to)| to.index() + 1).max().unwrap_or(0);
        self.begins.len().max(largest)
    }

    /// Expands all reachable states in breadth-first order, and returns them in this order. States beyond the
    /// bound [`Lts::max_states`] are returned, but not expanded.
    ///
    /// ```
    /// use masque_mu::{Graph, Space};
    /// use masque_verdict::Budget;
    ///
    /// let mut graph = Graph::new();
    /// let (off, on) = (graph.state(), graph.state());
    /// graph.transition(off, "press", on);
    /// let mut space = Space::new(&mut graph);
    /// let states = space.explore(&Budget::unlimited()).unwrap();
    /// let dead_ends = states.iter().filter(|state| space.transitions(**state).is_empty());
    /// assert_eq!((states.len(), space.n_transitions(), dead_ends.count()), (2, 1, 1));
    /// ```
    pub fn explore(&mut self, budget: &Budget) -> Result<Vec<StateId>, Stop> {
        let initial = self.initial();
        let mut states = vec![initial];
        let mut seen = vec![false; initial.index() + 1];
        seen[initial.index()] = true;
        let mut done = 0;
        while let Some(&state) = states.get(done) {
            if done as u64 >= self.lts.max_states() {
                break;
            }
            if done.is_multiple_of(256) {
                budget.check()?;
                budget.check_memory(self.bytes() + self.lts.bytes())?;
            }
            done += 1;
            self.expand(state).map_err(|stop| stop.after_states(states.len() as u64))?;
            for &(_, to) in self.transitions(state) {
                if seen.len() <= to.index() {
                    seen.resize(to.index() + 1, false);
                }
                if !std::mem::replace(&mut seen[to.index()], true) {
                    states.push(to);
                }
            }
            budget
                .check_states(states.len() as u64)
                .map_err(|stop| stop.after_states(states.len() as u64))?;
        }
        Ok(states)
    }

    /// Whether an atom holds in a state.
    pub fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.lts.holds(state, atom)
    }

    /// Whether a label is in a set of labels of a formula.
    pub fn is_in(&mut self, formula: &Formula, action: ActionId, label: LabelId) -> bool {
        match formula.action(action) {
            Action::Any => true,
            Action::Is(pattern) => self.matches(*pattern, label),
            Action::Not(inner) => !self.is_in(formula, *inner, label),
            Action::Either(actions) => actions.iter().any(|&action| self.is_in(formula, action, label)),
        }
    }

    fn matches(&mut self, pattern: PatternId, label: LabelId) -> bool {
        if self.matches.len() <= pattern.index() {
            self.matches.resize(pattern.index() + 1, Vec::new());
        }
        let row = &mut self.matches[pattern.index()];
        if row.len() <= label.index() {
            row.resize(label.index() + 1, 0);
        }
        if row[label.index()] == 0 {
            row[label.index()] = 1 + u8::from(self.lts.matches(label, pattern));
        }
        row[label.index()] == 2
    }

    /// Returns the memory in bytes, without that of the system.
    pub fn bytes(&self) -> u64 {
        let states = self.begins.capacity() * (2 * size_of::<u32>() + 1);
        let transitions = self.transitions.capacity() * size_of::<(LabelId, StateId)>();
        let matches: usize = self.matches.iter().map(Vec::capacity).sum();
        (states + transitions + matches) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system of one state, whose transitions to itself may change and may have duplicates.
    struct Changing(Vec<u32>);

    impl Lts for Changing {
        fn initial(&mut self) -> StateId {
            StateId(0)
        }

        fn successors(&mut self, _: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
            self.0.iter().for_each(|&label| step(LabelId(label), StateId(0)));
            Completeness::Complete
        }

        fn holds(&mut self, _: StateId, _: AtomId) -> bool {
            false
        }

        fn matches(&mut self, _: LabelId, _: PatternId) -> bool {
            false
        }
    }

    #[test]
    fn transitions_are_kept_in_order_once_each_until_forgotten() {
        let many: Vec<u32> = (0..40).chain((0..40).rev()).collect();
        for (given, kept) in [(vec![2, 0, 2, 1, 0], vec![2, 0, 1]), (many, (0..40).collect())] {
            let mut system = Changing(given);
            let mut space = Space::new(&mut system);
            space.expand(StateId(0)).unwrap();
            let labels = |space: &Space<&mut Changing>| -> Vec<u32> {
                space.transitions(StateId(0)).iter().map(|(label, _)| label.0).collect()
            };
            assert_eq!(labels(&space), kept);
            space.lts().0 = vec![7];
            space.expand(StateId(0)).unwrap();
            assert_eq!(labels(&space), kept);
            space.forget(StateId(0));
            assert_eq!((labels(&space), space.n_transitions(), space.n_expanded()), (vec![], 0, 0));
            space.expand(StateId(0)).unwrap();
            assert_eq!((labels(&space), space.n_transitions(), space.n_expanded()), (vec![7], 1, 1));
        }
    }
}
