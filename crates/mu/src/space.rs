//! What is known of a transition system so far: each state is asked for its successors once, each
//! pair of pattern and label for a match once, for all formulas together.

use std::mem::size_of;

use masque_verdict::{Budget, Stop, Why};

use crate::formula::{Action, ActionId, Formula};
use crate::{AtomId, Completeness, LabelId, Lts, PatternId, StateId};

/// A transition system and all that was found out about it.
///
/// It owns the system, or borrows it: a `&mut` of a system is a system too. Check several formulas
/// with one `Space`, and each explores only what those before it did not. The verdicts do not depend
/// on their order.
#[derive(Debug)]
pub struct Space<L> {
    lts: L,
    /// For each state, where its transitions begin in `transitions`; [`NONE`] if not expanded.
    begins: Vec<u32>,
    /// For each state, how many there are.
    counts: Vec<u32>,
    transitions: Vec<(LabelId, StateId)>,
    /// For each state, the bound beyond which it has more transitions: 0 for none, or its place in
    /// `bounds` from 1.
    cuts: Vec<u8>,
    bounds: Vec<&'static str>,
    n_expanded: usize,
    n_asked: u64,
    /// Transitions that are in `transitions` and no longer count.
    n_forgotten: usize,
    /// For each pattern and label: 0 not asked, 1 no match, 2 match.
    matches: Vec<Vec<u8>>,
}

const NONE: u32 = u32::MAX;
/// Fewer forgotten transitions than this are no reason to move the others.
const LOOSE: usize = 1024;

impl<L: Lts> Space<L> {
    /// Nothing is known yet.
    pub fn new(lts: L) -> Self {
        Space {
            lts,
            begins: Vec::new(),
            counts: Vec::new(),
            transitions: Vec::new(),
            cuts: Vec::new(),
            bounds: Vec::new(),
            n_expanded: 0,
            n_asked: 0,
            n_forgotten: 0,
            matches: Vec::new(),
        }
    }

    /// The system itself.
    pub fn lts(&mut self) -> &mut L {
        &mut self.lts
    }

    /// The system itself, to look at.
    pub fn system(&self) -> &L {
        &self.lts
    }

    /// Forgets all that was found out about states: the system has others now, but the same labels.
    pub fn forget_states(&mut self) {
        self.begins.clear();
        self.counts.clear();
        self.cuts.clear();
        self.transitions.clear();
        (self.n_expanded, self.n_forgotten) = (0, 0);
    }

    /// Forgets all that was found out about states, and frees its memory.
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

    /// The initial state.
    pub fn initial(&mut self) -> StateId {
        self.lts.initial()
    }

    /// How many states were asked for their successors.
    pub fn n_expanded(&self) -> usize {
        self.n_expanded
    }

    /// How often a state was asked for its successors, those included that were forgotten since.
    pub fn n_asked(&self) -> u64 {
        self.n_asked
    }

    /// How many transitions these have.
    pub fn n_transitions(&self) -> usize {
        self.transitions.len() - self.n_forgotten
    }

    /// Whether a state was asked for its successors.
    pub fn is_expanded(&self, state: StateId) -> bool {
        self.begins.get(state.index()).is_some_and(|&begin| begin != NONE)
    }

    /// The transitions of an expanded state, without doubles, in the order of the system; none of
    /// any other state.
    pub fn transitions(&self, state: StateId) -> &[(LabelId, StateId)] {
        match self.begins.get(state.index()) {
            Some(&begin) if begin != NONE => {
                &self.transitions[begin as usize..(begin + self.counts[state.index()]) as usize]
            }
            _ => &[],
        }
    }

