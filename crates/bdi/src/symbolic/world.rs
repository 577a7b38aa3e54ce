//! Builds a world: explores the program, removes incoherent states, and keeps the states that start an
//! infinite path. [BB04 §4.1]

use masque_symbolic::fixpoint::{iterate, reach};
use masque_symbolic::space::{Limited, Set};
use masque_text::Span;

use super::Engine;
use super::moves::moves;
use super::number::Number;
use super::step::{Effect, Transition, TransitionDraft, action_code};
use super::truth::Scope;
use crate::explanation::RemovalReason;
use crate::model::{Assign, Condition2, Domain, Expr, ExprId, Formula, Point, Totality, Value, VarId};
use crate::outcome::{Failure, Status};
use crate::plan::WorldId;
use crate::tree::Rel;

/// The states of a program.
struct Explored {
    transitions: Vec<Transition>,
    initial: Set,
    built: Set,
}

/// A world as decision diagrams.
pub(super) struct World {
    pub(super) transitions: Vec<Transition>,
    /// Initial states, kept or not.
    pub(super) initial: Set,
    /// States that the program reaches.
    pub(super) built: Set,
    /// Incoherent states.
    pub(super) bad: Set,
    /// Other states that start no infinite path through coherent states.
    pub(super) dead: Set,
    /// States that remain.
    pub(super) kept: Set,
    pub(super) status: Status,
    /// Reasons why states are bad, each with its states.
    pub(super) reasons: Vec<(RemovalReason, Set)>,
}

impl<'m> Engine<'m> {
    pub(super) fn build(&mut self, id: WorldId) -> Result<World, Failure> {
        let transitions = self.transitions(id)?;
        let (initial, overflow) = self.initial(id)?;
        if let Some((var, span)) = overflow {
            return Err(Failure::OutOfRange { world: id, var, span });
        }
        let built = reach(&self.space, &initial, &self.space.all(), |z| self.post(&transitions, z))?;
        let mut first = None;
        for (var, span, set) in transitions.iter().flat_map(|transition| &transition.overflows) {
            if self.space.intersects(set, &built)? && first.is_none_or(|(v, s)| (*span, *var) < (s, v)) {
                first = Some((*var, *span));
            }
        }
        if let Some((var, span)) = first {
            return Err(Failure::OutOfRange { world: id, var, span });
        }
        let is_knotted = self.plan.worlds[id.index()].children.values().any(|child| *child == id);
        if !is_knotted {
            return Ok(self.prune(id, Explored { transitions, initial, built })?);
        }
        // The greatest set of states that is coherent with what is accessible within it.
        let mut candidate = built.clone();
        let mut explored = Explored { transitions, initial, built };
        loop {
            self.forget(id);
            let none = self.space.none();
            // Arguments are read state by state, so no transitions are needed.
            let world = World {
                transitions: Vec::new(),
                initial: explored.initial.clone(),
                built: explored.built.clone(),
                bad: none.clone(),
                dead: none,
                kept: candidate.clone(),
                status: Status::Ok,
                reasons: Vec::new(),
            };
            self.worlds.insert(id, world);
            let pruned = self.prune(id, explored)?;
            if pruned.kept == candidate {
                return Ok(pruned);
            }
            let World { transitions, initial, built, kept, .. } = pruned;
            (candidate, explored) = (kept, Explored { transitions, initial, built });
        }
    }

    /// Forgets what was computed from the kept states of a world.
    fn forget(&mut self, id: WorldId) {
        self.truth.retain(|(_, world, _), _| *world != id);
        self.edges.retain(|(world, _), _| *world != id);
        self.fair.remove(&id);
    }

