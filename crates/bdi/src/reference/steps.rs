//! The states of a program and its steps. [BB04 §3]
//!
//! The paper's Figure 1 gives a formula for each construct; what is here instead is the transition
//! system that the text around it describes.

use rustc_hash::FxHashMap;

use super::{Reference, State};
use crate::model::{Assign, Expr, ExprId, Point, PointId, Step, Value, VarId};
use crate::outcome::Failure;
use crate::plan::WorldId;

/// The states of a program and their successors.
pub(super) struct Explored {
    pub(super) states: Vec<State>,
    pub(super) initial: Vec<bool>,
    pub(super) next: Vec<Vec<usize>>,
}

/// What may be done in a state without time passing before it.
enum Enabled<'m> {
    /// A step, and where it leads.
    Step(&'m Step, PointId),
    /// Nothing happens; control is then at the point.
    Idle(PointId),
}

impl<'m> Reference<'m> {
    /// All states that the program of a world reaches from its initial ones.
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

    /// From the valuation where all is false or least, by the initial assignments.
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

    /// Resolves tests, choices and loops without consuming time. A loop that is met again has a
    /// body that takes no step: then time passes at its head.
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

    /// The valuations after a step: all right sides are evaluated first.
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

    /// The value of a variable.
    pub(super) fn value(&self, state: &State, var: VarId) -> i64 {
        state.values[self.model.slot(var).unwrap_or_default()]
    }

    /// The value of an arithmetic expression.
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

/// The assignments that left the range of their variable: the first in the text is kept.
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
