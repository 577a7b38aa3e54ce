//! Confirms states of explanations and single steps between them. [BB04 §3]
//!
//! A step is confirmed without enumerating successors, by comparing two states with the program at the
//! first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Replay;
use super::local::Facts;
use crate::model::{Assign, Point, PointId, State, Step, Value, VarId};
use crate::plan::WorldId;

/// A state of a world, as replay knows it.
#[derive(Clone, Copy)]
pub(super) struct ReplayState<'s> {
    pub(super) state: &'s State,
    /// Whether the state stores the values of defined attitudes; otherwise their definitions are evaluated.
    pub(super) is_shown: bool,
}

impl<'s> ReplayState<'s> {
    /// Returns a state of an explanation, which stores the values of defined attitudes.
    pub(super) fn shown(state: &'s State) -> Self {
        ReplayState { state, is_shown: true }
    }
}

impl Replay<'_> {
    /// Whether the program has such a state, in which no defined attitude contradicts its definition.
    pub(super) fn is_state(&self, world: WorldId, state: &State) -> bool {
        let program = self.program(world);
        let is_value = |(&id, &value): (&VarId, &i64)| {
            let var = self.model.var(id);
            let (low, high) = var.domain.bounds();
            let defined = var
                .definition
                .and_then(|f| self.value(world, ReplayState::shown(state), &Facts::default(), f));
            (low..=high).contains(&value) && defined.is_none_or(|defined| defined == (value != 0))
        };
        state.point.index() < program.points.len()
            && state.action.is_none_or(|action| program.actions.contains(&action))
            && state.values.len() == program.vars.len()
            && program.vars.iter().zip(&state.values).all(is_value)
    }

    /// Whether a state results from the blank state by the initial assignments.
    pub(super) fn is_initial(&self, world: WorldId, state: &State) -> bool {
        let program = self.program(world);
        let blank = self.model.blank_state(self.plan.program(world));
        let blank = ReplayState { state: &blank, is_shown: false };
        state.point == program.entry
            && state.action.is_none()
            && self.may_assign(world, &program.init, blank, state)
    }

    /// Whether the program of a world may go from one state to another in one step. A test that the state
    /// does not decide may have either outcome.
    pub(super) fn may_step(&self, world: WorldId, from: ReplayState<'_>, to: &State) -> bool {
        let points = &self.program(world).points;
        // Points reached without a step, each with the loops entered before it.
        let mut open: Vec<(PointId, Vec<PointId>)> = vec![(from.state.point, Vec::new())];
        let mut seen = FxHashSet::default();
        while let Some((at, heads)) = open.pop() {
            if !seen.insert((at, heads.clone())) {
                continue;
            }
            match &points[at.index()] {
                Point::End => {
                    if self.may_idle(world, from, to, at) {
                        return true;
                    }
                }
                Point::Step(step, next) => {
                    if self.may_do(world, step, *next, from, to) {
                        return true;
                    }
                }
                Point::If(condition, then, otherwise) => {
                    let value = self.value(world, from, &Facts::default(), *condition);
                    if value != Some(false) {
                        open.push((*then, heads.clone()));
                    }
                    if value != Some(true) {
                        open.push((*otherwise, heads));
                    }
                }
                Point::Choice(alternatives) => {
                    open.extend(alternatives.iter().map(|&point| (point, heads.clone())));
                }
                // A body that takes no step: time passes at the head.
                Point::Loop(_) if heads.contains(&at) => {
                    if self.may_idle(world, from, to, at) {
                        return true;
                    }
                }
                Point::Loop(body) => {
                    let heads = heads.into_iter().chain([at]).collect();
                    open.push((*body, heads));
                }
            }
        }
        false
    }

    /// Whether nothing happens and control moves to the point.
    fn may_idle(&self, world: WorldId, from: ReplayState<'_>, to: &State, point: PointId) -> bool {
        to.point == point && to.action.is_none() && self.may_assign(world, &[], from, to)
    }

    /// Whether a step is taken, or an action that may be delayed is delayed.
    fn may_do(&self, world: WorldId, step: &Step, next: PointId, from: ReplayState<'_>, to: &State) -> bool {
        (to.point == next && to.action == step.action && self.may_assign(world, &step.assigns, from, to))
            || self.model.may_delay(step.action) && self.may_idle(world, from, to, from.state.point)
    }

    /// Whether assignments, all at the same time, turn the values of one state into those of another; the
    /// later of two assignments to a variable counts.
    fn may_assign(&self, world: WorldId, assigns: &[Assign], from: ReplayState<'_>, to: &State) -> bool {
        let values: FxHashMap<VarId, Value> = assigns.iter().map(|a| (a.var, a.value)).collect();
        let vars = self.program(world).vars.iter();
        let mut pairs = vars.zip(from.state.values.iter().zip(&to.values));
        pairs.all(|(var, (old, new))| match values.get(var) {
            None => old == new || self.model.var(*var).definition.is_some(),
            Some(Value::Any) => true,
            Some(Value::Formula(formula)) => {
                self.value(world, from, &Facts::default(), *formula) != Some(*new == 0)
            }
            Some(Value::Expr(expr)) => self.number(world, from, *expr) == Some(*new),
        })
    }
}
