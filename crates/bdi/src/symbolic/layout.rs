//! The bits of programs and their order.
//!
//! A program has bits for its point, its action and each variable; worlds of one program share them.
//! Only variables whose new value depends on the state have a second copy of their bits, for the next
//! value. Each explicit attitude has a *slot*: a bit that stands for its label while the accessible
//! states of the world below are computed, because parent and child may be worlds of one program. For the same
//! reason variables and the action have slots if an agent has attitudes about them as parts of its own state.
//!
//! Points and actions are at the top of the order. Variables that are read and written together are
//! neighbours, and next values are beside current ones. A slot is beside the variable of the child that
//! its argument mentions: `AND_j (x_j -> y_j)` has linear size in that order, and exponential size if all
//! `x` come before all `y`.

use std::collections::BTreeMap;

use masque_symbolic::space::Bit;
use rustc_hash::{FxHashMap, FxHashSet};

use super::values::MergedValues;
use crate::model::{Edge, Expr, ExprId, Formula, FormulaId, Model, Point, PointId, ProgramId, Value, VarId};
use crate::plan::{OwnPart, Plan};

/// The bits of a number, most significant first.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    /// Bits of the current value.
    pub(super) current: Vec<Bit>,
    /// Bits of the next value; empty if it is never needed.
    pub(super) next: Vec<Bit>,
    /// Slots: the value in the state from which states are accessible; empty if no edge needs it.
    pub(super) slots: Vec<Bit>,
}

/// Bits of a field besides those of the current value.
#[derive(Clone, Copy, Default)]
struct FieldParts {
    has_next: bool,
    has_slots: bool,
}

/// Bits of a program besides those of the current state.
#[derive(Clone, Copy, Default)]
struct ProgramParts {
    /// Whether all parts of a state have next bits.
    is_compared: bool,
    /// Edge whose accessible states have the same values of variables.
    own_variables: Option<Edge>,
    /// Whether there is an edge whose accessible states have the same action.
    has_own_action: bool,
}

impl ProgramParts {
    /// Returns the parts of the programs that have more than the current bits.
    fn all(
        model: &Model,
        plan: &Plan,
        compared: &FxHashSet<ProgramId>,
    ) -> FxHashMap<ProgramId, ProgramParts> {
        let mut all: FxHashMap<ProgramId, ProgramParts> = FxHashMap::default();
        for &program in compared {
            all.entry(program).or_default().is_compared = true;
        }
        for (world, edge, part) in plan.own_edges(model) {
            let parts = all.entry(plan.program(world)).or_default();
            match part {
                OwnPart::Variables => parts.own_variables = Some(edge),
                OwnPart::Action => parts.has_own_action = true,
            }
        }
        all
    }

    /// Whether a variable has slots as a part of the agent's own state. Attitudes of the edge have other slots.
    fn has_own_slots(&self, model: &Model, var: VarId) -> bool {
        let is_on = |edge: Edge| model.var(var).attitude.is_some_and(|attitude| attitude.edge == edge);
        self.own_variables.is_some_and(|edge| !is_on(edge))
    }
}

/// The bits of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramLayout {
    /// Bits of the point.
    pub(super) point: Field,
    /// Bits of the action; code 0 is no action.
    pub(super) action: Field,
    /// Bits of the variables; defined attitudes are not stored.
    pub(super) vars: BTreeMap<VarId, Field>,
    /// Points at which a state may be, in the order of their codes.
    pub(super) points: Vec<PointId>,
    /// All current bits.
    pub(super) current: Vec<Bit>,
    /// Bits that count the values that a code stands for, of variables that do not keep all values.
    pub(super) weights: BTreeMap<VarId, Vec<Bit>>,
    /// Slots of defined attitudes as parts of the agent's own state.
    pub(super) own_defined: BTreeMap<VarId, Bit>,
}

impl ProgramLayout {
    /// Returns the current bits with their next bits, of all parts of a state that have them.
    pub(super) fn moments(&self) -> impl Iterator<Item = (Bit, Bit)> + '_ {
        let fields = [&self.point, &self.action].into_iter().chain(self.vars.values());
        fields.flat_map(|field| field.current.iter().copied().zip(field.next.iter().copied()))
    }

    /// Returns the next bits.
    pub(super) fn next_bits(&self) -> Vec<Bit> {
        self.moments().map(|(_, next)| next).collect()
    }

    /// Returns the code of a point at which a state may be.
    pub(super) fn code(&self, point: PointId) -> u64 {
        self.points.binary_search(&point).unwrap_or_default() as u64
    }
}

/// The bits of all programs in use.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) programs: FxHashMap<ProgramId, ProgramLayout>,
    /// A slot for each explicit attitude of an edge.
    pub(super) slots: FxHashMap<(ProgramId, Edge), Vec<Bit>>,
    pub(super) n_bits: u32,
    /// Variables that do not keep all their values.
    pub(super) merged: MergedValues,
}

