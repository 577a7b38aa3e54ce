//! Translation of conditions into tests and jumps.
//!
//! `emit(φ, yes, no)` appends the tests of `φ` and returns the index of the first one; the last jumps lead
//! to `yes` or `no`. Conjunctions and disjunctions combine what one test can do: all `field =
//! code` of one word, all codes of one field, all combinations of the same bits, all constants that
//! one number is compared with.

use std::collections::BTreeMap;

use masque_model::{Domain, Expr, ExprId, Relation};

use crate::analyse::{MAX_BITMAP_DOMAIN, Shape, constant_value};
use crate::code::{Branch, FALSE, NO_CODE, Program, TRUE, Test};
use crate::codeset::{CodeSet, Simple};
use crate::compile::Compiler;
use crate::layout::Slot;

/// A condition in two parts: values that some words must have, and the rest.
pub(crate) struct Guard {
    /// Word, mask and value; each word once, in increasing order.
    pub(crate) key: Vec<(u32, u64, u64)>,
    pub(crate) rest: Program,
}

/// `a ~ b`
#[derive(Clone, Copy)]
struct Comparison {
    relation: Relation,
    a: ExprId,
    b: ExprId,
}

impl Compiler<'_, '_> {
    /// Compiles a condition as a guard; returns `None` if it is never true.
    pub(crate) fn guard(&mut self, expr: ExprId) -> Option<Guard> {
        let conjunction = self.conjunction(&[expr])?;
        let key = conjunction.masked();
        let mut start = TRUE;
        for &other in conjunction.others.iter().rev() {
            start = self.emit(other, start, FALSE);
        }
        for test in self.set_tests(&conjunction) {
            start = self.branch(test, start, FALSE);
        }
        Some(Guard { key, rest: self.finish(start) })
    }

    /// Appends the tests of a condition and returns the index of the first one.
    pub(crate) fn emit(&mut self, expr: ExprId, yes: u32, no: u32) -> u32 {
        match self.analysis.shape_of(expr) {
            Shape::Known(true) => return yes,
            Shape::Known(false) => return no,
            Shape::Codes(slot, set) => {
                let test = self.code_test(*slot, &set.clone());
                return self.branch(test, yes, no);
            }
            Shape::Other => {}
        }
        if let Some(&cell) = self.cell_of.get(&expr) {
            self.use_cell(cell);
            return self.branch(Test::Cell(cell), yes, no);
        }
        if !self.analysis.is_sound[expr.index()] {
            return self.exactly(expr, yes, no);
        }
        match self.system.exprs.get(expr) {
            Expr::Not(a) => self.emit(a, no, yes),
            Expr::And(list) => self.emit_all(list, yes, no),
            Expr::Or(list) => self.emit_any(list, yes, no),
            Expr::Xor(list) => self.emit_odd(expr, list, yes, no),
            Expr::Compare(relation, a, b) => self.emit_compare(expr, Comparison { relation, a, b }, yes, no),
            _ => self.exactly(expr, yes, no),
        }
    }

    fn branch(&mut self, test: Test, yes: u32, no: u32) -> u32 {
        self.code.branches.push(Branch { test, yes, no });
        self.code.branches.len() as u32 - 1
    }

    fn exactly(&mut self, expr: ExprId, yes: u32, no: u32) -> u32 {
        let exact = self.exact(expr);
        self.branch(Test::Exact(exact), yes, no)
    }

    /// Returns the test whether a field's code is in a set.
    fn code_test(&self, slot: Slot, set: &CodeSet) -> Test {
        let (field, size) = self.field(slot);
        match set {
            CodeSet::One(code) => {
                Test::Masked { word: field.word, mask: field.bits(), value: code << field.shift }
            }
            _ if field.mask < 64 => Test::Small { field, codes: set.low_bits() },
            _ => Test::Bitmap { field, bits: set.to_bits(size as u64) },
        }
    }

