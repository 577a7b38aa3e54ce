//! The whole space, counted.

use masque_mu::{Completeness, Lts, StateId};
use masque_verdict::{Budget, Stop};

use crate::system::System;

/// What there is in the whole space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reachable states.
    pub states: u64,
    /// Distinct transitions.
    pub transitions: u64,
    /// States with no transition that are not final.
    pub deadlocks: u64,
    /// Final states with no transition.
    pub finals: u64,
    /// The bound beyond which there may be more.
    pub cut: Option<&'static str>,
}

/// Goes through all reachable states, the nearest first, as far as the bound `states` allows. What was
/// explored before does not count.
pub fn explore(system: &mut System, budget: &Budget) -> Result<Counts, Stop> {
    let mut counts = Counts::default();
    let mut states = vec![system.initial()];
    let mut is_met: Vec<bool> = Vec::new();
    meet(&mut is_met, states[0]);
    let mut done = 0;
    while let Some(&state) = states.get(done) {
        if done as u64 >= system.most_states() {
            counts.cut.get_or_insert("states");
            break;
        }
        let so_far = |stop: Stop| stop.after_states(done as u64);
        budget.check_states(states.len() as u64).map_err(so_far)?;
        if done.is_multiple_of(256) {
            budget.check().map_err(so_far)?;
            budget.check_memory(system.bytes()).map_err(so_far)?;
        }
        let mut n_steps = 0;
        let complete = system.successors(state, &mut |_, target| {
            n_steps += 1;
            if meet(&mut is_met, target) {
                states.push(target);
            }
        });
        counts.transitions += n_steps;
        match (n_steps, complete, system.is_final(state)) {
            (0, Completeness::Complete, true) => counts.finals += 1,
            (0, Completeness::Complete, false) => counts.deadlocks += 1,
            _ => {}
        }
        if let Completeness::Cut(bound) = complete {
            counts.cut.get_or_insert(bound);
        }
        done += 1;
    }
    counts.states = states.len() as u64;
    Ok(counts)
}

/// Records that a state is met; says whether it is new.
fn meet(is_met: &mut Vec<bool>, state: StateId) -> bool {
    if is_met.len() <= state.index() {
        is_met.resize(state.index() + 1, false);
    }
    !std::mem::replace(&mut is_met[state.index()], true)
}
