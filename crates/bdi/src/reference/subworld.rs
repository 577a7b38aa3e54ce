//! Sub-worlds. [BB04 Def. 2]
//!
//! The states of two worlds of one program are the states of the program. Worlds of different programs have
//! no points in common, so there a state is its label: the propositions that are true in it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Reference, State};
use crate::model::{Domain, Edge};
use crate::plan::WorldId;

/// Identity of a state in the comparison of two worlds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// A state of the program that both worlds have.
    State(State),
    /// The true propositions.
    Label(BTreeSet<String>),
}

impl Reference<'_> {
    /// Whether a world is a sub-world of another. Both have states.
    pub fn is_subworld(&mut self, inner: WorldId, outer: WorldId) -> bool {
        let within = self.states_within(inner, outer);
        self.world(inner).kept == within
    }

    /// Returns the kept states of `inner` in which Definition 2 is satisfied: with `w' = inner`, `w = outer`
    ///
    /// ```text
    /// 1  s ∈ S_w,  s ∈ I_w' implies s ∈ I_w,  (s, t) ∈ R_w' implies (s, t) ∈ R_w
    /// 2  L(w', s) = L(w, s)
    /// 3  Acc_w'(s) = Acc_w(s) for belief, desire and intention
    /// ```
    pub(super) fn states_within(&mut self, inner: WorldId, outer: WorldId) -> Vec<bool> {
        let is_one_program = self.plan.program(inner) == self.plan.program(outer);
        let (small, large) = (self.world(inner).clone(), self.world(outer).clone());
        let ids = |reference: &mut Self, id: WorldId, states: &[State]| -> Vec<Identity> {
            states.iter().map(|state| reference.identity(id, state, is_one_program)).collect()
        };
        let (ids_small, ids_large) = (ids(self, inner, &small.states), ids(self, outer, &large.states));
        let mut by_identity: BTreeMap<&Identity, Vec<usize>> = BTreeMap::new();
        for t in (0..large.states.len()).filter(|&t| large.kept[t]) {
            by_identity.entry(&ids_large[t]).or_default().push(t);
        }
        let mut within = vec![false; small.states.len()];
        for s in (0..small.states.len()).filter(|&s| small.kept[s]) {
            let Some(same) = by_identity.get(&ids_small[s]) else { continue };
            let is_initial = !small.initial[s] || same.iter().any(|&t| large.initial[t]);
            let has_step = |to: usize| {
                let steps = same.iter().flat_map(|&t| large.next[t].iter());
                steps.copied().any(|t| large.kept[t] && ids_large[t] == ids_small[to])
            };
            let has_steps = small.next[s].iter().filter(|&&to| small.kept[to]).all(|&to| has_step(to));
            let label = self.propositions(inner, &small.states[s]);
            within[s] = is_initial
                && has_steps
                && same.iter().all(|&t| {
                    self.propositions(outer, &large.states[t]) == label
                        && self.same_access((inner, &small.states[s]), (outer, &large.states[t]))
                });
        }
        within
    }

    fn identity(&mut self, world: WorldId, state: &State, is_one_program: bool) -> Identity {
        if is_one_program {
            Identity::State(state.clone())
        } else {
            Identity::Label(self.propositions(world, state))
        }
    }

    /// Returns the propositions that are true in a state: true variables and attitudes, the values of the others, and
    /// the last action.
    fn propositions(&mut self, world: WorldId, state: &State) -> BTreeSet<String> {
        let model = self.model;
        let mut label = BTreeSet::new();
        for &id in &model.program(self.plan.program(world)).vars {
            let var = model.var(id);
            if var.domain != Domain::Bool {
                label.insert(format!("{} = {}", var.name, var.domain.text(self.value(state, id))));
            } else if self.label(world, state, id) {
                label.insert(var.name.clone());
            }
        }
        label.extend(state.action.map(|action| format!("do {}", model.actions[action.index()].name)));
        label
    }

    /// Whether the same states are accessible from both states.
    fn same_access(&mut self, inner: (WorldId, &State), outer: (WorldId, &State)) -> bool {
        let [small, large] = [inner.0, outer.0].map(|world| self.linked_edges(world));
        small.union(&large).all(|&edge| {
            let children = [inner.0, outer.0].map(|world| self.plan.child(world, edge));
            let is_one_program = match children {
                [Some(a), Some(b)] => self.plan.program(a) == self.plan.program(b),
                _ => true,
            };
            let [a, b] = [(inner, small.contains(&edge)), (outer, large.contains(&edge))].map(
                |((world, state), is_linked)| {
                    if is_linked { self.access(world, state, edge, is_one_program) } else { BTreeSet::new() }
                },
            );
            a == b
        })
    }

    /// Returns the edges on which a world is linked to worlds below: those of its explicit attitudes, if nesting does
    /// not end here.
    fn linked_edges(&self, world: WorldId) -> BTreeSet<Edge> {
        let planned = &self.plan.worlds[world.index()];
        let edges = self.model.edges(planned.program).into_iter().map(|(edge, _)| edge);
        if planned.is_leaf { BTreeSet::new() } else { edges.collect() }
    }

    fn access(
        &mut self,
        world: WorldId,
        state: &State,
        edge: Edge,
        is_one_program: bool,
    ) -> BTreeSet<Identity> {
        let Some(child) = self.plan.child(world, edge) else { return BTreeSet::new() };
        let accessible = self.accessible(world, state, edge);
        let states = self.world(child).states.clone();
        let reached = states.iter().zip(accessible).filter(|(_, is_accessible)| *is_accessible);
        reached.map(|(state, _)| self.identity(child, state, is_one_program)).collect()
    }
}
