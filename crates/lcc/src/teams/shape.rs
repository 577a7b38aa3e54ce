//! Teams that no formula can distinguish.
//!
//! Formulas see which of their patterns a label matches, and which of their atoms hold in a state. The state
//! graph of a team, reduced to this information, is its *shape*. Teams of one shape have the same verdicts,
//! so only one of them is checked. A run that shows why one of them fails is a run of each, with other names.

use masque_mu::{AtomId, LabelId, Lts, PatternId, Play, Space, StateId, Step};
use masque_verdict::Budget;
use rustc_hash::FxHashMap;

use crate::rows::Rows;
use crate::system::System;

/// Maximum number of states of a team whose shape is computed. A check may visit only a part of a larger
/// space.
const MAX_SHAPE_STATES: u64 = 4096;

/// The shapes found so far.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    shapes: Rows,
    /// For each label, the index of the set of patterns that it matches.
    seen: Vec<u32>,
    /// Sets of patterns.
    patterns: Rows,
    /// Names of bounds that were exceeded.
    bounds: Vec<&'static str>,
}

impl Shapes {
    /// Returns the index of the shape of the current team; `None` if its space is too large.
    pub(super) fn of(&mut self, space: &mut Space<System>, budget: &Budget) -> Option<u32> {
        let states = budget.states().unwrap_or(MAX_SHAPE_STATES).min(MAX_SHAPE_STATES);
        let states = space.explore(&budget.clone().with_states(states)).ok()?;
        if states.len() as u64 > space.system().max_states() {
            return None;
        }
        let n_states = space.system().n_states();
        let mut number = vec![0_u32; n_states];
        states.iter().enumerate().for_each(|(index, state)| number[state.index()] = index as u32);
        let (n_patterns, n_atoms) = (space.system().patterns.len(), space.system().atoms.len());
        let mut words = Vec::with_capacity(4 * n_states);
        for state in states {
            // Evidence distinguishes final states from dead ends, even if no formula does.
            let is_final = space.system().is_final(state);
            words.push(2 * space.transitions(state).len() as u32 + u32::from(is_final));
            words.push(space.cut(state).map_or(0, |bound| self.bound(bound)));
            for atoms in (0..n_atoms as u32).collect::<Vec<_>>().chunks(32) {
                let mut holds = 0;
                for (bit, atom) in atoms.iter().enumerate() {
                    holds |= u32::from(space.holds(state, AtomId(*atom))) << bit;
                }
                words.push(holds);
            }
            for index in 0..space.transitions(state).len() {
                let (label, to) = space.transitions(state)[index];
                words.extend([self.patterns_of(space, label, n_patterns), number[to.index()]]);
            }
        }
        Some(self.shapes.insert(&words))
    }

    /// Returns a number for a bound, from 1 on.
    fn bound(&mut self, bound: &'static str) -> u32 {
        let known = self.bounds.iter().position(|other| *other == bound);
        known.unwrap_or_else(|| {
            self.bounds.push(bound);
            self.bounds.len() - 1
        }) as u32
            + 1
    }

    /// Returns the index of the set of patterns that a label matches.
    fn patterns_of(&mut self, space: &mut Space<System>, label: LabelId, n_patterns: usize) -> u32 {
        const UNSEEN: u32 = u32::MAX;
        if self.seen.len() <= label.index() {
            self.seen.resize(label.index() + 1, UNSEEN);
        }
        if self.seen[label.index()] == UNSEEN {
            let matching =
                (0..n_patterns as u32).filter(|index| space.lts().matches(label, PatternId(*index)));
            let matching: Vec<u32> = matching.collect();
            self.seen[label.index()] = self.patterns.insert(&matching);
        }
        self.seen[label.index()]
    }

    /// Discards what is known about labels, because they are renumbered.
    pub(super) fn forget_labels(&mut self) {
        self.seen.clear();
    }
}

/// A run, given by the index of each transition among those of its state, so that it is a run of every team
/// of the same shape.
#[derive(Clone, Debug)]
pub(super) struct TransitionPath {
    indices: Vec<usize>,
    loop_at: Option<usize>,
    is_closed: bool,
}

impl TransitionPath {
    /// Makes the transition path of a play.
    pub(super) fn new(space: &Space<System>, play: &Play) -> Option<TransitionPath> {
        let mut state = play.start;
        let mut indices = Vec::new();
        for step in &play.steps {
            let is_it = |(label, to): &(LabelId, StateId)| (*label, *to) == (step.label, step.to);
            indices.push(space.transitions(state).iter().position(is_it)?);
            state = step.to;
        }
        Some(TransitionPath { indices, loop_at: play.loop_at, is_closed: play.is_closed })
    }

    /// Returns the play of this path in the current team.
    pub(super) fn play(&self, space: &mut Space<System>) -> Option<Play> {
        let start = space.initial();
        let (mut state, mut steps) = (start, Vec::new());
        for index in &self.indices {
            let (label, to) = *space.transitions(state).get(*index)?;
            steps.push(Step { label, to });
            state = to;
        }
        let TransitionPath { loop_at, is_closed, .. } = *self;
        Some(Play { turns: Vec::new(), returns_to: None, start, steps, loop_at, is_closed })
    }
}

/// Finds a shortest run into a deadlock, if there is one within the budget.
pub(super) fn nearest_dead_end(space: &mut Space<System>, budget: &Budget) -> Option<Play> {
    let states = space.explore(budget).ok()?;
    let is_dead = |state: &&StateId| {
        let is_stuck = space.transitions(**state).is_empty() && space.cut(**state).is_none();
        is_stuck && !space.system().is_final(**state)
    };
    // States are in breadth-first order, so the first predecessor found is on a shortest path.
    let end = *states.iter().filter(|state| space.is_expanded(**state)).find(is_dead)?;
    let mut before: FxHashMap<StateId, (StateId, LabelId)> = FxHashMap::default();
    for state in &states {
        for (label, to) in space.transitions(*state) {
            before.entry(*to).or_insert((*state, *label));
        }
    }
    let (start, mut state, mut steps) = (space.initial(), end, Vec::new());
    while state != start {
        let (from, label) = *before.get(&state)?;
        steps.push(Step { label, to: state });
        state = from;
    }
    steps.reverse();
    Some(Play { turns: Vec::new(), returns_to: None, start, steps, loop_at: None, is_closed: true })
}
