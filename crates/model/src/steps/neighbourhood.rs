//! The states near a state, explored by the definition, as far as evidence and its replay need.
//!
//! Evidence about infinite runs and strategies is looked for here rather than by an engine: the
//! answer is then the same for all engines, whatever they are. How far the search goes is limited by
//! counts, never by time, for the same reason.

use std::collections::HashMap;
use std::rc::Rc;

use super::{JointAction, Moves, State, compare_states, joint_choices};
use crate::{Deadlock, System};

/// So many joint actions and successors are looked at.
const MOST_LOOKED_AT: u64 = 200_000;

/// States by number, each with what can be done there.
pub struct Neighbourhood<'s> {
    system: &'s System,
    moves: Moves<'s>,
    states: Vec<State>,
    numbers: HashMap<State, u32>,
    steps: Vec<Option<Rc<[Step]>>>,
    left: u64,
}

/// A joint action and where it leads, in canonical order; nowhere if every choice overflows.
pub struct Step {
    /// Joint action; none for the loop that is added to a dead end.
    pub joint: Option<JointAction>,
    /// Numbers of the states it leads to.
    pub targets: Vec<u32>,
}

impl<'s> Neighbourhood<'s> {
    /// An empty neighbourhood of a system.
    pub fn new(system: &'s System) -> Neighbourhood<'s> {
        Neighbourhood {
            system,
            moves: Moves::new(system),
            states: Vec::new(),
            numbers: HashMap::new(),
            steps: Vec::new(),
            left: MOST_LOOKED_AT,
        }
    }

    /// The state with a number.
    pub fn state(&self, number: u32) -> &State {
        &self.states[number as usize]
    }

    /// The number of a state, new or not.
    pub fn number(&mut self, state: State) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            self.steps.push(None);
            next
        })
    }

    /// What can be done at a state, in the order of joint actions; none if it is too much.
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

    /// The successors of a state in canonical order, each once; none if there are too many.
    pub fn successors(&mut self, number: u32) -> Option<Vec<u32>> {
        let steps = self.steps(number)?;
        let mut all: Vec<u32> = steps.iter().flat_map(|step| step.targets.iter().copied()).collect();
        all.sort_by(|&a, &b| compare_states(self.system, self.state(a), self.state(b)));
        all.dedup();
        Some(all)
    }
}
