//! The states of a program and its steps. [BB04 §3]
//!
//! Figure 1 of the paper gives a formula for each construct. This module implements the transition system
//! that the text around the figure describes.

use rustc_hash::FxHashMap;

use super::{Reference, State};
use crate::model::{Assign, Expr, ExprId, Point, PointId, Step, Value, VarId};
use crate::outcome::Failure;
use crate::plan::WorldId;

/// The states of a program and their successors.
#[derive(Clone)]
pub(super) struct Explored {
    pub(super) states: Vec<State>,
    pub(super) initial: Vec<bool>,
    pub(super) next: Vec<Vec<usize>>,
}

/// A possible next step of a program.
enum Enabled<'m> {
    /// A step, and the point after it.
    Step(&'m Step, PointId),
    /// Nothing happens, and control moves to this point.
    Idle(PointId),
}

impl<'m> Reference<'m> {
    /// Returns all states that the program of a world reaches from its initial states.
    pub(super) fn explore(&mut self, world: WorldId) -> Result<Explored, Failure> {
        let mut states: Vec<State> = Vec::new();
        let mut ids: FxHashMap<State, usize> = FxHashMap::default();
        let mut overflow = Overflow::default();
        for state in self.initial_states(world, &mut overflow) {
            ids.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                states.len() - 1
            });
        }
        let n_initial = states.len();
        let mut next: Vec<Vec<usize>> = Vec::new();
        while next.len() < states.len() {
            let state = states[next.len()].clone();
            let mut successors: Vec<usize> = Vec::new();
            for successor in self.successors(world, &state, &mut overflow) {
                let id = *ids.entry(successor.clone()).or_insert_with(|| {
                    states.push(successor);
                    states.len() - 1
                });
                if !successors.contains(&id) {
                    successors.push(id);
                }
            }
            next.push(successors);
        }
        if let Some((var, span)) = overflow.first {
            return Err(Failure::OutOfRange { world, var, span });
        }
        let initial = (0..states.len()).map(|s| s < n_initial).collect();
        Ok(Explored { states, initial, next })
    }

    /// Returns the states after the initial assignments in the blank state.
    fn initial_states(&mut self, world: WorldId, overflow: &mut Overflow) -> Vec<State> {
        let program = self.plan.program(world);
        let blank = self.model.blank_state(program);
        let valuations = self.assigned(world, &blank, &self.model.program(program).init, overflow);
        valuations.into_iter().map(|values| State { values, ..blank.clone() }).collect()
    }

    fn successors(&mut self, world: WorldId, state: &State, overflow: &mut Overflow) -> Vec<State> {
        let mut enabled = Vec::new();
        self.closure(world, state, state.point, &mut Vec::new(), &mut enabled);
        let mut successors = Vec::new();
        for item in enabled {
            match item {
                Enabled::Idle(point) => {
                    successors.push(State { point, values: state.values.clone(), action: None });
                }
                Enabled::Step(step, point) => {
                    for values in self.assigned(world, state, &step.assigns, overflow) {
                        successors.push(State { point, values, action: step.action });
                    }
                    if self.model.may_delay(step.action) {
                        successors.push(State { action: None, ..state.clone() });
                    }
                }
            }
        }
        successors
    }

    /// Follows tests, choices and loops, which take no time. A loop head that is reached again has a body
    /// that takes no step; then time passes at the head.
    fn closure(
        &mut self,
        world: WorldId,
        state: &State,
        at: PointId,
        heads: &mut Vec<PointId>,
        enabled: &mut Vec<Enabled<'m>>,
    ) {
        let model = self.model;
        match &model.program(self.plan.program(world)).points[at.index()] {
            Point::End => enabled.push(Enabled::Idle(at)),
            Point::Step(step, next) => enabled.push(Enabled::Step(step, *next)),
            Point::If(condition, then, otherwise) => {
                let holds = self.holds_now(world, state, *condition);
                self.closure(world, state, if holds { *then } else { *otherwise }, heads, enabled);
            }
            Point::Choice(points) => {
                for &point in points {
                    self.closure(world, state, point, heads, enabled);
                }
            }
            Point::Loop(_) if heads.contains(&at) => enabled.push(Enabled::Idle(at)),
            Point::Loop(body) => {
                heads.push(at);
                self.closure(world, state, *body, heads, enabled);
                heads.pop();
            }
        }
    }

    /// Returns the valuations after a step. All right sides are evaluated before the assignments.
    fn assigned(
        &mut self,
        world: WorldId,
        state: &State,
        assigns: &[Assign],
        overflow: &mut Overflow,
    ) -> Vec<Vec<i64>> {
        let mut results = vec![state.values.clone()];
        for assign in assigns {
            let (low, high) = self.model.var(assign.var).domain.bounds();
            let choices: Vec<i64> = match assign.value {
                Value::Any => (low..=high).collect(),
                Value::Formula(formula) => vec![i64::from(self.holds_now(world, state, formula))],
                Value::Expr(expr) => vec![self.number(state, expr)],
            };
            if choices.iter().any(|value| !(low..=high).contains(value)) {
                overflow.add(assign);
                return Vec::new();
            }
            let slot = self.model.slot(assign.var).unwrap_or_default();
            let mut branches = Vec::new();
            for values in &results {
                for &choice in &choices {
                    let mut values = values.clone();
                    values[slot] = choice;
                    branches.push(values);
                }
            }
            results = branches;
        }
        results
    }

    /// Returns the value of a variable.
    pub(super) fn value(&self, state: &State, var: VarId) -> i64 {
        state.values[self.model.slot(var).unwrap_or_default()]
    }

    /// Returns the value of an arithmetic expression.
    pub(super) fn number(&self, state: &State, expr: ExprId) -> i64 {
        match &self.model.exprs[expr.index()] {
            Expr::Number(value) => *value,
            Expr::Var(var) => self.value(state, *var),
            Expr::Sum(items) => {
                let signed = items.iter().map(|(is_negative, item)| {
                    let value = self.number(state, *item);
                    if *is_negative { -value } else { value }
                });
                signed.sum()
            }
        }
    }
}

/// The first assignment in the text that left the range of its variable.
#[derive(Default)]
struct Overflow {
    first: Option<(VarId, masque_text::Span)>,
}

impl Overflow {
    fn add(&mut self, assign: &Assign) {
        if self.first.is_none_or(|(var, span)| (assign.span, assign.var) < (span, var)) {
            self.first = Some((assign.var, assign.span));
        }
    }
}