    /// Removes the states of a program that the conditions do not allow.
    fn prune(&mut self, id: WorldId, explored: Explored) -> Limited<World> {
        let Explored { transitions, initial, built } = explored;
        let reasons = self.reasons(id, &built)?;
        let mut bad = self.space.none();
        for (_, set) in &reasons {
            bad = self.space.or(&bad, set)?;
        }
        let good = self.space.minus(&built, &bad)?;
        // νZ. K ∧ EX Z: the states that start an infinite path through coherent states.
        let future = iterate(good.clone(), |z| self.space.and(z, &self.pre(&transitions, z)?))?;
        let dead = self.space.minus(&good, &future)?;
        let inside = match self.model.options.totality {
            Totality::Trim => &future,
            Totality::Strict => &good,
        };
        let start = self.space.and(&initial, inside)?;
        let mut kept = reach(&self.space, &start, inside, |z| self.post(&transitions, z))?;
        let status = if start.is_empty() {
            Status::NoInitialState
        } else if !self.space.is_subset(&kept, &self.pre(&transitions, inside)?)? {
            Status::NotTotal
        } else {
            Status::Ok
        };
        if status != Status::Ok {
            kept = self.space.none();
        }
        Ok(World { transitions, initial, built, bad, dead, kept, status, reasons })
    }

    /// Returns why states are bad, by edge and attitude.
    fn reasons(&mut self, id: WorldId, built: &Set) -> Limited<Vec<(RemovalReason, Set)>> {
        let planned = &self.plan.worlds[id.index()];
        if planned.is_leaf {
            return Ok(Vec::new());
        }
        let mut reasons = Vec::new();
        for (edge, _) in self.model.edges(planned.program) {
            // Prepare the edge now, when the worlds below are complete. If a world far above asked for it
            // later, each level would recurse into the next.
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

    pub(super) fn post(&self, transitions: &[Transition], from: &Set) -> Limited<Set> {
        let none = self.space.none();
        transitions
            .iter()
            .try_fold(none, |set, transition| self.space.or(&set, &transition.post(&self.space, from)?))
    }

    pub(super) fn pre(&self, transitions: &[Transition], to: &Set) -> Limited<Set> {
        let none = self.space.none();
        transitions
            .iter()
            .try_fold(none, |set, transition| self.space.or(&set, &transition.pre(&self.space, to)?))
    }
}

/// Transitions.
impl<'m> Engine<'m> {
    fn transitions(&mut self, id: WorldId) -> Limited<Vec<Transition>> {
        let program_id = self.program_of(id);
        let model = self.model;
        let program = model.program(program_id);
        for point in &program.points {
            if let Point::If(condition, ..) = point {
                self.now(id, *condition)?;
            }
        }
        let mut transitions = Vec::new();
        for from in self.layout_of(id).points.clone() {
            let at = self.space.has_code(&self.layout_of(id).point.current, self.layout_of(id).code(from))?;
            let found =
                moves(&self.space, program, from, |test| Ok(self.truth[&(Scope::All, id, test)].clone()))?;
            for one in found {
                let guard = self.space.and(&at, &one.guard)?;
                let action = one.step.and_then(|step| step.action);
                if model.may_delay(action) {
                    let stay = TransitionDraft::new(guard.clone(), self.layout_of(id).code(from), 0);
                    transitions.push(Transition::new(&self.space, self.layout_of(id), stay)?);
                }
                let action = action_code(&program.actions, action);
                let mut draft = TransitionDraft::new(guard, self.layout_of(id).code(one.to), action);
                for assign in one.step.iter().flat_map(|step| &step.assigns) {
                    self.effect(id, assign, &mut draft)?;
                }
                transitions.push(Transition::new(&self.space, self.layout_of(id), draft)?);
            }
        }
        Ok(transitions)
    }

    /// Adds an assignment to a transition.
    fn effect(&mut self, id: WorldId, assign: &Assign, draft: &mut TransitionDraft) -> Limited<()> {
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
                Expr::Number(value) => {
                    Effect::Constant(self.layout.code(model, assign.var, value).unwrap_or_default())
                }
                _ => {
                    let number = self.number(id, expr)?;
                    let outside = self.outside(&number, low, high)?;
                    let overflow = self.space.and(&draft.guard, &outside)?;
                    draft.guard = self.space.minus(&draft.guard, &outside)?;
                    draft.overflows.push((assign.var, assign.span, overflow));
                    if self.layout.merged.vars.contains_key(&assign.var) {
                        let bits = self.merged_bits(id, assign.var, &number)?;
                        draft.effects.push((
                            assign.var,
                            self.layout.n_codes(model, assign.var),
                            Effect::Bits(bits),
                        ));
                        return Ok(());
                    }
                    let code = number.minus(&self.space, &Number::constant(&self.space, low))?;
                    let width = self.layout_of(id).vars[&assign.var].current.len();
                    Effect::Bits(code.low_bits(width).cloned().collect())
                }
            },
        };
        draft.effects.push((assign.var, self.layout.n_codes(model, assign.var), effect));
        Ok(())
    }