    /// Appends the tests of a conjunction.
    fn emit_all(&mut self, list: &[ExprId], yes: u32, no: u32) -> u32 {
        let Some(conjunction) = self.conjunction(list) else { return no };
        let mut start = yes;
        for &other in conjunction.others.iter().rev() {
            start = self.emit(other, start, no);
        }
        for test in self.set_tests(&conjunction) {
            start = self.branch(test, start, no);
        }
        for (word, mask, value) in conjunction.masked().into_iter().rev() {
            start = self.branch(Test::Masked { word, mask, value }, start, no);
        }
        start
    }

    /// Sorts the operands of a conjunction by kind of test; returns `None` if it is never true.
    fn conjunction(&self, list: &[ExprId]) -> Option<Conjunction> {
        let mut conjunction = Conjunction::default();
        let mut sets: BTreeMap<Slot, CodeSet> = BTreeMap::new();
        let mut stack: Vec<ExprId> = list.iter().rev().copied().collect();
        while let Some(expr) = stack.pop() {
            match self.analysis.shape_of(expr) {
                Shape::Known(true) => {}
                Shape::Known(false) => return None,
                Shape::Codes(slot, set) => match sets.get_mut(slot) {
                    None => _ = sets.insert(*slot, set.clone()),
                    Some(CodeSet::One(a)) => {
                        if !set.contains(*a) {
                            return None;
                        }
                    }
                    Some(both) => match set {
                        CodeSet::One(code) if both.contains(*code) => *both = set.clone(),
                        CodeSet::One(_) => return None,
                        CodeSet::Bits(_) => {
                            *both = both.combine(set, self.field(*slot).1 as u64, |a, b| a & b);
                        }
                    },
                },
                Shape::Other => match self.open_operands(expr, true) {
                    Some(list) => stack.extend(list.iter().rev()),
                    None => conjunction.others.push(expr),
                },
            }
        }
        for (slot, set) in sets {
            let (field, size) = self.field(slot);
            match set.simplify(u64::try_from(size).unwrap_or(u64::MAX)) {
                Simple::Empty => return None,
                Simple::Full => {}
                Simple::Proper(CodeSet::One(code)) => {
                    let (mask, value) = conjunction.words.entry(field.word).or_default();
                    *mask |= field.bits();
                    *value |= code << field.shift;
                }
                Simple::Proper(set) => conjunction.sets.push((slot, set)),
            }
        }
        Some(conjunction)
    }

    fn set_tests(&self, conjunction: &Conjunction) -> Vec<Test> {
        conjunction.sets.iter().rev().map(|(slot, set)| self.code_test(*slot, set)).collect()
    }

    /// Returns the operands of a junction that is compiled in place.
    fn open_operands(&self, expr: ExprId, is_and: bool) -> Option<&[ExprId]> {
        if self.cell_of.contains_key(&expr) || !self.analysis.is_sound[expr.index()] {
            return None;
        }
        match self.system.exprs.get(expr) {
            Expr::And(list) if is_and => Some(list),
            Expr::Or(list) if !is_and => Some(list),
            _ => None,
        }
    }

    /// Appends the tests of a disjunction.
    fn emit_any(&mut self, list: &[ExprId], yes: u32, no: u32) -> u32 {
        let mut sets: BTreeMap<Slot, CodeSet> = BTreeMap::new();
        let mut tables: BTreeMap<TableKey, Vec<Vec<u64>>> = BTreeMap::new();
        let mut equations: BTreeMap<ExprId, Vec<(i64, ExprId)>> = BTreeMap::new();
        let mut others = Vec::new();
        let mut stack: Vec<ExprId> = list.iter().rev().copied().collect();
        while let Some(expr) = stack.pop() {
            match self.analysis.shape_of(expr) {
                Shape::Known(true) => return yes,
                Shape::Known(false) => {}
                Shape::Codes(slot, set) => match sets.get_mut(slot) {
                    None => _ = sets.insert(*slot, set.clone()),
                    Some(either) if self.field(*slot).1 <= MAX_BITMAP_DOMAIN => {
                        either.extend(set, self.field(*slot).1 as u64);
                    }
                    Some(_) => others.push(expr),
                },
                Shape::Other => {
                    if let Some(list) = self.open_operands(expr, false) {
                        stack.extend(list.iter().rev());
                    } else if let Some(list) = self.open_operands(expr, true) {
                        if let Some(conjunction) = self.conjunction(list) {
                            let (key, row) = conjunction.into_row();
                            tables.entry(key).or_default().push(row);
                        }
                    } else if let Some((number, constant)) = self.as_equation(expr) {
                        equations.entry(number).or_default().push((constant, expr));
                    } else {
                        others.push(expr);
                    }
                }
            }
        }
        let mut start = no;
        for &other in others.iter().rev() {
            start = self.emit(other, yes, start);
        }
        for (number, equations) in equations.into_iter().rev() {
            start = self.emit_one_of(number, &equations, yes, start);
        }
        for (key, rows) in tables.into_iter().rev() {
            start = self.emit_table(&key, rows, yes, start);
        }
        for (slot, set) in sets.into_iter().rev() {
            let size = u64::try_from(self.field(slot).1).unwrap_or(u64::MAX);
            match set.simplify(size) {
                Simple::Empty => {}
                Simple::Full => return yes,
                Simple::Proper(set) => {
                    let test = self.code_test(slot, &set);
                    start = self.branch(test, yes, start);
                }
            }
        }
        start
    }