    /// The bound beyond which an expanded state has more transitions.
    pub fn cut(&self, state: StateId) -> Option<&'static str> {
        let place = usize::from(*self.cuts.get(state.index())?);
        self.bounds.get(place.checked_sub(1)?).copied()
    }

    /// Asks a state for its successors, unless that was done.
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
        forget_doubles(&mut self.transitions, begin);
        let end = u32::try_from(self.transitions.len()).ok().filter(|&end| end != NONE);
        let end = end.ok_or(Stop::from(Why::Memory))?;
        (self.begins[state.index()], self.counts[state.index()]) = (begin as u32, end - begin as u32);
        self.n_expanded += 1;
        self.n_asked += 1;
        if let Completeness::Cut(bound) = complete {
            let known = self.bounds.iter().position(|other| *other == bound);
            let place = known.unwrap_or_else(|| {
                self.bounds.push(bound);
                self.bounds.len() - 1
            });
            // More than 255 bounds do not exist; if they did, the last name would serve for the rest.
            self.cuts[state.index()] = u8::try_from(place + 1).unwrap_or(u8::MAX);
        }
        Ok(())
    }

    /// Forgets the transitions of a state, whose rules have changed; it is asked again when needed.
    pub fn forget(&mut self, state: StateId) {
        if self.is_expanded(state) {
            self.n_expanded -= 1;
            self.n_forgotten += self.counts[state.index()] as usize;
            (self.begins[state.index()], self.counts[state.index()]) = (NONE, 0);
            self.cuts[state.index()] = 0;
        }
        if self.n_forgotten > LOOSE && self.n_forgotten > self.transitions.len() / 2 {
            self.compact();
        }
    }

    /// Closes the gaps that forgotten transitions leave.
    fn compact(&mut self) {
        let mut kept = Vec::with_capacity(self.n_transitions());
        for (begin, count) in self.begins.iter_mut().zip(&self.counts).filter(|(begin, _)| **begin != NONE) {
            let old = std::mem::replace(begin, kept.len() as u32) as usize;
            kept.extend_from_slice(&self.transitions[old..old + *count as usize]);
        }
        (self.transitions, self.n_forgotten) = (kept, 0);
    }

    /// One more than the largest number of a state that was expanded or has a transition to it.
    pub(crate) fn n_known(&self) -> usize {
        let largest = self.transitions.iter().map(|(_, to)| to.index() + 1).max().unwrap_or(0);
        self.begins.len().max(largest)
    }

    /// Expands every state that can be reached, nearest first, and lists them in this order. States
    /// beyond the bound [`Lts::most_states`] are listed, but they are not expanded here.
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
        while let Some(&state) = states.get(done).filter(|_| (done as u64) < self.lts.most_states()) {
            if done.is_multiple_of(256) {
                budget.check()?;
                budget.check_memory(self.bytes())?;
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

    /// Whether a label is in a set that a formula speaks of.
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

    /// The bytes held here; what the system itself holds is its own affair.
    pub fn bytes(&self) -> u64 {
        let states = self.begins.capacity() * (2 * size_of::<u32>() + 1);
        let transitions = self.transitions.capacity() * size_of::<(LabelId, StateId)>();
        let matches: usize = self.matches.iter().map(Vec::capacity).sum();
        (states + transitions + matches) as u64
    }
}

/// Removes transitions that were given before, from `begin` on. Their order stays.
fn forget_doubles(transitions: &mut Vec<(LabelId, StateId)>, begin: usize) {
    let new = &transitions[begin..];
    // Most states have few transitions: comparing them all is faster than sorting.
    if new.len() <= 16 {
        let mut end = begin;
        for i in begin..transitions.len() {
            let this = transitions[i];
            if !transitions[begin..end].contains(&this) {
                transitions[end] = this;
                end += 1;
            }
        }
        transitions.truncate(end);
        return;
    }
    let mut order: Vec<usize> = (0..new.len()).collect();
    order.sort_unstable_by_key(|&i| (new[i], i));
    order.dedup_by_key(|i| new[*i]);
    if order.len() < new.len() {
        order.sort_unstable();
        let kept: Vec<_> = order.iter().map(|&i| new[i]).collect();
        transitions.truncate(begin);
        transitions.extend(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system whose one state has transitions to itself, with doubles, that may change.
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
