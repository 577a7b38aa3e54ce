//! Building a world: explore, remove what is incoherent, keep what has a future. [BB04 §4.1]

use masque_symbolic::fixpoint::{iterate, reach};
use masque_symbolic::space::{Limited, Set};
use masque_text::Span;

use super::Engine;
use super::moves::moves;
use super::number::Number;
use super::step::{Arrow, Draft, Effect, action_code};
use super::truth::Scope;
use crate::explanation::RemovalReason;
use crate::model::{Assign, Condition2, Domain, Expr, ExprId, Formula, Point, Totality, Value, VarId};
use crate::outcome::{Failure, Status};
use crate::plan::WorldId;

/// A world on decision diagrams.
pub(super) struct World {
    pub(super) arrows: Vec<Arrow>,
    /// The initial states, kept or not.
    pub(super) initial: Set,
    /// All that the program reaches.
    pub(super) built: Set,
    pub(super) bad: Set,
    pub(super) dead: Set,
    pub(super) kept: Set,
    pub(super) status: Status,
    /// Why states are bad.
    pub(super) reasons: Vec<(RemovalReason, Set)>,
}

impl<'m> Engine<'m> {
    pub(super) fn build(&mut self, id: WorldId) -> Result<World, Failure> {
        let arrows = self.arrows(id)?;
        let (initial, overflow) = self.initial(id)?;
        if let Some((var, span)) = overflow {
            return Err(Failure::OutOfRange { world: id, var, span });
        }
        let built = reach(&self.space, &initial, &self.space.all(), |z| self.post(&arrows, z))?;
        let mut first = None;
        for (var, span, set) in arrows.iter().flat_map(|arrow| &arrow.overflows) {
            if self.space.intersects(set, &built)? && first.is_none_or(|(v, s)| (*span, *var) < (s, v)) {
                first = Some((*var, *span));
            }
        }
        if let Some((var, span)) = first {
            return Err(Failure::OutOfRange { world: id, var, span });
        }
        let reasons = self.reasons(id, &built)?;
        let mut bad = self.space.none();
        for (_, set) in &reasons {
            bad = self.space.or(&bad, set)?;
        }
        let good = self.space.minus(&built, &bad)?;
        // νZ. K ∧ EX Z: the states that have a path inside the coherent ones.
        let future = iterate(good.clone(), |z| self.space.and(z, &self.pre(&arrows, z)?))?;
        let dead = self.space.minus(&good, &future)?;
        let inside = match self.model.options.totality {
            Totality::Trim => &future,
            Totality::Strict => &good,
        };
        let start = self.space.and(&initial, inside)?;
        let mut kept = reach(&self.space, &start, inside, |z| self.post(&arrows, z))?;
        let status = if start.is_empty() {
            Status::NoInitialState
        } else if !self.space.is_subset(&kept, &self.pre(&arrows, inside)?)? {
            Status::NotTotal
        } else {
            Status::Ok
        };
        if status != Status::Ok {
            kept = self.space.none();
        }
        Ok(World { arrows, initial, built, bad, dead, kept, status, reasons })
    }

    /// Why states are bad, by edge and attitude.
    fn reasons(&mut self, id: WorldId, built: &Set) -> Limited<Vec<(RemovalReason, Set)>> {
        let planned = &self.plan.worlds[id.index()];
        if planned.is_leaf {
            return Ok(Vec::new());
        }
        let mut reasons = Vec::new();
        for (edge, _) in self.model.edges(planned.program) {
            // Now, while the worlds below are just built: later it might be asked for from far above,
            // and each level would ask the next.
            self.edge(id, edge)?;
            if self.model.options.consistency {
                reasons.push((RemovalReason::NothingAccessible(edge), self.nothing_accessible(id, edge)?));
            }
            if self.model.options.condition2 == Condition2::Remove {
                let lacking = self.lacking(id, edge)?;
                reasons.extend(lacking.into_iter().map(|(var, set)| (RemovalReason::Lacks(var), set)));
            }
        }
        let mut inside = Vec::new();
        for (reason, set) in reasons {
            let set = self.space.and(&set, built)?;
            if !set.is_empty() {
                inside.push((reason, set));
            }
        }
        Ok(inside)
    }

    pub(super) fn post(&self, arrows: &[Arrow], from: &Set) -> Limited<Set> {
        let none = self.space.none();
        arrows.iter().try_fold(none, |set, arrow| self.space.or(&set, &arrow.post(&self.space, from)?))
    }

    pub(super) fn pre(&self, arrows: &[Arrow], to: &Set) -> Limited<Set> {
        let none = self.space.none();
        arrows.iter().try_fold(none, |set, arrow| self.space.or(&set, &arrow.pre(&self.space, to)?))
    }
}

/// Steps.
impl<'m> Engine<'m> {
    fn arrows(&mut self, id: WorldId) -> Limited<Vec<Arrow>> {
        let program_id = self.program_of(id);
        let model = self.model;
        let program = model.program(program_id);
        for point in &program.points {
            if let Point::If(condition, ..) = point {
                self.now(id, *condition)?;
            }
        }
        let mut arrows = Vec::new();
        for from in self.layout_of(id).points.clone() {
            let at = self.space.has_code(&self.layout_of(id).point.current, self.layout_of(id).code(from))?;
            let found =
                moves(&self.space, program, from, |test| Ok(self.truth[&(Scope::All, id, test)].clone()))?;
            for one in found {
                let guard = self.space.and(&at, &one.guard)?;
                let action = one.step.and_then(|step| step.action);
                if model.may_delay(action) {
                    let stay = Draft::new(guard.clone(), self.layout_of(id).code(from), 0);
                    arrows.push(Arrow::new(&self.space, self.layout_of(id), stay)?);
                }
                let action = action_code(&program.actions, action);
                let mut draft = Draft::new(guard, self.layout_of(id).code(one.to), action);
                for assign in one.step.iter().flat_map(|step| &step.assigns) {
                    self.effect(id, assign, &mut draft)?;
                }
                arrows.push(Arrow::new(&self.space, self.layout_of(id), draft)?);
            }
        }
        Ok(arrows)
    }

