//! Compilation of expressions: choice of cells for shared values, numbers that fit 64 bits, and sources of
//! assigned values.
//!
//! Expressions are visited operands first. A part gets a cell if its value is used as a number
//! but is not a sum, if it is used more than once and costs more than [`MIN_SHARED_TESTS`], or if the
//! recursion of `emit` would otherwise become too deep. Everything else is compiled into the
//! programs that use it.

use std::collections::{BTreeMap, BTreeSet};

use masque_model::{Domain, Expr, ExprId, System, VarId};
use rustc_hash::FxHashMap;

use crate::analyse::{Analysis, MAX_TABLE_EVALUATIONS, Shape, constant_value, size_of};
use crate::bounds::Bounds;
use crate::code::{Cell, CellKind, Code, Linear, NO_CODE, Program, Source};
use crate::codeset::CodeSet;
use crate::exact::Exact;
use crate::layout::{Field, Layout, Slot};

/// Compiles expressions of one system into one piece of code.
pub(crate) struct Compiler<'s, 'a> {
    pub(crate) system: &'s System,
    pub(crate) layout: &'a Layout,
    pub(crate) analysis: Analysis,
    pub(crate) code: Code<'s>,
    pub(crate) cell_of: FxHashMap<ExprId, u32>,
    /// For each cell its expression, and the cells that it reads directly or indirectly, including itself.
    closures: Vec<(ExprId, BTreeSet<u32>)>,
    /// The cells read by the program that is being compiled.
    used: BTreeSet<u32>,
}

/// Minimum number of tests for which a shared condition gets a cell.
const MIN_SHARED_TESTS: u32 = 4;
/// The same for conjunctions of fields that are compared word by word.
const MIN_SHARED_MASKED_TESTS: u32 = 64;
/// Maximum depth of the recursion of `emit` between cells.
const MAX_EMIT_DEPTH: u32 = 40;
/// Maximum absolute value of numbers that are computed in 64 bits.
const MAX_NUMBER: i128 = 1 << 62;

impl<'s, 'a> Compiler<'s, 'a> {
    /// Creates a compiler for these expressions and their parts.
    pub(crate) fn new(system: &'s System, layout: &'a Layout, roots: &[ExprId]) -> Self {
        let mut compiler = Compiler {
            system,
            layout,
            analysis: Analysis::new(system, layout, roots),
            code: Code::default(),
            cell_of: FxHashMap::default(),
            closures: Vec::new(),
            used: BTreeSet::new(),
        };
        compiler.make_cells(roots);
        compiler
    }

    /// Compiles a condition.
    pub(crate) fn condition(&mut self, expr: ExprId) -> Program {
        let start = self.emit(expr, crate::code::TRUE, crate::code::FALSE);
        self.finish(start)
    }

    /// Returns the program that starts at `start` and was compiled since the last call.
    pub(crate) fn finish(&mut self, start: u32) -> Program {
        Program { start, cells: self.take_used().into_iter().collect() }
    }

    /// Records that the program that is being compiled reads a cell.
    pub(crate) fn use_cell(&mut self, cell: u32) {
        self.used.extend(&self.closures[cell as usize].1);
    }

