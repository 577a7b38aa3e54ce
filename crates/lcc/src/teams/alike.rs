//! Teams that no formula can tell apart.
//!
//! Formulas see which of their patterns a label matches, and which of their atoms hold in a state.
//! The graph of a team with no more than that is its *shape*. Teams of one shape have the same
//! verdicts, so one of them is checked; and the run that shows why one of them fails is a run of each,
//! transition by transition, with other names.

use masque_mu::{AtomId, LabelId, Lts, PatternId, Play, Space, StateId, Step};
use masque_verdict::Budget;
use rustc_hash::FxHashMap;

use crate::store::Rows;
use crate::system::System;

/// Spaces larger than this are not explored for their shape: a check may need a part of them only.
const LARGEST: u64 = 4096;

/// The shapes met so far.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    shapes: Rows,
    /// For each label, the number of the patterns that it matches.
    seen: Vec<u32>,
    patterns: Rows,
    bounds: Vec<&'static str>,
}

impl Shapes {
    /// The number of the shape of the team in place, if its space is not too large.
    pub(super) fn of(&mut self, space: &mut Space<System>, budget: &Budget) -> Option<u32> {
        let states = budget.states().unwrap_or(LARGEST).min(LARGEST);
        let states = space.explore(&budget.clone().with_states(states)).ok()?;
        if states.len() as u64 > space.system().most_states() {
            return None;
        }
        let n_states = space.system().n_states();
        let mut number = vec![0_u32; n_states];
        states.iter().enumerate().for_each(|(at, state)| number[state.index()] = at as u32);
        let (n_patterns, n_atoms) = (space.system().patterns.len(), space.system().atoms.len());
        let mut words = Vec::with_capacity(4 * n_states);
        for state in states {
            // A dead end is none if it is final, whatever formulas say.
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
            for at in 0..space.transitions(state).len() {
                let (label, to) = space.transitions(state)[at];
                words.extend([self.patterns_of(space, label, n_patterns), number[to.index()]]);
            }
        }
        Some(self.shapes.insert(&words))
    }

    fn bound(&mut self, bound: &'static str) -> u32 {
        let known = self.bounds.iter().position(|other| *other == bound);
        known.unwrap_or_else(|| {
            self.bounds.push(bound);
            self.bounds.len() - 1
        }) as u32
            + 1
    }

    /// The number of the set of patterns that a label matches.
    fn patterns_of(&mut self, space: &mut Space<System>, label: LabelId, n_patterns: usize) -> u32 {
        const UNSEEN: u32 = u32::MAX;
        if self.seen.len() <= label.index() {
            self.seen.resize(label.index() + 1, UNSEEN);
        }
        if self.seen[label.index()] == UNSEEN {
            let matching = (0..n_patterns as u32).filter(|at| space.lts().matches(label, PatternId(*at)));
            let matching: Vec<u32> = matching.collect();
            self.seen[label.index()] = self.patterns.insert(&matching);
        }
        self.seen[label.index()]
    }

    /// Labels have other numbers from now on.
    pub(super) fn forget_labels(&mut self) {
        self.seen.clear();
    }
}

/// A run by the places of its transitions among those of their states: it is one of every team of the
/// same shape.
#[derive(Clone, Debug)]
pub(super) struct Run {
    places: Vec<usize>,
    loop_at: Option<usize>,
    is_closed: bool,
}

impl Run {
    /// The run of a play.
    pub(super) fn new(space: &Space<System>, play: &Play) -> Option<Run> {
        let mut state = play.start;
        let mut places = Vec::new();
        for step in &play.steps {
            let is_it = |(label, to): &(LabelId, StateId)| (*label, *to) == (step.label, step.to);
            places.push(space.transitions(state).iter().position(is_it)?);
            state = step.to;
        }
        Some(Run { places, loop_at: play.loop_at, is_closed: play.is_closed })
    }

    /// The play of a run, in the team in place.
    pub(super) fn play(&self, space: &mut Space<System>) -> Option<Play> {
        let start = space.initial();
        let (mut state, mut steps) = (start, Vec::new());
        for place in &self.places {
            let (label, to) = *space.transitions(state).get(*place)?;
            steps.push(Step { label, to });
            state = to;
        }
        let Run { loop_at, is_closed, .. } = *self;
        Some(Play { turns: Vec::new(), returns_to: None, start, steps, loop_at, is_closed })
    }
}

/// A shortest run into a dead end, if there is one within the budget.
pub(super) fn nearest_dead_end(space: &mut Space<System>, budget: &Budget) -> Option<Play> {
    let states = space.explore(budget).ok()?;
    let is_dead = |state: &&StateId| {
        let is_stuck = space.transitions(**state).is_empty() && space.cut(**state).is_none();
        is_stuck && !space.system().is_final(**state)
    };
    // The nearest come first, and so do the shortest ways to them.
    let end = *states.iter().filter(|state| space.is_expanded(**state)).find(is_dead)?;
    let mut before: FxHashMap<StateId, (StateId, LabelId)> = FxHashMap::default();
    for state in &states {
        for (label, to) in space.transitions(*state) {
            before.entry(*to).or_insert((*state, *label));
        }
    }
    let (start, mut at, mut steps) = (space.initial(), end, Vec::new());
    while at != start {
        let (from, label) = *before.get(&at)?;
        steps.push(Step { label, to: at });
        at = from;
    }
    steps.reverse();
    Some(Play { turns: Vec::new(), returns_to: None, start, steps, loop_at: None, is_closed: true })
}
