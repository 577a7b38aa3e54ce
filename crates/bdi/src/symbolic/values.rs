//! Codes of values: large ranges whose values are only assigned and compared have a code for each group of values
//! that behave alike, not for each value.
//!
//! A range variable is *simple* if it is assigned constants, other simple variables or `any`, and compared with
//! constants and simple variables only. Variables that are copied to or compared with each other form a class. The
//! constants of a class, and the bounds of its ranges, stand for themselves. The values between two neighbouring
//! constants cannot be distinguished by any program or formula, except by whether two variables have the same
//! value. So if a state has `k` variables of the class, `k` of these values are sufficient: any pattern of equal and
//! different values occurs, and the programs over the smaller ranges are bisimilar to the programs as written. The
//! least `k` values are kept. Every state of the smaller worlds is a state of the worlds as written, so evidence
//! needs no translation.
//!
//! If two variables of a class are compared by `<` and one of them is assigned `any`, the distance between values
//! matters, and the class keeps all its values.
//!
//! Numbers of states are those of the worlds as written: [`Engine::counted`] gives each pattern the number of ways
//! to choose its values.

use std::collections::{BTreeMap, BTreeSet};

use masque_symbolic::space::{Bit, Limited, Set, Space};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Engine;
use super::layout::{ProgramLayout, add_variables_of_expr, width};
use crate::model::{Assign, Domain, Expr, ExprId, Formula, Model, Point, ProgramId, Value, VarId};
use crate::tree::Rel;

/// Values between two constants of a class, of which only the least are kept.
#[derive(Clone, Debug)]
pub(super) struct MergedBlock {
    /// The values that are kept.
    pub(super) kept: Vec<i64>,
    /// Number of all values.
    pub(super) size: u64,
}

/// A variable that does not keep all its values.
#[derive(Clone, Debug)]
pub(super) struct MergedVar {
    /// Least variable of the class.
    class: VarId,
    /// The values that are kept, in ascending order.
    pub(super) values: Vec<i64>,
    /// The blocks in the range of the variable.
    pub(super) blocks: Vec<MergedBlock>,
}

/// The variables that do not keep all their values.
#[derive(Clone, Debug, Default)]
pub(super) struct MergedValues {
    pub(super) vars: FxHashMap<VarId, MergedVar>,
}

/// The variables that are linked by copies and comparisons, and how they are used.
struct Classes {
    parents: Vec<usize>,
    /// Variables that are not simple.
    complex: Vec<bool>,
    /// Variables that are assigned `any`.
    any: Vec<bool>,
    /// Variables that are compared with others by their order.
    ordered: Vec<bool>,
    constants: Vec<BTreeSet<i64>>,
}

impl MergedValues {
    /// Finds the variables that need not keep all their values. Worlds of programs in `compared` are compared, so their
    /// variables of the same name keep the same values.
    pub(super) fn new(model: &Model, compared: &FxHashSet<ProgramId>) -> MergedValues {
        let mut classes = Classes::new(model);
        let mut by_name: FxHashMap<&str, VarId> = FxHashMap::default();
        for (index, var) in model.vars.iter().enumerate().filter(|(_, v)| compared.contains(&v.program)) {
            let first = *by_name.entry(&var.name).or_insert(VarId(index as u32));
            classes.link(first, VarId(index as u32));
        }
        let mut members: BTreeMap<usize, Vec<VarId>> = BTreeMap::new();
        for (index, var) in model.vars.iter().enumerate() {
            if matches!(var.domain, Domain::Range(..)) {
                members.entry(classes.root(index)).or_default().push(VarId(index as u32));
            }
        }
        let mut merged = MergedValues::default();
        for vars in members.into_values() {
            merged.add_class(model, &classes, &vars);
        }
        merged
    }

