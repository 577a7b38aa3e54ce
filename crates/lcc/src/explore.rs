//! Explores the whole state space and counts states, transitions and deadlocks.

use masque_mu::{Completeness, Lts, StateId};
use masque_verdict::{Budget, Stop};

use crate::system::System;

/// Numbers that describe a state space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of reachable states.
    pub states: u64,
    /// Number of distinct transitions.
    pub transitions: u64,
    /// Number of states without transitions that are not final.
    pub deadlocks: u64,
    /// Number of final states without transitions.
    pub finals: u64,
    /// Name of the first bound that was exceeded, if any; the counts are then incomplete.
    pub cut: Option<&'static str>,
}

/// Visits all reachable states in breadth-first order, up to the bound `states`. States that earlier
/// explorations found do not count towards the bound.
pub fn explore(system: &mut System, budget: &Budget) -> Result<Counts, Stop> {
    system.set_budget(budget);
    let counted = count(system, budget);
    system.set_budget(&Budget::unlimited());
    counted
}

fn count(system: &mut System, budget: &Budget) -> Result<Counts, Stop> {
    let mut counts = Counts::default();
    let mut states = vec![system.initial()];
    let mut reached: Vec<bool> = Vec::new();
    mark_reached(&mut reached, states[0]);
    let mut done = 0;
    while let Some(&state) = states.get(done) {
        if done as u64 >= system.max_states() {
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
            if mark_reached(&mut reached, target) {
                states.push(target);
            }
        });
        if let Some(stop) = system.stopped() {
            return Err(so_far(stop));
        }
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

/// Marks a state as reached. Returns whether it was not marked before.
pub(crate) fn mark_reached(reached: &mut Vec<bool>, state: StateId) -> bool {
    if reached.len() <= state.index() {
        reached.resize(state.index() + 1, false);
    }
    !std::mem::replace(&mut reached[state.index()], true)
}