    fn effect(&mut self, id: WorldId, assign: &Assign, draft: &mut Draft) -> Limited<()> {
        let model = self.model;
        let domain = &model.var(assign.var).domain;
        let (low, high) = domain.bounds();
        let effect = match assign.value {
            Value::Any => Effect::Any,
            Value::Formula(formula) => match model.formula(formula) {
                Formula::Constant(value) => Effect::Constant(u64::from(*value)),
                _ => Effect::Bits(vec![self.now(id, formula)?]),
            },
            Value::Expr(expr) => match model.exprs[expr.index()] {
                Expr::Number(value) => Effect::Constant((value - low) as u64),
                _ => {
                    let number = self.number(id, expr)?;
                    let outside = self.outside(&number, low, high)?;
                    let overflow = self.space.and(&draft.guard, &outside)?;
                    draft.guard = self.space.minus(&draft.guard, &outside)?;
                    draft.overflows.push((assign.var, assign.span, overflow));
                    let code = number.minus(&self.space, &Number::constant(&self.space, low))?;
                    let width = self.layout_of(id).vars[&assign.var].current.len();
                    Effect::Bits(code.low_bits(width).cloned().collect())
                }
            },
        };
        draft.effects.push((assign.var, domain.size(), effect));
        Ok(())
    }

    /// Where a number lies outside a range.
    fn outside(&self, number: &Number, low: i64, high: i64) -> Limited<Set> {
        let space = &self.space;
        let below = number.compare(space, crate::tree::Rel::Lt, &Number::constant(space, low))?;
        let above = number.compare(space, crate::tree::Rel::Gt, &Number::constant(space, high))?;
        space.or(&below, &above)
    }

    /// The value of an expression in each state.
    pub(super) fn number(&self, id: WorldId, expr: ExprId) -> Limited<Number> {
        let space = &self.space;
        match &self.model.exprs[expr.index()] {
            Expr::Number(value) => Ok(Number::constant(space, *value)),
            Expr::Var(var) => {
                let field = &self.layout_of(id).vars[var];
                let bits =
                    field.current.iter().map(|&bit| space.bit(bit, true)).collect::<Limited<Vec<_>>>()?;
                let (low, _) = self.model.var(*var).domain.bounds();
                Number::code(space, &bits).plus(space, &Number::constant(space, low))
            }
            Expr::Sum(items) => {
                let mut sum = Number::constant(space, 0);
                for (is_negative, item) in items {
                    let item = self.number(id, *item)?;
                    sum = if *is_negative { sum.minus(space, &item)? } else { sum.plus(space, &item)? };
                }
                Ok(sum)
            }
        }
    }

    /// The initial states; and the first assignment that leaves its range, if one does.
    ///
    /// Right sides are evaluated where all is false or least, so each is one value.
    fn initial(&mut self, id: WorldId) -> Limited<(Set, Option<(VarId, Span)>)> {
        let program = self.model.program(self.program_of(id));
        let layout = self.layout_of(id).clone();
        let mut fields: Vec<_> = layout.vars.values().collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.current.first().copied()));
        let mut blank = self.space.all();
        for field in fields {
            blank = self.space.and(&self.space.has_code(&field.current, 0)?, &blank)?;
        }
        blank = self.space.and(&self.space.has_code(&layout.action.current, 0)?, &blank)?;
        let entry = self.space.has_code(&layout.point.current, layout.code(program.entry))?;
        blank = self.space.and(&entry, &blank)?;
        let mut draft = Draft::new(blank.clone(), layout.code(program.entry), 0);
        for assign in &program.init {
            self.effect(id, assign, &mut draft)?;
        }
        let lost = draft.overflows.iter().filter(|(.., set)| !set.is_empty());
        if let Some((var, span, _)) = lost.min_by_key(|(var, span, _)| (*span, *var)) {
            return Ok((blank, Some((*var, *span))));
        }
        // Each right side is one value there, so no copy for next values is needed.
        for (_, _, effect) in &mut draft.effects {
            if let Effect::Bits(bits) = effect {
                let mut code = 0;
                for bit in bits.iter() {
                    code = code << 1 | u64::from(self.space.is_subset(&blank, bit)?);
                }
                *effect = Effect::Constant(code);
            }
        }
        let arrow = Arrow::new(&self.space, &layout, draft)?;
        Ok((arrow.post(&self.space, &blank)?, None))
    }

    /// The states in which an explicit attitude is true: its bit, or what its definition says.
    pub(super) fn label(&mut self, id: WorldId, var: VarId) -> Limited<Set> {
        debug_assert_eq!(self.model.var(var).domain, Domain::Bool);
        match self.model.var(var).definition {
            Some(definition) => self.now(id, definition),
            None => self.space.bit(self.layout_of(id).vars[&var].current[0], true),
        }
    }
}