    fn add_class(&mut self, model: &Model, classes: &Classes, vars: &[VarId]) {
        let is = |marks: &[bool]| vars.iter().any(|var| marks[var.index()]);
        if is(&classes.complex) || is(&classes.ordered) && is(&classes.any) {
            return;
        }
        let mut constants: BTreeSet<i64> = BTreeSet::new();
        for var in vars {
            let (low, high) = model.var(*var).domain.bounds();
            constants.extend([low, high]);
            constants.extend(&classes.constants[var.index()]);
        }
        let n_alike = |var: &VarId| {
            let program = model.var(*var).program;
            vars.iter().filter(|other| model.var(**other).program == program).count()
        };
        let n_kept = vars.iter().map(n_alike).max().unwrap_or(1) as i64;
        let sorted: Vec<i64> = constants.iter().copied().collect();
        let gaps = sorted.windows(2).map(|pair| (pair[0] + 1, pair[1]));
        let mut values = constants.clone();
        let mut blocks = Vec::new();
        for (low, end) in gaps {
            let kept: Vec<i64> = (low..end.min(low + n_kept)).collect();
            values.extend(&kept);
            if end - low > n_kept {
                blocks.push(MergedBlock { kept, size: (end - low) as u64 });
            }
        }
        if blocks.is_empty() {
            return;
        }
        for &var in vars {
            let (low, high) = model.var(var).domain.bounds();
            let is_inside = |block: &&MergedBlock| (low..=high).contains(&block.kept[0]);
            let own = MergedVar {
                class: vars[0],
                values: values.range(low..=high).copied().collect(),
                blocks: blocks.iter().filter(is_inside).cloned().collect(),
            };
            self.vars.insert(var, own);
        }
    }
}

impl Classes {
    fn new(model: &Model) -> Classes {
        let n_vars = model.vars.len();
        let mut classes = Classes {
            parents: (0..n_vars).collect(),
            complex: vec![false; n_vars],
            any: vec![false; n_vars],
            ordered: vec![false; n_vars],
            constants: vec![BTreeSet::new(); n_vars],
        };
        for formula in &model.formulas {
            if let Formula::Compare(rel, a, b) = formula {
                classes.relate(model, [*a, *b], !matches!(rel, Rel::Eq | Rel::Ne));
            }
        }
        for program in &model.programs {
            let steps = program.points.iter().filter_map(|point| match point {
                Point::Step(step, _) => Some(&step.assigns),
                _ => None,
            });
            for assign in steps.flatten().chain(&program.init) {
                classes.assign(model, assign);
            }
        }
        classes
    }

    fn root(&self, mut var: usize) -> usize {
        while self.parents[var] != var {
            var = self.parents[var];
        }
        var
    }

    fn link(&mut self, a: VarId, b: VarId) {
        let (a, b) = (self.root(a.index()), self.root(b.index()));
        self.parents[a.max(b)] = a.min(b);
    }

    /// Records a comparison, or with `is_ordered` one by order.
    fn relate(&mut self, model: &Model, sides: [ExprId; 2], is_ordered: bool) {
        match sides.map(|side| (simple(model, side), constant(model, side))) {
            [(Some(a), _), (Some(b), _)] => {
                self.link(a, b);
                self.ordered[a.index()] |= is_ordered && a != b;
            }
            [(Some(var), _), (_, Some(value))] | [(_, Some(value)), (Some(var), _)] => {
                self.constants[var.index()].insert(value);
            }
            [(_, Some(_)), (_, Some(_))] => {}
            _ => sides.iter().for_each(|side| self.spoil(model, *side)),
        }
    }

    fn assign(&mut self, model: &Model, assign: &Assign) {
        match assign.value {
            Value::Any => self.any[assign.var.index()] = true,
            Value::Formula(_) => {}
            Value::Expr(expr) => match (simple(model, expr), constant(model, expr)) {
                (Some(other), _) => self.link(assign.var, other),
                (_, Some(value)) => _ = self.constants[assign.var.index()].insert(value),
                _ => {
                    self.complex[assign.var.index()] = true;
                    self.spoil(model, expr);
                }
            },
        }
    }

    /// Marks the variables of an expression as not simple.
    fn spoil(&mut self, model: &Model, expr: ExprId) {
        let mut vars = Vec::new();
        add_variables_of_expr(model, expr, &mut vars);
        vars.iter().for_each(|var| self.complex[var.index()] = true);
    }
}

/// Returns the variable that an expression is.
fn simple(model: &Model, expr: ExprId) -> Option<VarId> {
    match model.exprs[expr.index()] {
        Expr::Var(var) => Some(var),
        _ => None,
    }
}

