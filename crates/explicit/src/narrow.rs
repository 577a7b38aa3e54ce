//! Top-down constraint propagation, from a required condition to the variables, in the search for initial
//! states.
//!
//! Given bounds on every part of a condition that must be true, each part passes on a requirement:
//! a conjunction to all its operands, a disjunction to the only operand that is not false, a
//! comparison to its sides, a sum to each term given the others. Only codes that
//! make the condition false are removed.

use masque_model::{Domain, Expr, ExprId, Relation, System, VarId};

use crate::bounds::Bounds;
use crate::domains::Codes;
use crate::layout::Layout;

/// No choice makes the condition true.
pub(crate) struct Conflict;

/// Removes codes that make a required condition false.
pub(crate) struct Narrower<'a> {
    pub(crate) system: &'a System,
    pub(crate) layout: &'a Layout,
    /// Bounds by expression. They may be older than `domains`, which is safe because domains only shrink.
    pub(crate) bounds: &'a [Bounds],
    pub(crate) domains: &'a mut [Codes],
    pub(crate) has_changed: bool,
}

/// A requirement on an expression.
enum Requirement {
    Truth(ExprId, bool),
    Between(ExprId, i128, i128),
}

impl Narrower<'_> {
    /// Removes codes for which a condition is false.
    pub(crate) fn require(&mut self, condition: ExprId) -> Result<(), Conflict> {
        let mut requirements = vec![Requirement::Truth(condition, true)];
        while let Some(requirement) = requirements.pop() {
            match requirement {
                Requirement::Truth(expr, truth) => self.make(expr, truth, &mut requirements)?,
                Requirement::Between(expr, lo, hi) => self.bound(expr, lo, hi, &mut requirements)?,
            }
        }
        Ok(())
    }

    fn bounds(&self, expr: ExprId) -> Bounds {
        self.bounds[expr.index()]
    }

    fn make(
        &mut self,
        expr: ExprId,
        truth: bool,
        requirements: &mut Vec<Requirement>,
    ) -> Result<(), Conflict> {
        match self.bounds(expr).as_truth() {
            Some(known) if known == truth => return Ok(()),
            Some(_) => return Err(Conflict),
            None => {}
        }
        match self.system.exprs.get(expr) {
            Expr::Not(a) => requirements.push(Requirement::Truth(a, !truth)),
            Expr::And(list) => self.junction(list, truth, true, requirements)?,
            Expr::Or(list) => self.junction(list, truth, false, requirements)?,
            Expr::Xor(list) => self.parity(list, truth, requirements),
            Expr::Variable(v) if self.system.variable(v).domain == Domain::Boolean => {
                self.restrict(v, |codes| codes.within(u64::from(truth), u64::from(truth)))?;
            }
            Expr::Compare(relation, a, b) => {
                let (left, right) = (self.bounds(a), self.bounds(b));
                // A comparison of an undefined value is false too, so a false comparison implies nothing
                // unless both sides are defined.
                if truth || left.is_defined && right.is_defined {
                    let relation = if truth { relation } else { negation(relation) };
                    self.compare(relation, a, b, requirements)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// If a junction equals its neutral element, so do all operands; otherwise some operand differs,
    /// and if only one can, it does.
    fn junction(
        &mut self,
        list: &[ExprId],
        truth: bool,
        neutral: bool,
        requirements: &mut Vec<Requirement>,
    ) -> Result<(), Conflict> {
        if truth == neutral {
            requirements.extend(list.iter().map(|&e| Requirement::Truth(e, truth)));
            return Ok(());
        }
        let mut open = list.iter().filter(|&&e| self.bounds(e).as_truth() != Some(neutral));
        match (open.next(), open.next()) {
            (None, _) => return Err(Conflict),
            (Some(&only), None) => requirements.push(Requirement::Truth(only, truth)),
            _ => {}
        }
        Ok(())
    }

    /// The last open operand of an exclusive or is determined by the others.
    fn parity(&mut self, list: &[ExprId], truth: bool, requirements: &mut Vec<Requirement>) {
        let mut open = list.iter().filter(|&&e| self.bounds(e).as_truth().is_none());
        if let (Some(&only), None) = (open.next(), open.next()) {
            let trues = list.iter().filter(|&&e| self.bounds(e).as_truth() == Some(true)).count();
            requirements.push(Requirement::Truth(only, truth ^ (trues % 2 == 1)));
        }
    }

    fn compare(
        &mut self,
        relation: Relation,
        a: ExprId,
        b: ExprId,
        requirements: &mut Vec<Requirement>,
    ) -> Result<(), Conflict> {
        if matches!(relation, Relation::Equal | Relation::Unequal) {
            let is_equal = relation == Relation::Equal;
            self.relate_to_constant(a, b, is_equal, requirements)?;
            self.relate_to_constant(b, a, is_equal, requirements)?;
        }
        let (left, right) = (self.bounds(a), self.bounds(b));
        if !(left.is_finite() && right.is_finite()) || self.is_enumeration(a) || self.is_enumeration(b) {
            return Ok(());
        }
        let strict = i128::from(left.is_whole && right.is_whole);
        let (a_lo, a_hi) = match relation {
            Relation::Equal => (right.lo, right.hi),
            Relation::Unequal => return Ok(()),
            Relation::Less => (left.lo, right.hi - strict),
            Relation::AtMost => (left.lo, right.hi),
            Relation::Greater => (right.lo + strict, left.hi),
            Relation::AtLeast => (right.lo, left.hi),
        };
        let (b_lo, b_hi) = match relation {
            Relation::Equal => (left.lo, left.hi),
            Relation::Unequal => return Ok(()),
            Relation::Less => (left.lo + strict, right.hi),
            Relation::AtMost => (left.lo, right.hi),
            Relation::Greater => (right.lo, left.hi - strict),
            Relation::AtLeast => (right.lo, left.hi),
        };
        requirements.push(Requirement::Between(a, a_lo, a_hi));
        requirements.push(Requirement::Between(b, b_lo, b_hi));
        Ok(())
    }

    /// If one side has a known value, requires that the other side has it too (or, for `<>`, not).
    fn relate_to_constant(
        &mut self,
        side: ExprId,
        other: ExprId,
        is_equal: bool,
        requirements: &mut Vec<Requirement>,
    ) -> Result<(), Conflict> {
        let value = self.bounds(other);
        if value.lo != value.hi || !value.is_whole || !value.is_defined {
            return Ok(());
        }
        let Expr::Variable(v) = self.system.exprs.get(side) else {
            if self.is_condition(side) && (value.lo == 0 || value.lo == 1) {
                requirements.push(Requirement::Truth(side, (value.lo == 1) == is_equal));
            }
            return Ok(());
        };
        let value = i64::try_from(value.lo).ok();
        let code = value.and_then(|value| self.layout.code(self.system, v, value));
        match (code, is_equal) {
            (Some(code), true) => {
                self.restrict(v, |codes| codes.contains(code).then_some(codes)?.within(code, code))
            }
            (None, true) => Err(Conflict),
            (Some(code), false) => self.restrict(v, |codes| codes.without(code)),
            (None, false) => Ok(()),
        }
    }

    /// Requires that an expression lies between two integers.
    fn bound(
        &mut self,
        expr: ExprId,
        lo: i128,
        hi: i128,
        requirements: &mut Vec<Requirement>,
    ) -> Result<(), Conflict> {
        let bounds = self.bounds(expr);
        if lo <= bounds.lo && bounds.hi <= hi {
            return Ok(());
        }
        if lo > bounds.hi || hi < bounds.lo {
            return Err(Conflict);
        }
        match self.system.exprs.get(expr) {
            Expr::Variable(v) => {
                if let Domain::Boolean | Domain::Integers(..) = self.system.variable(v).domain {
                    let base = i128::from(self.system.variable(v).domain.value(0));
                    let code = |value: i128| u64::try_from(value - base).ok();
                    let Some(high) = code(hi.min(bounds.hi)) else { return Err(Conflict) };
                    self.restrict(v, |codes| codes.within(code(lo.max(bounds.lo)).unwrap_or(0), high))?;
                }
            }
            Expr::Negate(a) if bounds.is_near() => {
                requirements.push(Requirement::Between(a, -hi.min(bounds.hi), -lo.max(bounds.lo)));
            }
            Expr::Sum(list) if bounds.is_near() => {
                let (lo, hi) = (lo.max(bounds.lo), hi.min(bounds.hi));
                for &term in list {
                    // The sum of the others has the bounds of the sum minus those of this term.
                    let own = self.bounds(term);
                    let (others_lo, others_hi) = (bounds.lo - own.lo, bounds.hi - own.hi);
                    requirements.push(Requirement::Between(term, lo - others_hi, hi - others_lo));
                }
            }
            Expr::Product(list) if bounds.is_finite() => {
                let value = Bounds { lo: lo.max(bounds.lo), hi: hi.min(bounds.hi), ..bounds };
                for (index, &factor) in list.iter().enumerate() {
                    let others = list.iter().enumerate().filter(|(other, _)| *other != index);
                    let others = others.fold(Bounds::exactly(1), |all, (_, &e)| all.times(self.bounds(e)));
                    requirements.extend(between(factor, value.divided_by(others)));
                }
            }
            Expr::Divide(a, b) if bounds.is_finite() => {
                let value = Bounds { lo: lo.max(bounds.lo), hi: hi.min(bounds.hi), ..bounds };
                requirements.extend(between(a, value.times(self.bounds(b))));
                requirements.extend(between(b, self.bounds(a).divided_by(value)));
            }
            _ if self.is_condition(expr) && bounds.is_defined && lo > 0 => {
                requirements.push(Requirement::Truth(expr, true))
            }
            _ if self.is_condition(expr) && bounds.is_defined && hi < 1 => {
                requirements.push(Requirement::Truth(expr, false))
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the expression is a connective or a comparison, so that its value is 0 or 1.
    fn is_condition(&self, expr: ExprId) -> bool {
        use masque_model::ExprWith::{And, Compare, Not, Or, Xor};
        matches!(self.system.exprs.get(expr), Not(_) | And(_) | Or(_) | Xor(_) | Compare(..))
    }

    fn is_enumeration(&self, expr: ExprId) -> bool {
        match self.system.exprs.get(expr) {
            Expr::Symbol(_) => true,
            Expr::Variable(v) => matches!(self.system.variable(v).domain, Domain::Values(_)),
            _ => false,
        }
    }

    fn restrict(
        &mut self,
        variable: VarId,
        narrower: impl FnOnce(Codes) -> Option<Codes>,
    ) -> Result<(), Conflict> {
        let codes = &mut self.domains[variable.index()];
        let narrower = narrower(*codes).ok_or(Conflict)?;
        self.has_changed |= narrower != *codes;
        *codes = narrower;
        Ok(())
    }
}

/// Returns the requirement to lie within bounds, if they are finite.
fn between(expr: ExprId, bounds: Bounds) -> Option<Requirement> {
    bounds.is_finite().then_some(Requirement::Between(expr, bounds.lo, bounds.hi))
}

fn negation(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::Unequal,
        Relation::Unequal => Relation::Equal,
        Relation::Less => Relation::AtLeast,
        Relation::AtMost => Relation::Greater,
        Relation::Greater => Relation::AtMost,
        Relation::AtLeast => Relation::Less,
    }
}