/// Returns the number of bits that `n_values` values need.
pub(super) fn width(n_values: u64) -> u32 {
    u64::BITS - n_values.saturating_sub(1).leading_zeros()
}

impl Layout {
    /// Returns the layout of the programs of a plan. The programs in `compared` have next bits for all parts of a state.
    pub(super) fn new(
        model: &Model,
        plan: &Plan,
        compared: &FxHashSet<ProgramId>,
        merged: MergedValues,
    ) -> Layout {
        let mut programs: Vec<ProgramId> = plan.worlds.iter().map(|world| world.program).collect();
        programs.sort_unstable();
        programs.dedup();
        let mut slots = UnplacedSlots::new(model, &programs);
        let parts = ProgramParts::all(model, plan, compared);
        let mut layout = Layout { merged, ..Layout::default() };
        for &program in &programs {
            slots.place(&mut layout, program, None);
            let parts = parts.get(&program).copied().unwrap_or_default();
            layout.add_program(model, program, parts, &mut slots);
        }
        // Slots whose child is not planned, because all worlds of the parent are leaves.
        slots.place_rest(&mut layout);
        layout
    }

    /// Returns the number of codes of a variable.
    pub(super) fn n_codes(&self, model: &Model, var: VarId) -> u64 {
        match self.merged.vars.get(&var) {
            Some(merged) => merged.values.len() as u64,
            None => model.var(var).domain.size(),
        }
    }

    /// Returns the code of a value; `None` if it is outside the range or not kept.
    pub(super) fn code(&self, model: &Model, var: VarId, value: i64) -> Option<u64> {
        let (low, high) = model.var(var).domain.bounds();
        match self.merged.vars.get(&var) {
            Some(merged) => merged.values.binary_search(&value).ok().map(|code| code as u64),
            None => (low..=high).contains(&value).then(|| (value - low) as u64),
        }
    }

    /// Returns the value with a code.
    pub(super) fn value(&self, model: &Model, var: VarId, code: u64) -> i64 {
        match self.merged.vars.get(&var) {
            Some(merged) => merged.values.get(code as usize).copied().unwrap_or_default(),
            None => model.var(var).domain.bounds().0 + code as i64,
        }
    }

    fn take(&mut self) -> Bit {
        self.n_bits += 1;
        self.n_bits - 1
    }

    fn field(&mut self, width: u32, parts: FieldParts) -> Field {
        let mut field = Field::default();
        for _ in 0..width {
            field.current.push(self.take());
            if parts.has_next {
                field.next.push(self.take());
            }
            if parts.has_slots {
                field.slots.push(self.take());
            }
        }
        field
    }

    fn add_program(&mut self, model: &Model, id: ProgramId, parts: ProgramParts, slots: &mut UnplacedSlots) {
        let program = model.program(id);
        let points = state_points(model, id);
        let of_point = FieldParts { has_next: parts.is_compared, has_slots: false };
        let of_action = FieldParts { has_next: parts.is_compared, has_slots: parts.has_own_action };
        let point = self.field(width(points.len() as u64), of_point);
        let action = self.field(width(program.actions.len() as u64 + 1), of_action);
        let dynamic = assigned_by_state(model, id);
        let (mut vars, mut weights, mut own_defined) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for var in order(model, id) {
            slots.place(self, id, Some(var));
            let has_slots = parts.has_own_slots(model, var);
            if model.var(var).definition.is_none() {
                let has_next = parts.is_compared || dynamic.contains(&var);
                let parts = FieldParts { has_next, has_slots };
                let field = self.field(width(self.n_codes(model, var)), parts);
                vars.insert(var, field);
            } else if has_slots {
                own_defined.insert(var, self.take());
            }
            if let Some(merged) = self.merged.vars.get(&var) {
                let size = merged.blocks.iter().map(|block| block.size).max().unwrap_or(1);
                weights.insert(var, self.field(width(size), FieldParts::default()).current);
            }
        }
        let fields = [&point, &action].into_iter().chain(vars.values());
        let current = fields.flat_map(|field| field.current.iter().copied()).collect();
        self.programs
            .insert(id, ProgramLayout { point, action, vars, points, current, weights, own_defined });
    }
}

/// Returns the points at which a state may be: the entry, the end, the points after steps, and loop heads,
/// where time passes if the body takes no step.
fn state_points(model: &Model, id: ProgramId) -> Vec<PointId> {
    let program = model.program(id);
    let mut points = vec![program.entry];
    for (index, point) in program.points.iter().enumerate() {
        match point {
            Point::Step(_, next) => points.push(*next),
            Point::End | Point::Loop(_) => points.push(PointId(index as u32)),
            Point::If(..) | Point::Choice(_) => {}
        }
    }
    points.sort_unstable();
    points.dedup();
    points
}

