//! Synthesis: accessibility (Condition 1), incoherent states (Condition 2), totality. [BB04 §4]

use super::{Reference, State, World};
use crate::model::{Condition2, Edge, Totality};
use crate::outcome::{Failure, Status};
use crate::plan::{OwnPart, WorldId};

impl Reference<'_> {
    /// Explores the program of a world and removes the states that the conditions do not allow.
    pub(super) fn build(&mut self, world: WorldId) -> Result<World, Failure> {
        let explored = self.explore(world)?;
        let is_knotted = self.plan.worlds[world.index()].children.values().any(|child| *child == world);
        if !is_knotted {
            return Ok(self.prune(world, explored));
        }
        // The greatest set of states that is coherent with what is accessible within it.
        let mut kept = vec![true; explored.states.len()];
        loop {
            let super::steps::Explored { states, initial, next } = explored.clone();
            let (bad, dead) = (vec![false; kept.len()], vec![false; kept.len()]);
            let candidate = World { states, initial, next, bad, dead, kept, status: Status::Ok };
            self.known.retain(|(known, _), _| *known != world);
            self.worlds.insert(world, candidate);
            let pruned = self.prune(world, explored.clone());
            if pruned.kept == self.world(world).kept {
                self.known.retain(|(known, _), _| *known != world);
                return Ok(pruned);
            }
            kept = pruned.kept;
        }
    }

    /// Removes the states of a program that the conditions do not allow.
    fn prune(&mut self, world: WorldId, explored: super::steps::Explored) -> World {
        let bad: Vec<bool> = explored.states.iter().map(|s| self.is_bad(world, s)).collect();
        let n_states = explored.states.len();
        let good: Vec<bool> = bad.iter().map(|is_bad| !is_bad).collect();
        let with_future = future(&explored.next, &good);
        let dead: Vec<bool> = (0..n_states).map(|s| good[s] && !with_future[s]).collect();
        let inside = match self.model.options.totality {
            Totality::Trim => with_future,
            Totality::Strict => good,
        };
        let initial: Vec<bool> = (0..n_states).map(|s| explored.initial[s] && inside[s]).collect();
        let mut kept = reachable(&explored.next, &initial, &inside);
        let has_successor = |s: usize| explored.next[s].iter().any(|&t| inside[t]);
        let status = if !initial.contains(&true) {
            Status::NoInitialState
        } else if (0..n_states).any(|s| kept[s] && !has_successor(s)) {
            Status::NotTotal
        } else {
            Status::Ok
        };
        if status != Status::Ok {
            kept = vec![false; n_states];
        }
        let super::steps::Explored { states, initial, next } = explored;
        World { states, initial, next, bad, dead, kept, status }
    }

    /// Returns the states of the world below that are accessible from a state: those that satisfy the
    /// argument of every explicit attitude of the edge that is true in it.
    ///
    /// ```text
    /// Acc_e(s) = S_v ∩ ⋂ {⟦φ⟧_v | O(i, φ) explicit on e, true in s}
    /// ```
    ///
    /// If the edge leads to the world itself, the same explicit attitudes of the edge are true in an accessible
    /// state: an agent knows its own attitudes. With `option self = paper` [BB04 Fig. 1] a state that is accessible
    /// by belief also has the same values of all variables and explicit attitudes, and one that is accessible by
    /// intention from a state with an action has the same action.
    pub fn accessible(&mut self, world: WorldId, state: &State, edge: Edge) -> Vec<bool> {
        let Some(child) = self.plan.child(world, edge) else { return Vec::new() };
        let mut accessible = self.world(child).kept.clone();
        for var in self.model.program(self.plan.program(world)).vars.clone() {
            let Some(attitude) = self.model.var(var).attitude else { continue };
            if attitude.edge == edge && self.label(world, state, var) {
                let arg = self.sat(child, attitude.arg);
                accessible.iter_mut().zip(&arg).for_each(|(a, b)| *a &= b);
            }
            if attitude.edge == edge && child == world {
                let here = self.label(world, state, var);
                self.restrict(&mut accessible, world, |this, t| this.label(world, t, var) == here);
            }
        }
        if let Some(part) = self.plan.own_part(self.model, world, edge) {
            self.restrict(&mut accessible, world, |this, t| match part {
                OwnPart::Variables => this.same_variables(world, state, t),
                OwnPart::Action => state.action.is_none() || t.action == state.action,
            });
        }
        accessible
    }

    /// Removes the states from a set of states of a world that do not satisfy a condition.
    fn restrict(&mut self, set: &mut [bool], world: WorldId, condition: impl Fn(&mut Self, &State) -> bool) {
        for (index, is_in) in set.iter_mut().enumerate().filter(|(_, is_in)| **is_in) {
            let state = self.world(world).states[index].clone();
            *is_in = condition(self, &state);
        }
    }

    /// Whether all variables and explicit attitudes have the same values in two states of a world.
    fn same_variables(&mut self, world: WorldId, s: &State, t: &State) -> bool {
        let vars = &self.model.program(self.plan.program(world)).vars;
        vars.iter().all(|&var| match self.model.var(var).attitude {
            Some(_) => self.label(world, s, var) == self.label(world, t, var),
            None => self.value(s, var) == self.value(t, var),
        })
    }

    /// Whether a state lacks an attitude whose argument holds in all accessible states or, with `option
    /// consistency`, no state is accessible from it.
    fn is_bad(&mut self, world: WorldId, state: &State) -> bool {
        let planned = &self.plan.worlds[world.index()];
        if planned.is_leaf {
            return false;
        }
        let program = planned.program;
        for (edge, vars) in self.model.edges(program) {
            let accessible = self.accessible(world, state, edge);
            if self.model.options.consistency && !accessible.contains(&true) {
                return true;
            }
            let Some(child) = self.plan.child(world, edge) else { continue };
            for var in vars {
                let Some(attitude) = self.model.var(var).attitude else { continue };
                if self.model.options.condition2 == Condition2::Infer || self.label(world, state, var) {
                    continue;
                }
                let arg = self.sat(child, attitude.arg);
                if accessible.iter().zip(&arg).all(|(is_accessible, holds)| !is_accessible || *holds) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns the greatest subset of `within` in which every state has a successor in the subset.
fn future(next: &[Vec<usize>], within: &[bool]) -> Vec<bool> {
    let mut set = within.to_vec();
    loop {
        let smaller: Vec<bool> = (0..set.len()).map(|s| set[s] && next[s].iter().any(|&t| set[t])).collect();
        if smaller == set {
            return set;
        }
        set = smaller;
    }
}

/// Returns the states reachable from `initial` within `within`.
fn reachable(next: &[Vec<usize>], initial: &[bool], within: &[bool]) -> Vec<bool> {
    let mut set = initial.to_vec();
    loop {
        let mut larger = set.clone();
        for s in (0..set.len()).filter(|&s| set[s]) {
            next[s].iter().filter(|&&t| within[t]).for_each(|&t| larger[t] = true);
        }
        if larger == set {
            return set;
        }
        set = larger;
    }
}