    /// Appends the tests of conjunctions that differ only in the values of the bits that they compare.
    fn emit_table(&mut self, key: &TableKey, mut rows: Vec<Vec<u64>>, yes: u32, no: u32) -> u32 {
        let TableKey { bits, sets, others } = key;
        let mut start = yes;
        for &other in others.iter().rev() {
            start = self.emit(other, start, no);
        }
        for (slot, set) in sets.iter().rev() {
            let test = self.code_test(*slot, set);
            start = self.branch(test, start, no);
        }
        rows.sort_unstable();
        rows.dedup();
        if let [row] = &rows[..] {
            for (&(word, mask), &value) in bits.iter().zip(row).rev() {
                start = self.branch(Test::Masked { word, mask, value }, start, no);
            }
            return start;
        }
        let rows: Box<[u64]> = rows.into_iter().flatten().collect();
        let test = match bits[..] {
            [(word, mask)] => Test::MaskedIn { word, mask, values: rows },
            _ => Test::RowsIn { bits: bits.as_slice().into(), rows },
        };
        self.branch(test, start, no)
    }

    /// Returns the number and the constant of an equation.
    fn as_equation(&self, expr: ExprId) -> Option<(ExprId, i64)> {
        if self.cell_of.contains_key(&expr) {
            return None;
        }
        let exprs = &self.system.exprs;
        let Expr::Compare(Relation::Equal, a, b) = exprs.get(expr) else { return None };
        let (number, constant) = match (exprs.get(a), exprs.get(b)) {
            (_, Expr::Number(n)) => (a, n),
            (Expr::Number(n), _) => (b, n),
            _ => return None,
        };
        Some((number, constant))
    }

    /// Appends a test whether a number equals one of some constants, given with the original comparisons.
    fn emit_one_of(&mut self, number: ExprId, equations: &[(i64, ExprId)], yes: u32, no: u32) -> u32 {
        match self.linear(&[(number, 1)]) {
            Some(linear) => {
                let mut constants: Vec<i64> = equations.iter().map(|(constant, _)| *constant).collect();
                constants.sort_unstable();
                constants.dedup();
                self.branch(Test::OneOf { linear, constants: constants.into() }, yes, no)
            }
            None => equations.iter().rev().fold(no, |start, (_, expr)| self.exactly(*expr, yes, start)),
        }
    }

    fn emit_odd(&mut self, expr: ExprId, list: &[ExprId], yes: u32, no: u32) -> u32 {
        let terms: Vec<_> = list.iter().map(|&e| (e, 1)).collect();
        match self.linear(&terms) {
            Some(linear) => self.branch(Test::Odd { linear }, yes, no),
            None => self.exactly(expr, yes, no),
        }
    }