    fn take_used(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.used)
    }

    pub(crate) fn exact(&mut self, expr: ExprId) -> u32 {
        self.code.exacts.push(Exact::new(self.system, expr));
        self.code.exacts.len() as u32 - 1
    }

    fn make_cells(&mut self, roots: &[ExprId]) {
        let exprs = &self.system.exprs;
        let mut n_uses: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut is_number: FxHashMap<ExprId, bool> = FxHashMap::default();
        roots.iter().for_each(|&root| *n_uses.entry(root).or_default() += 1);
        for &part in &self.analysis.parts {
            let wants_numbers = self.wants_numbers(part);
            exprs.each_operand(part, |operand| {
                *n_uses.entry(operand).or_default() += 1;
                *is_number.entry(operand).or_default() |= wants_numbers;
            });
        }
        let mut costs: FxHashMap<ExprId, Cost> = FxHashMap::default();
        for part in self.analysis.parts.clone() {
            let mut cost = self.cost(part, &costs);
            let min_tests = if cost.is_masked { MIN_SHARED_MASKED_TESTS } else { MIN_SHARED_TESTS };
            let is_shared = n_uses.get(&part).is_some_and(|&n| n > 1) && cost.tests >= min_tests;
            let is_number = is_number.get(&part) == Some(&true);
            let wanted = if self.analysis.is_sound[part.index()] {
                let is_simple = matches!(self.analysis.shape_of(part), Shape::Known(_))
                    || matches!(exprs.get(part), Expr::Variable(_));
                !is_simple && (is_number || is_shared || cost.depth > MAX_EMIT_DEPTH)
            } else {
                match exprs.get(part) {
                    Expr::Product(list) => self.multiple(list, 1).is_none(),
                    Expr::Modulo(..) => true,
                    Expr::Sum(_) => is_shared,
                    _ => false,
                }
            };
            if wanted && self.make_cell(part).is_some() {
                cost = Cost { tests: 1, ..Cost::default() };
            }
            costs.insert(part, cost);
        }
    }

    fn cost(&self, part: ExprId, costs: &FxHashMap<ExprId, Cost>) -> Cost {
        if let shape @ (Shape::Known(_) | Shape::Codes(..)) = self.analysis.shape_of(part) {
            let is_masked = matches!(shape, Shape::Codes(_, CodeSet::One(_)));
            return Cost { tests: 1, depth: 0, is_masked };
        }
        let is_masked = matches!(self.system.exprs.get(part), Expr::And(_));
        let mut cost = Cost { tests: 1, depth: 0, is_masked };
        self.system.exprs.each_operand(part, |operand| {
            let operand = costs.get(&operand).copied().unwrap_or_default();
            cost.tests = cost.tests.saturating_add(operand.tests);
            cost.depth = cost.depth.max(operand.depth + 1);
            cost.is_masked &= operand.is_masked;
        });
        cost
    }

    /// Creates a cell for the value of an expression; returns `None` if it must be computed exactly.
    fn make_cell(&mut self, expr: ExprId) -> Option<u32> {
        let kind = if self.analysis.is_sound[expr.index()] {
            Some(CellKind::Truth(self.emit(expr, crate::code::TRUE, crate::code::FALSE)))
        } else {
            self.number_kind(expr)
        };
        let mut closure = self.take_used();
        let cell = self.code.cells.len() as u32;
        self.code.cells.push(Cell { kind: kind?, reads_actions: self.analysis.reads_actions[expr.index()] });
        closure.insert(cell);
        self.closures.push((expr, closure));
        self.cell_of.insert(expr, cell);
        Some(cell)
    }

    fn number_kind(&mut self, expr: ExprId) -> Option<CellKind> {
        match self.system.exprs.get(expr) {
            Expr::Product(list) => {
                let mut magnitude = 1_i128;
                let mut factors = Vec::new();
                for &factor in list {
                    let bounds = self.analysis.bounds[factor.index()];
                    if !bounds.is_near() {
                        return None;
                    }
                    magnitude = magnitude.checked_mul(bounds.lo.abs().max(bounds.hi.abs()).max(1))?;
                    factors.push(self.linear(&[(factor, 1)])?);
                }
                (magnitude <= MAX_NUMBER).then(|| CellKind::Product(factors.into()))
            }
            Expr::Modulo(a, b) if self.analysis.bounds[expr.index()].is_defined => {
                Some(CellKind::Modulo(self.linear(&[(a, 1)])?, self.linear(&[(b, 1)])?))
            }
            Expr::Sum(list) => {
                let terms: Vec<_> = list.iter().map(|&e| (e, 1)).collect();
                Some(CellKind::Linear(self.linear(&terms)?))
            }
            _ => None,
        }
    }

    /// Compiles a sum of multiples of expressions; returns `None` if it must be computed exactly.
    pub(crate) fn linear(&mut self, terms: &[(ExprId, i128)]) -> Option<u32> {
        let terms = self.terms(terms)?;
        self.linear_of(&terms)
    }

    pub(crate) fn linear_of(&mut self, terms: &Terms) -> Option<u32> {
        let linear = terms.linear(|cell| self.analysis.bounds[self.closures[cell as usize].0.index()])?;
        terms.cells.keys().for_each(|&cell| self.use_cell(cell));
        self.code.linears.push(linear);
        Some(self.code.linears.len() as u32 - 1)
    }

    /// Rewrites a sum of multiples of expressions as one of multiples of fields and cells.
    pub(crate) fn terms(&self, summands: &[(ExprId, i128)]) -> Option<Terms> {
        let mut terms = Terms::default();
        let mut stack = summands.to_vec();
        while let Some((expr, factor)) = stack.pop() {
            if let Some(&cell) = self.cell_of.get(&expr) {
                let total = terms.cells.entry(cell).or_default();
                *total = total.checked_add(factor)?;
                continue;
            }
            if let Shape::Known(truth) = self.analysis.shape_of(expr) {
                terms.add_constant(i128::from(*truth), factor)?;
                continue;
            }
            match self.system.exprs.get(expr) {
                Expr::Number(n) => terms.add_constant(i128::from(n), factor)?,
                Expr::Variable(v) => {
                    match self.system.variable(v).domain {
                        Domain::Boolean => {}
                        Domain::Integers(lo, _) => terms.add_constant(i128::from(lo), factor)?,
                        Domain::Values(_) => return None,
                    }
                    let total = terms.fields.entry(self.layout.variable(v)).or_default();
                    *total = total.checked_add(factor)?;
                }
                Expr::Negate(a) => stack.push((a, -factor)),
                Expr::Sum(list) => stack.extend(list.iter().map(|&e| (e, factor))),
                Expr::Product(list) => stack.push(self.multiple(list, factor)?),
                _ => return None,
            }
        }
        Some(terms)
    }

    /// Rewrites a product whose factors are numbers, except for one, as a multiple of that one.
    fn multiple(&self, list: &[ExprId], factor: i128) -> Option<(ExprId, i128)> {
        let is_number = |e: &&ExprId| matches!(self.system.exprs.get(**e), Expr::Number(_));
        let mut open = list.iter().filter(|e| !is_number(e));
        let (Some(&open), None) = (open.next(), open.next()) else { return None };
        let numbers = list.iter().filter_map(|&e| match self.system.exprs.get(e) {
            Expr::Number(n) => Some(i128::from(n)),
            _ => None,
        });
        let factor = numbers.into_iter().try_fold(factor, i128::checked_mul)?;
        (factor.checked_abs()? <= MAX_NUMBER).then_some((open, factor))
    }

    /// Whether the operands of an expression are used as numbers.
    fn wants_numbers(&self, part: ExprId) -> bool {
        let is_constant = |e: ExprId| matches!(self.system.exprs.get(e), Expr::Bool(_));
        match self.system.exprs.get(part) {
            Expr::Sum(_) | Expr::Product(_) | Expr::Negate(_) | Expr::Divide(..) | Expr::Modulo(..) => true,
            Expr::Xor(_) => true,
            Expr::Compare(_, a, b) => {
                matches!(self.analysis.shape_of(part), Shape::Other) && !is_constant(a) && !is_constant(b)
            }
            _ => false,
        }
    }

    /// Compiles the right-hand side of an assignment.
    pub(crate) fn source(&mut self, target: VarId, expr: ExprId) -> Source {
        let system = self.system;
        let domain = &system.variable(target).domain;
        if let Some(value) = constant_value(system.exprs.get(expr)) {
            return Source::Fixed(self.layout.code(system, target, value));
        }
        if let Shape::Known(truth) = self.analysis.shape_of(expr) {
            return Source::Fixed(self.layout.code(system, target, i64::from(*truth)));
        }
        if let Expr::Variable(v) = system.exprs.get(expr)
            && system.variable(v).domain == *domain
        {
            return Source::Copy(self.layout.variable(v));
        }
        if *domain == Domain::Boolean && self.analysis.is_sound[expr.index()] {
            return Source::Truth(self.condition(expr));
        }
        if let Some(table) = self.table(target, expr) {
            return table;
        }
        if let Domain::Integers(lo, hi) = *domain
            && let Some(linear) = self.linear(&[(expr, 1)])
        {
            return Source::Linear { linear, lo, hi, cells: self.take_used().into_iter().collect() };
        }
        self.used.clear();
        Source::Exact { exact: self.exact(expr), target }
    }

    /// Tabulates an assignment that reads one field with an enumerable domain.
    fn table(&mut self, target: VarId, expr: ExprId) -> Option<Source> {
        let slot = self.analysis.enumerable_support(self.system, expr)?;
        let exact = Exact::new(self.system, expr);
        let size = size_of(self.system, slot);
        if exact.n_parts() as u128 * size > MAX_TABLE_EVALUATIONS {
            return None;
        }
        let field = self.layout.field(slot);
        let code = |code| {
            let mut row = vec![0; self.layout.n_row_words];
            field.set(&mut row, code);
            match exact.code(self.layout, &row, target) {
                None => Some(NO_CODE),
                Some(code) => u32::try_from(code).ok().filter(|&code| code != NO_CODE),
            }
        };
        Some(Source::Table { field, codes: (0..size as u64).map(code).collect::<Option<_>>()? })
    }

    /// Returns the field of a slot and the number of its codes.
    pub(crate) fn field(&self, slot: Slot) -> (Field, u128) {
        (self.layout.field(slot), size_of(self.system, slot))
    }
}