/// Returns the value of an expression without variables.
fn constant(model: &Model, expr: ExprId) -> Option<i64> {
    match &model.exprs[expr.index()] {
        Expr::Number(value) => Some(*value),
        Expr::Var(_) => None,
        Expr::Sum(items) => items.iter().try_fold(0i64, |sum, (is_negative, item)| {
            let item = constant(model, *item)?;
            if *is_negative { sum.checked_sub(item) } else { sum.checked_add(item) }
        }),
    }
}

impl Engine<'_> {
    /// Returns the states of a program that are counted, each with as many codes of the weight bits as it stands for
    /// states.
    ///
    /// Of the states that differ only in which values of a block they have, the least is counted: a variable has the
    /// first value of a block, or one that an earlier variable has, or the next after those. If `j` values of a block of
    /// size `m` are in use, a variable with another one stands for `m - j` values.
    pub(super) fn counted(&mut self, program: ProgramId) -> Limited<Set> {
        if let Some(known) = self.counted.get(&program) {
            return Ok(known.clone());
        }
        let layout = self.layout.programs[&program].clone();
        let mut counted = self.space.all();
        let mut earlier: Vec<(VarId, VarId)> = Vec::new();
        for (&var, weight) in &layout.weights {
            let Some(merged) = self.layout.merged.vars.get(&var) else { continue };
            let mut new = self.space.none();
            for block in &merged.blocks {
                let mut before = self.space.all();
                for (j, &value) in block.kept.iter().enumerate() {
                    let here = self.has_value(&layout, var, value)?;
                    let mut is_old = self.space.none();
                    for &(other, _) in earlier.iter().filter(|(_, class)| *class == merged.class) {
                        is_old = self.space.or(&is_old, &self.has_value(&layout, other, value)?)?;
                    }
                    let is_new = self.space.minus(&here, &is_old)?;
                    // Another value is new only if all values before it are in use.
                    let skips = self.space.minus(&is_new, &before)?;
                    counted = self.space.minus(&counted, &skips)?;
                    let n_values = block.size - j as u64;
                    let weighted = self.has_weight_below(weight, n_values)?;
                    let weighted = self.space.and(&is_new, &weighted)?;
                    new = self.space.or(&new, &weighted)?;
                    let single = self.space.and(&self.space.has_code(weight, 0)?, &is_old)?;
                    new = self.space.or(&new, &self.space.and(&here, &single)?)?;
                    before = self.space.and(&before, &is_old)?;
                }
            }
            let mut in_block = self.space.none();
            for value in merged.blocks.iter().flat_map(|block| &block.kept) {
                in_block = self.space.or(&in_block, &self.has_value(&layout, var, *value)?)?;
            }
            let alone = self.space.minus(&self.space.has_code(weight, 0)?, &in_block)?;
            counted = self.space.and(&counted, &self.space.or(&new, &alone)?)?;
            earlier.push((var, merged.class));
        }
        self.counted.insert(program, counted.clone());
        Ok(counted)
    }

    /// Returns the valuations in which weight bits have a code below a number.
    fn has_weight_below(&self, weight: &[Bit], n_codes: u64) -> Limited<Set> {
        let (high, low) = weight.split_at(weight.len() - width(n_codes) as usize);
        let below = self.space.has_code_below(low, n_codes.into())?;
        self.space.and(&self.space.has_code(high, 0)?, &below)
    }

    /// Returns the states in which a variable has a value that it keeps.
    fn has_value(&self, layout: &ProgramLayout, var: VarId, value: i64) -> Limited<Set> {
        has_value(&self.space, layout, &self.layout.merged, var, value)
    }
}

/// Returns the states in which a merged variable has a value; none if it does not keep that value.
fn has_value(
    space: &Space,
    layout: &ProgramLayout,
    merged: &MergedValues,
    var: VarId,
    value: i64,
) -> Limited<Set> {
    let code = merged.vars.get(&var).and_then(|var| var.values.binary_search(&value).ok());
    match code {
        Some(code) => space.has_code(&layout.vars[&var].current, code as u64),
        None => Ok(space.none()),
    }
}
