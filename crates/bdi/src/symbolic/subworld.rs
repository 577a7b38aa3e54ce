//! Sub-worlds: whether a world has a part of the states and steps of another and is otherwise the same.
//! [BB04 Def. 2]
//!
//! Steps are compared as sets of pairs of states, current bits before the step and next bits after it. The
//! layout has next bits for all parts of a state of the programs that are compared, and only for those.

use std::collections::BTreeSet;

use masque_symbolic::fixpoint::PathSearch;
use masque_symbolic::space::{Limited, Set};

use super::Engine;
use super::matching::Moment;
use super::paths::Path;
use crate::explanation::{Difference, Explanation, Shape, Statement};
use crate::model::{Edge, Question, VarId, WorldPath};
use crate::plan::WorldId;

/// Kept states of a world in which it departs from another, by the clause of the definition.
pub(super) struct Departures {
    /// States that the other world does not have.
    states: Set,
    /// Initial states that are not initial there.
    initial: Set,
    /// States in which a defined attitude has another value there.
    labels: Vec<(VarId, Set)>,
    /// Pairs of states that are no steps there.
    steps: Set,
    /// States from which such a step leads.
    step_sources: Set,
    /// States from which other states are accessible there.
    access: Vec<(Edge, Set)>,
}

impl Engine<'_> {
    /// Whether a world is a sub-world of another. Both have states.
    pub fn is_subworld(&mut self, inner: WorldId, outer: WorldId) -> Limited<bool> {
        if inner == outer {
            return Ok(true);
        }
        // The first clause decides most pairs.
        let present = self.matching(outer, inner, &self.world(outer).kept.clone(), Moment::Current)?;
        if !self.space.is_subset(&self.world(inner).kept, &present)? {
            return Ok(false);
        }
        let within = self.states_within(inner, outer)?;
        self.space.is_subset(&self.world(inner).kept, &within)
    }

    /// Returns the kept states of `inner` in which the definition of a sub-world of `outer` is satisfied.
    pub(super) fn states_within(&mut self, inner: WorldId, outer: WorldId) -> Limited<Set> {
        let kept = self.world(inner).kept.clone();
        if inner == outer {
            return Ok(kept);
        }
        let found = self.departures(inner, outer)?;
        let mut within = kept;
        let labels = found.labels.iter().map(|(_, set)| set);
        let access = found.access.iter().map(|(_, set)| set);
        for set in
            [&found.states, &found.initial, &found.step_sources].into_iter().chain(labels).chain(access)
        {
            within = self.space.minus(&within, set)?;
        }
        Ok(within)
    }

    fn departures(&mut self, inner: WorldId, outer: WorldId) -> Limited<Departures> {
        let kept = self.world(inner).kept.clone();
        let all = self.world(outer).kept.clone();
        let present = self.matching(outer, inner, &all, Moment::Current)?;
        let initial = self.space.and(&self.world(outer).initial, &all)?;
        let initial = self.matching(outer, inner, &initial, Moment::Current)?;
        let own_initial = self.space.and(&self.world(inner).initial, &kept)?;
        let steps = self.steps_outside(inner, outer)?;
        let step_sources = self.space.exists(&steps, &self.space.cube(self.layout_of(inner).next_bits())?)?;
        let mut labels = Vec::new();
        if self.program_of(inner) == self.program_of(outer) {
            for &var in &self.model.program(self.program_of(inner)).vars {
                if self.model.var(var).definition.is_some() {
                    let (here, there) = (self.label(inner, var)?, self.label(outer, var)?);
                    let differs = self.space.xor(&here, &there)?;
                    labels.push((var, self.space.and(&differs, &kept)?));
                }
            }
        }
        let edges = [inner, outer].map(|world| self.linked_edges(world));
        let mut access = Vec::new();
        for &edge in edges[0].union(&edges[1]) {
            let differs = match edges.each_ref().map(|edges| edges.contains(&edge)) {
                [true, false] => {
                    let empty = self.nothing_accessible(inner, edge)?;
                    self.space.not(&empty)?
                }
                [false, true] => {
                    let empty = self.nothing_accessible(outer, edge)?;
                    let some = self.space.minus(&all, &empty)?;
                    self.matching(outer, inner, &some, Moment::Current)?
                }
                _ => self.access_differs(inner, outer, edge)?,
            };
            access.push((edge, self.space.and(&differs, &kept)?));
        }
        Ok(Departures {
            states: self.space.minus(&kept, &present)?,
            initial: self.space.minus(&own_initial, &initial)?,
            labels,
            steps,
            step_sources,
            access,
        })
    }

    /// Returns the edges on which a world is linked to worlds below: those of its explicit attitudes, if nesting does
    /// not end here.
    fn linked_edges(&self, world: WorldId) -> BTreeSet<Edge> {
        let planned = &self.plan.worlds[world.index()];
        let edges = self.model.edges(planned.program).into_iter().map(|(edge, _)| edge);
        if planned.is_leaf { BTreeSet::new() } else { edges.collect() }
    }

    /// Returns the steps between kept states of a world that are no steps between kept states of another.
    fn steps_outside(&mut self, inner: WorldId, outer: WorldId) -> Limited<Set> {
        let (steps, others) = (self.kept_steps(inner)?, self.kept_steps(outer)?);
        let others = self.matching(outer, inner, &others, Moment::Current)?;
        let others = self.matching(outer, inner, &others, Moment::Next)?;
        self.space.minus(&steps, &others)
    }

    /// Returns the steps between kept states of a world as pairs of states.
    fn kept_steps(&mut self, id: WorldId) -> Limited<Set> {
        if let Some(known) = self.steps.get(&id) {
            return Ok(known.clone());
        }
        let world = self.world(id);
        let mut steps = self.space.none();
        for transition in &world.transitions {
            let pairs = transition.pairs(&self.space, self.layout_of(id), &world.kept)?;
            steps = self.space.or(&steps, &pairs)?;
        }
        steps = self.space.and(&steps, &self.to_next(id, &world.kept)?)?;
        self.steps.insert(id, steps.clone());
        Ok(steps)
    }

    /// Returns the states of `inner` from which other states are accessible than from the same states of
    /// `outer`. Both have explicit attitudes on the edge. Attitudes that only `outer` has are false in the states
    /// that both have.
    fn access_differs(&mut self, inner: WorldId, outer: WorldId, edge: Edge) -> Limited<Set> {
        let [Some(below), Some(other_below)] = [inner, outer].map(|world| self.plan.child(world, edge))
        else {
            return Ok(self.space.none());
        };
        let Some(here) = self.accessible_pairs(inner, edge)? else { return Ok(self.space.none()) };
        let Some(mut there) = self.accessible_pairs(outer, edge)? else { return Ok(self.space.none()) };
        if self.program_of(inner) != self.program_of(outer) {
            let slots = [inner, outer].map(|world| self.named_slots(world, edge));
            let mut pairs = Vec::new();
            for (name, slot) in &slots[1] {
                match slots[0].iter().find(|(other, _)| other == name) {
                    Some((_, own)) => pairs.push((*slot, *own)),
                    None => there = self.space.restrict(&there, &self.space.bit(*slot, false)?)?,
                }
            }
            there = self.space.rename(&there, &self.space.renaming(pairs))?;
        }
        let mut differs = self.space.none();
        for (set, (from, other_set), to) in
            [(&here, (other_below, &there), below), (&there, (below, &here), other_below)]
        {
            let matched = self.matching(from, to, other_set, Moment::Current)?;
            let cube = self.cube_of(self.program_of(to))?;
            let only = self.space.exists(&self.space.minus(set, &matched)?, &cube)?;
            differs = self.space.or(&differs, &only)?;
        }
        if self.program_of(inner) != self.program_of(outer) && self.edges[&(outer, edge)].own.is_some() {
            // What is accessible in the outer world depends on its own state, which is the same as that of the inner.
            differs = self.own_labelled(outer, edge, &differs)?;
            differs = self.matching(outer, inner, &differs, Moment::Current)?;
        }
        self.labelled(inner, edge, &differs)
    }

    /// Explains why a world is not a sub-world of another: a path to the nearest state in which they differ, and the
    /// difference there.
    pub(super) fn explain_subworld(&mut self, index: usize, mut found: Path) -> Limited<Option<Explanation>> {
        let model = self.model;
        let property = &model.properties[index];
        let (Question::Subworld(outer_path), Some(outer)) =
            (&property.question, self.plan.outer_worlds[index])
        else {
            return Ok(None);
        };
        let inner = self.plan.properties[index];
        let Some((_, state)) = found.last().cloned() else { return Ok(None) };
        let departures = self.departures(inner, outer)?;
        let is_in = |set: &Set| self.space.is_subset(&state, set);
        let mut next = Vec::new();
        let difference = if is_in(&departures.states)? {
            Difference::State
        } else if is_in(&departures.initial)? {
            Difference::Initial
        } else if let Some(var) = first_with(&departures.labels, is_in)? {
            Difference::Label(var)
        } else if is_in(&departures.step_sources)? {
            let steps = self.space.and(&departures.steps, &state)?;
            let current = self.cube_of(self.program_of(inner))?;
            let after = self.to_current(inner, &self.space.exists(&steps, &current)?)?;
            found.push(self.least(inner, &after)?);
            Difference::Step
        } else if let Some(edge) = first_with(&departures.access, is_in)? {
            let paths = [&property.path, outer_path];
            let Some(jump) = self.differing_jump(index, edge, &state, paths, outer)? else { return Ok(None) };
            let is_inner = jump.path.edges.len() == property.path.edges.len() + 1
                && jump.path.edges.starts_with(&property.path.edges)
                && jump.path.root == property.path.root;
            next.push(jump);
            Difference::Accessible { edge, is_inner }
        } else {
            return Ok(None);
        };
        Ok(Some(Explanation {
            world: inner,
            path: property.path.clone(),
            shape: Shape::Path,
            statement: Statement::Property(index),
            holds: false,
            states: self.with_definitions(inner, found)?,
            difference: Some(difference),
            next,
        }))
    }

    /// Returns the path to a state below that is accessible from a state of the inner world, or from the same state of
    /// the outer world, but not from both.
    fn differing_jump(
        &mut self,
        index: usize,
        edge: Edge,
        state: &Set,
        paths: [&WorldPath; 2],
        outer: WorldId,
    ) -> Limited<Option<Explanation>> {
        let inner = self.plan.properties[index];
        let same = self.matching(inner, outer, state, Moment::Current)?;
        let same = self.space.and(&same, &self.world(outer).kept)?;
        let sources = [(inner, state.clone()), (outer, same)];
        let mut reached = Vec::new();
        for (world, state) in &sources {
            let is_linked = self.linked_edges(*world).contains(&edge);
            reached.push(match self.plan.child(*world, edge).filter(|_| is_linked) {
                Some(child) => Some((child, self.accessible_from(*world, edge, state)?)),
                None => None,
            });
        }
        for side in [0, 1] {
            let Some((child, mut only)) = reached[side].clone() else { continue };
            if let Some((other, set)) = &reached[1 - side] {
                let matched = self.matching(*other, child, set, Moment::Current)?;
                only = self.space.minus(&only, &matched)?;
            }
            if only.is_empty() {
                continue;
            }
            let below = self.world(child);
            let from = self.space.and(&below.initial, &below.kept)?;
            let search = PathSearch { from: &from, through: &below.kept, to: &only, n_steps: 0..=usize::MAX };
            let Some(found) = self.path(child, &search)? else { continue };
            let (world, state) = &sources[side];
            let mut asserted = Vec::new();
            for var in self.explicit(*world, edge) {
                let label = self.label(*world, var)?;
                if self.space.is_subset(state, &label)? {
                    asserted.push(var);
                }
            }
            let mut path = paths[side].clone();
            path.edges.push(edge);
            return Ok(Some(Explanation {
                world: child,
                path,
                shape: Shape::Jump { edge, asserted },
                statement: Statement::Property(index),
                holds: false,
                states: self.with_definitions(child, found)?,
                difference: None,
                next: Vec::new(),
            }));
        }
        Ok(None)
    }
}

/// Returns the first item whose set satisfies a condition.
fn first_with<T: Copy>(items: &[(T, Set)], is_in: impl Fn(&Set) -> Limited<bool>) -> Limited<Option<T>> {
    for (item, set) in items {
        if is_in(set)? {
            return Ok(Some(*item));
        }
    }
    Ok(None)
}
