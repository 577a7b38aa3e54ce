//! The states near a state, explored by the definition, as far as evidence and its replay need.
//!
//! Evidence about infinite paths and strategies is searched for here rather than by an engine, so that the
//! result is the same for all engines. For the same reason the search is limited by counts, not by time.

use std::collections::HashMap;
use std::rc::Rc;

use super::{JointAction, Moves, State, compare_states, joint_choices};
use crate::{Deadlock, System};

/// Maximum number of joint actions and successors that are explored, together.
const MAX_EXPLORED: u64 = 200_000;

/// Numbered states, each with its steps once they are explored.
pub struct Neighbourhood<'s> {
    system: &'s System,
    moves: Moves<'s>,
    states: Vec<State>,
    numbers: HashMap<State, u32>,
    steps: Vec<Option<Rc<[Step]>>>,
    /// Number of joint actions and successors that may still be explored.
    left: u64,
}

/// A joint action and its successors.
pub struct Step {
    /// Joint action; `None` for the loop that is added to a dead end.
    pub joint: Option<JointAction>,
    /// Numbers of the successors in canonical order; empty if every choice overflows.
    pub targets: Vec<u32>,
}

impl<'s> Neighbourhood<'s> {
    /// Makes a neighbourhood without states.
    pub fn new(system: &'s System) -> Neighbourhood<'s> {
        Neighbourhood {
            system,
            moves: Moves::new(system),
            states: Vec::new(),
            numbers: HashMap::new(),
            steps: Vec::new(),
            left: MAX_EXPLORED,
        }
    }

    /// Returns the state with a number.
    pub fn state(&self, number: u32) -> &State {
        &self.states[number as usize]
    }

    /// Returns the number of a state; adds the state if it is new.
    pub fn number(&mut self, state: State) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            self.steps.push(None);
            next
        })
    }

    /// Returns the steps of a state, in the order of joint actions; `None` if there are too many.
    pub fn steps(&mut self, number: u32) -> Option<Rc<[Step]>> {
        if let Some(steps) = &self.steps[number as usize] {
            return Some(Rc::clone(steps));
        }
        let state = self.states[number as usize].clone();
        let choices = joint_choices(self.system, &state);
        let n_choices = choices.lists.iter().try_fold(1_u64, |n, list| n.checked_mul(list.len() as u64))?;
        self.left = self.left.checked_sub(n_choices)?;
        let mut steps: Vec<Step> = Vec::new();
        for joint in choices.iter() {
            let mut found: Vec<State> = Vec::new();
            for next in self.moves.successors(&state, &joint).iter() {
                self.left = self.left.checked_sub(1)?;
                found.push(next);
            }
            found.sort_by(|a, b| compare_states(self.system, a, b));
            found.dedup();
            let targets = found.into_iter().map(|next| self.number(next)).collect();
            steps.push(Step { joint: Some(joint), targets });
        }
        let is_dead = steps.iter().all(|step| step.targets.is_empty());
        if is_dead && self.system.meaning.deadlock == Deadlock::Stutter {
            steps = vec![Step { joint: None, targets: vec![number] }];
        }
        let steps: Rc<[Step]> = steps.into();
        self.steps[number as usize] = Some(Rc::clone(&steps));
        Some(steps)
    }

    /// Returns the successors of a state in canonical order, each once; `None` if there are too many.
    pub fn successors(&mut self, number: u32) -> Option<Vec<u32>> {
        let steps = self.steps(number)?;
        let mut all: Vec<u32> = steps.iter().flat_map(|step| step.targets.iter().copied()).collect();
        all.sort_by(|&a, &b| compare_states(self.system, self.state(a), self.state(b)));
        all.dedup();
        Some(all)
    }
}
