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

/// Goes through all reachable states.
pub fn explore(system: &mut System, budget: &Budget) -> Result<Counts, Stop> {
    let mut counts = Counts::default();
    let first = system.initial();
    let mut state = first.0;
    while (state as usize) < system.n_states() {
        let so_far = |stop: Stop| stop.after_states(u64::from(state));
        budget.check_states(system.n_states() as u64).map_err(so_far)?;
        if state.is_multiple_of(256) {
            budget.check().map_err(so_far)?;
            budget.check_memory(system.bytes()).map_err(so_far)?;
        }
        let mut n_steps = 0;
        let complete = system.successors(StateId(state), &mut |_, _| n_steps += 1);
        counts.transitions += n_steps;
        match (n_steps, complete, system.is_final(StateId(state))) {
            (0, Completeness::Complete, true) => counts.finals += 1,
            (0, Completeness::Complete, false) => counts.deadlocks += 1,
            _ => {}
        }
        if let Completeness::Cut(bound) = complete {
            counts.cut.get_or_insert(bound);
        }
        state += 1;
    }
    counts.states = system.n_states() as u64;
    Ok(counts)
}
