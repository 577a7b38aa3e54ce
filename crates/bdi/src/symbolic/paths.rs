//! Paths through a world: shortest, then least.

use masque_symbolic::space::{Limited, Set};

use super::Engine;
use super::step::has_code;
use crate::model::{State, VarId};
use crate::plan::WorldId;

/// Where a search may go.
#[derive(Clone, Copy)]
pub(super) struct Search<'s> {
    pub(super) world: WorldId,
    /// Where paths begin.
    pub(super) from: &'s Set,
    /// Where they may pass.
    pub(super) through: &'s Set,
    /// Where they end.
    pub(super) to: &'s Set,
}

/// A lasso that has not closed after so many rounds is given up.
const ROUNDS: usize = 64;

impl Engine<'_> {
    /// The least of the shortest paths: each state as a set of one.
    ///
    /// States before the last lie in `through`; the last lies in `to`.
    pub(super) fn path(&self, search: Search<'_>) -> Limited<Option<Vec<Set>>> {
        let Search { world, from, through, to } = search;
        let space = &self.space;
        let arrows = &self.world(world).arrows;
        let mut rings = vec![from.clone()];
        let mut reached = from.clone();
        loop {
            let last = &rings[rings.len() - 1];
            if space.intersects(last, to)? {
                break;
            }
            let next = self.post(arrows, &space.and(last, through)?)?;
            let next = space.minus(&next, &reached)?;
            if next.is_empty() {
                return Ok(None);
            }
            reached = space.or(&reached, &next)?;
            rings.push(next);
        }
        // Of each ring keep what leads on to the end in just as many steps as are left.
        let last = rings.len() - 1;
        rings[last] = space.and(&rings[last], to)?;
        for i in (0..last).rev() {
            let before = self.pre(arrows, &rings[i + 1])?;
            rings[i] = space.and(&space.and(&rings[i], through)?, &before)?;
        }
        let mut states: Vec<Set> = Vec::new();
        for ring in &rings {
            let candidates = match states.last() {
                None => ring.clone(),
                Some(before) => space.and(&self.post(arrows, before)?, ring)?,
            };
            states.push(self.least(world, &candidates)?.1);
        }
        Ok(Some(states))
    }

    /// A path from a state inside `within`, all of whose states start fair paths inside it, that
    /// comes back to one of its states and on the way meets every fairness condition; and the
    /// index it comes back to. [CGP99 §6.4]
    pub(super) fn lasso(
        &mut self,
        world: WorldId,
        state: &Set,
        within: &Set,
    ) -> Limited<Option<(Vec<Set>, usize)>> {
        let fair = &self.model.program(self.program_of(world)).fair;
        let mut conditions = Vec::new();
        for &condition in fair {
            conditions.push(self.sat(world, condition)?);
        }
        let mut states = vec![state.clone()];
        for _ in 0..ROUNDS {
            let start = states.len() - 1;
            if conditions.is_empty() {
                // A cycle through the state at hand, or else one step on.
                let here = states[start].clone();
                if let Some(path) = self.path_on(world, &here, within, &here)? {
                    states.extend(path);
                    states.pop();
                    return Ok(Some((states, start)));
                }
                let Some(path) = self.path_on(world, &here, within, within)? else { return Ok(None) };
                states.extend(path);
                continue;
            }
            for condition in &conditions {
                let goal = self.space.and(condition, within)?;
                let Some(path) = self.path_on(world, &states[states.len() - 1], within, &goal)? else {
                    return Ok(None);
                };
                states.extend(path);
            }
            let last = states[states.len() - 1].clone();
            if let Some(path) = self.path_on(world, &last, within, &states[start].clone())? {
                // The last state is the first of the cycle again.
                states.extend(path);
                states.pop();
                return Ok(Some((states, start)));
            }
        }
        Ok(None)
    }

    /// A shortest path of at least one step, without its first state.
    fn path_on(&self, world: WorldId, state: &Set, within: &Set, to: &Set) -> Limited<Option<Vec<Set>>> {
        let next = self.post(&self.world(world).arrows, state)?;
        let next = self.space.and(&next, within)?;
        self.path(Search { world, from: &next, through: within, to })
    }

    /// The least state of a set that is not empty, and the set of it alone: by point, then by the
    /// values of the variables in their order, then by action.
    pub(super) fn least(&self, world: WorldId, set: &Set) -> Limited<(State, Set)> {
        let program = self.model.program(self.program_of(world));
        let layout = self.layout_of(world);
        let mut rest = set.clone();
        let code = |rest: &mut Set, bits: &[u32]| -> Limited<u64> {
            let mut code = 0;
            for &bit in bits {
                let zero = self.space.and(rest, &self.space.bit(bit, false)?)?;
                let is_one = zero.is_empty();
                if !is_one {
                    *rest = zero;
                }
                code = code << 1 | u64::from(is_one);
            }
            *rest = self.space.and(rest, &has_code(&self.space, bits, code)?)?;
            Ok(code)
        };
        let point = code(&mut rest, &layout.point.current)?;
        let mut values = Vec::new();
        for var in &program.vars {
            values.push(match layout.vars.get(var) {
                Some(field) => {
                    let (low, _) = self.model.var(*var).domain.bounds();
                    low + code(&mut rest, &field.current)? as i64
                }
                None => 0,
            });
        }
        let action = code(&mut rest, &layout.action.current)?;
        let action = action.checked_sub(1).and_then(|index| program.actions.get(index as usize).copied());
        let point = layout.points.get(point as usize).copied().unwrap_or(program.entry);
        Ok((State { point, values, action }, rest))
    }

    /// Whether an explicit attitude is true in a single state.
    pub(super) fn has(&mut self, world: WorldId, state: &Set, var: VarId) -> Limited<bool> {
        let label = self.label(world, var)?;
        self.space.is_subset(state, &label)
    }
}