#[derive(Clone, Copy, Default)]
struct Cost {
    tests: u32,
    depth: u32,
    /// Whether this is a conjunction of fields with given values, which costs one test per word.
    is_masked: bool,
}

/// A sum of multiples that is being built.
#[derive(Default)]
pub(crate) struct Terms {
    pub(crate) constant: i128,
    fields: BTreeMap<Field, i128>,
    cells: BTreeMap<u32, i128>,
}

impl Terms {
    fn add_constant(&mut self, value: i128, factor: i128) -> Option<()> {
        self.constant = self.constant.checked_add(value.checked_mul(factor)?)?;
        Some(())
    }

    /// Compiles the sum; returns `None` if some partial sum may not fit.
    fn linear(&self, bounds: impl Fn(u32) -> Bounds) -> Option<Linear> {
        let mut magnitude = self.constant.checked_abs()?;
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let mut fields = Vec::new();
        for (&field, &factor) in self.fields.iter().filter(|(_, factor)| **factor != 0) {
            magnitude = magnitude.checked_add(factor.checked_abs()?.checked_mul(i128::from(field.mask))?)?;
            if field.mask == 1 && factor == 1 {
                *counts.entry(field.word).or_default() |= field.bits();
            } else {
                fields.push((field, i64::try_from(factor).ok()?));
            }
        }
        let mut cells = Vec::new();
        for (&cell, &factor) in self.cells.iter().filter(|(_, factor)| **factor != 0) {
            let Bounds { lo, hi, .. } = bounds(cell);
            let largest = lo.checked_abs()?.max(hi.checked_abs()?);
            magnitude = magnitude.checked_add(factor.checked_abs()?.checked_mul(largest)?)?;
            cells.push((cell, i64::try_from(factor).ok()?));
        }
        (magnitude <= MAX_NUMBER).then(|| Linear {
            constant: self.constant as i64,
            counts: counts.into_iter().collect(),
            fields: fields.into(),
            cells: cells.into(),
        })
    }
}