    /// Returns the bits of the code of a number as a value of a variable that does not keep all its values, most
    /// significant first.
    fn merged_bits(&self, id: WorldId, var: VarId, number: &Number) -> Limited<Vec<Set>> {
        let width = self.layout_of(id).vars[&var].current.len();
        let mut bits = vec![self.space.none(); width];
        for code in 0..self.layout.n_codes(self.model, var) {
            let value = Number::constant(&self.space, self.layout.value(self.model, var, code));
            let is_value = number.compare(&self.space, Rel::Eq, &value)?;
            for (k, bit) in bits.iter_mut().rev().enumerate() {
                if code >> k & 1 == 1 {
                    *bit = self.space.or(bit, &is_value)?;
                }
            }
        }
        Ok(bits)
    }

    /// Returns the states in which a number lies outside a range.
    fn outside(&self, number: &Number, low: i64, high: i64) -> Limited<Set> {
        let space = &self.space;
        let below = number.compare(space, Rel::Lt, &Number::constant(space, low))?;
        let above = number.compare(space, Rel::Gt, &Number::constant(space, high))?;
        space.or(&below, &above)
    }

    /// Returns the value of an expression in each state.
    pub(super) fn number(&self, id: WorldId, expr: ExprId) -> Limited<Number> {
        let space = &self.space;
        match &self.model.exprs[expr.index()] {
            Expr::Number(value) => Ok(Number::constant(space, *value)),
            Expr::Var(var) => {
                let field = &self.layout_of(id).vars[var];
                let bits =
                    field.current.iter().map(|&bit| space.bit(bit, true)).collect::<Limited<Vec<_>>>()?;
                if let Some(merged) = self.layout.merged.vars.get(var) {
                    let mut listed = Vec::new();
                    for (code, &value) in merged.values.iter().enumerate() {
                        listed.push((space.has_code(&field.current, code as u64)?, value));
                    }
                    return Number::listed(space, &listed);
                }
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

    /// Returns the initial states, and the first assignment out of range if there is one.
    ///
    /// Right sides are evaluated in the blank state, in which every variable is false or least.
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
        let mut draft = TransitionDraft::new(blank.clone(), layout.code(program.entry), 0);
        for assign in &program.init {
            self.effect(id, assign, &mut draft)?;
        }
        let overflows = draft.overflows.iter().filter(|(.., set)| !set.is_empty());
        if let Some((var, span, _)) = overflows.min_by_key(|(var, span, _)| (*span, *var)) {
            return Ok((blank, Some((*var, *span))));
        }
        // Each right side has one value in the blank state, so no bits for next values are needed.
        for (_, _, effect) in &mut draft.effects {
            if let Effect::Bits(bits) = effect {
                let mut code = 0;
                for bit in bits.iter() {
                    code = code << 1 | u64::from(self.space.is_subset(&blank, bit)?);
                }
                *effect = Effect::Constant(code);
            }
        }
        let transition = Transition::new(&self.space, &layout, draft)?;
        Ok((transition.post(&self.space, &blank)?, None))
    }

    /// Returns the states in which an explicit attitude is true: by its bit, or by its definition.
    pub(super) fn label(&mut self, id: WorldId, var: VarId) -> Limited<Set> {
        debug_assert_eq!(self.model.var(var).domain, Domain::Bool);
        match self.model.var(var).definition {
            Some(definition) => self.now(id, definition),
            None => self.space.bit(self.layout_of(id).vars[&var].current[0], true),
        }
    }
}