/// Returns the variables that are assigned a value that depends on the state.
fn assigned_by_state(model: &Model, id: ProgramId) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    for point in &model.program(id).points {
        let Point::Step(step, _) = point else { continue };
        for assign in &step.assigns {
            let is_constant = match assign.value {
                Value::Any => true,
                Value::Formula(f) => matches!(model.formula(f), Formula::Constant(_)),
                Value::Expr(e) => matches!(model.exprs[e.index()], Expr::Number(_)),
            };
            if !is_constant {
                found.insert(assign.var);
            }
        }
    }
    found
}

/// Orders the variables of a program: each is followed by those that are assigned from it or that it is
/// assigned from.
fn order(model: &Model, id: ProgramId) -> Vec<VarId> {
    let program = model.program(id);
    let mut links: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    let mut link = |a: VarId, b: VarId| {
        if a != b {
            links.entry(a).or_default().push(b);
            links.entry(b).or_default().push(a);
        }
    };
    for point in &program.points {
        let Point::Step(step, _) = point else { continue };
        for assign in &step.assigns {
            for read in read_by(model, assign.value) {
                link(assign.var, read);
            }
        }
    }
    for &var in &program.vars {
        if let Some(definition) = model.var(var).definition {
            variables(model, definition).into_iter().for_each(|read| link(var, read));
        }
    }
    let mut placed: FxHashSet<VarId> = FxHashSet::default();
    let mut result = Vec::new();
    for &start in &program.vars {
        let mut open = vec![start];
        while let Some(var) = open.pop() {
            if placed.insert(var) {
                result.push(var);
                let mut near = links.get(&var).cloned().unwrap_or_default();
                near.sort_unstable();
                near.dedup();
                open.extend(near.into_iter().rev());
            }
        }
    }
    result
}

fn read_by(model: &Model, value: Value) -> Vec<VarId> {
    match value {
        Value::Any => Vec::new(),
        Value::Formula(formula) => variables(model, formula),
        Value::Expr(expr) => {
            let mut vars = Vec::new();
            add_variables_of_expr(model, expr, &mut vars);
            vars
        }
    }
}

pub(super) fn add_variables_of_expr(model: &Model, expr: ExprId, vars: &mut Vec<VarId>) {
    match &model.exprs[expr.index()] {
        Expr::Number(_) => {}
        Expr::Var(var) => vars.push(*var),
        Expr::Sum(items) => items.iter().for_each(|(_, item)| add_variables_of_expr(model, *item, vars)),
    }
}

/// Returns the variables that a formula mentions in its own world.
fn variables(model: &Model, formula: FormulaId) -> Vec<VarId> {
    let mut vars = Vec::new();
    model.each_part(formula, |part| {
        match model.formula(part) {
            Formula::Var(var) => vars.push(*var),
            Formula::Attitude { explicit, .. } => vars.extend(explicit),
            Formula::Compare(_, a, b) => {
                add_variables_of_expr(model, *a, &mut vars);
                add_variables_of_expr(model, *b, &mut vars);
            }
            _ => return true,
        }
        false
    });
    vars.sort_unstable();
    vars
}

/// Program below, and its variable beside which a slot is placed.
type Beside = (ProgramId, Option<VarId>);
/// Program above, edge, and index of the attitude on the edge.
type Waiting = (ProgramId, Edge, usize);

/// Slots that have no bit yet.
struct UnplacedSlots {
    waiting: BTreeMap<Beside, Vec<Waiting>>,
}

impl UnplacedSlots {
    fn new(model: &Model, programs: &[ProgramId]) -> UnplacedSlots {
        let mut waiting: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for &program in programs {
            for (edge, vars) in model.edges(program) {
                let child = model.child(program, edge);
                for (index, var) in vars.into_iter().enumerate() {
                    let Some(attitude) = model.var(var).attitude else { continue };
                    let beside =
                        variables(model, attitude.arg).into_iter().find(|v| model.var(*v).program == child);
                    waiting.entry((child, beside)).or_default().push((program, edge, index));
                }
            }
        }
        UnplacedSlots { waiting }
    }

    fn place(&mut self, layout: &mut Layout, child: ProgramId, beside: Option<VarId>) {
        for (program, edge, index) in self.waiting.remove(&(child, beside)).unwrap_or_default() {
            let bit = layout.take();
            let slots = layout.slots.entry((program, edge)).or_default();
            if slots.len() <= index {
                slots.resize(index + 1, 0);
            }
            slots[index] = bit;
        }
    }

    fn place_rest(&mut self, layout: &mut Layout) {
        while let Some((&(child, beside), _)) = self.waiting.first_key_value() {
            self.place(layout, child, beside);
        }
    }
}