    fn emit_compare(&mut self, expr: ExprId, comparison: Comparison, yes: u32, no: u32) -> u32 {
        let Comparison { relation, a, b } = comparison;
        let exprs = &self.system.exprs;
        // Equality and its negation are the same test with swapped jumps.
        let (same, different) = match relation {
            Relation::Equal => (yes, no),
            Relation::Unequal => (no, yes),
            _ => return self.emit_difference(expr, comparison, yes, no),
        };
        let is_sound = |e: ExprId| self.analysis.is_sound[e.index()];
        match (exprs.get(a), exprs.get(b)) {
            (Expr::Bool(truth), _) if is_sound(b) => {
                if truth {
                    self.emit(b, same, different)
                } else {
                    self.emit(b, different, same)
                }
            }
            (_, Expr::Bool(truth)) if is_sound(a) => {
                if truth {
                    self.emit(a, same, different)
                } else {
                    self.emit(a, different, same)
                }
            }
            (Expr::Variable(left), Expr::Variable(right)) => {
                let (from, to) = (&self.system.variable(left).domain, &self.system.variable(right).domain);
                let (left_field, right_field) = (self.layout.variable(left), self.layout.variable(right));
                if from == to {
                    let test = Test::SameCode { left: left_field, right: right_field };
                    return self.branch(test, same, different);
                }
                let Domain::Values(values) = from else {
                    return self.emit_difference(expr, comparison, yes, no);
                };
                let code = |value: i64| self.layout.code(self.system, right, value);
                let code = |value| code(value).map_or(NO_CODE, |code| u32::try_from(code).unwrap_or(NO_CODE));
                let image = values.iter().map(|v| code(i64::from(v.0))).collect();
                self.branch(Test::Image { left: left_field, right: right_field, image }, same, different)
            }
            (Expr::Variable(v), constant) | (constant, Expr::Variable(v)) => {
                let code = constant_value(constant).and_then(|c| self.layout.code(self.system, v, c));
                match code {
                    Some(code) => {
                        let test = self.code_test(Slot::Variable(v), &CodeSet::One(code));
                        self.branch(test, same, different)
                    }
                    None => self.emit_difference(expr, comparison, yes, no),
                }
            }
            _ if is_sound(a) && is_sound(b) => match self.linear(&[(a, 1), (b, 1)]) {
                Some(linear) => self.branch(Test::Odd { linear }, different, same),
                None => self.exactly(expr, yes, no),
            },
            _ => self.emit_difference(expr, comparison, yes, no),
        }
    }

    /// `a ~ b` as `a - b ~ 0`, with the constant of the difference on the other side.
    fn emit_difference(&mut self, expr: ExprId, comparison: Comparison, yes: u32, no: u32) -> u32 {
        let Comparison { relation, a, b } = comparison;
        let difference = self.terms(&[(a, 1), (b, -1)]).and_then(|mut terms| {
            let constant = i64::try_from(-std::mem::take(&mut terms.constant)).ok()?;
            Some((self.linear_of(&terms)?, constant))
        });
        match difference {
            Some((linear, constant)) => self.branch(Test::Compare { linear, relation, constant }, yes, no),
            None => self.exactly(expr, yes, no),
        }
    }
}

/// The operands of a conjunction by kind of test.
#[derive(Default)]
struct Conjunction {
    /// Mask and value of all `field = code`, by word.
    words: BTreeMap<u32, (u64, u64)>,
    /// Fields that must have one of several codes.
    sets: Vec<(Slot, CodeSet)>,
    others: Vec<ExprId>,
}

/// What conjunctions have in common that differ only in the values of the bits that they compare.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TableKey {
    /// Words and masks of the compared bits.
    bits: Vec<(u32, u64)>,
    sets: Vec<(Slot, CodeSet)>,
    others: Vec<ExprId>,
}

impl Conjunction {
    /// Splits the conjunction into the values of the bits that it compares, one per word, and the rest.
    fn into_row(self) -> (TableKey, Vec<u64>) {
        let (bits, row) = self.words.into_iter().map(|(word, (mask, value))| ((word, mask), value)).unzip();
        (TableKey { bits, sets: self.sets, others: self.others }, row)
    }

    fn masked(&self) -> Vec<(u32, u64, u64)> {
        self.words.iter().map(|(&word, &(mask, value))| (word, mask, value)).collect()
    }
}
