//! From what must be true down to the variables: the inward half of the search for initial states.
//!
//! Given bounds on every part of a condition that must be true, each part passes on what it must
//! be: a conjunction to all its operands, a disjunction to the only operand that is not false, a
//! comparison to its sides, a sum to each term given the others. Nothing is lost: only codes that
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
    /// By expression. They lag behind `domains`, which is safe: they only get narrower.
    pub(crate) bounds: &'a [Bounds],
    pub(crate) domains: &'a mut [Codes],
    pub(crate) has_changed: bool,
}

/// What an expression must be.
enum Duty {
    Truth(ExprId, bool),
    Between(ExprId, i128, i128),
}

impl Narrower<'_> {
    /// Makes a condition true.
    pub(crate) fn require(&mut self, condition: ExprId) -> Result<(), Conflict> {
        let mut duties = vec![Duty::Truth(condition, true)];
        while let Some(duty) = duties.pop() {
            match duty {
                Duty::Truth(expr, truth) => self.make(expr, truth, &mut duties)?,
                Duty::Between(expr, lo, hi) => self.bound(expr, lo, hi, &mut duties)?,
            }
        }
        Ok(())
    }

    fn bounds(&self, expr: ExprId) -> Bounds {
        self.bounds[expr.index()]
    }

    fn make(&mut self, expr: ExprId, truth: bool, duties: &mut Vec<Duty>) -> Result<(), Conflict> {
        match self.bounds(expr).as_truth() {
            Some(known) if known == truth => return Ok(()),
            Some(_) => return Err(Conflict),
            None => {}
        }
        match self.system.exprs.get(expr) {
            Expr::Not(a) => duties.push(Duty::Truth(a, !truth)),
            Expr::And(list) => self.junction(list, truth, true, duties)?,
            Expr::Or(list) => self.junction(list, truth, false, duties)?,
            Expr::Xor(list) => self.parity(list, truth, duties),
            Expr::Variable(v) if self.system.variable(v).domain == Domain::Boolean => {
                self.restrict(v, |codes| codes.within(u64::from(truth), u64::from(truth)))?;
            }
            Expr::Compare(relation, a, b) => {
                let (left, right) = (self.bounds(a), self.bounds(b));
                // Without a value every comparison is false, so a false one says little.
                if truth || left.is_defined && right.is_defined {
                    let relation = if truth { relation } else { negation(relation) };
                    self.compare(relation, a, b, duties)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A junction equal to its neutral element has all operands so; otherwise some operand differs,
    /// and if only one can, it does.
    fn junction(
        &mut self,
        list: &[ExprId],
        truth: bool,
        neutral: bool,
        duties: &mut Vec<Duty>,
    ) -> Result<(), Conflict> {
        if truth == neutral {
            duties.extend(list.iter().map(|&e| Duty::Truth(e, truth)));
            return Ok(());
        }
        let mut open = list.iter().filter(|&&e| self.bounds(e).as_truth() != Some(neutral));
        match (open.next(), open.next()) {
            (None, _) => return Err(Conflict),
            (Some(&only), None) => duties.push(Duty::Truth(only, truth)),
            _ => {}
        }
        Ok(())
    }

    /// The last open operand of an exclusive or is determined by the others.
    fn parity(&mut self, list: &[ExprId], truth: bool, duties: &mut Vec<Duty>) {
        let mut open = list.iter().filter(|&&e| self.bounds(e).as_truth().is_none());
        if let (Some(&only), None) = (open.next(), open.next()) {
            let trues = list.iter().filter(|&&e| self.bounds(e).as_truth() == Some(true)).count();
            duties.push(Duty::Truth(only, truth ^ (trues % 2 == 1)));
        }
    }

    fn compare(
        &mut self,
        relation: Relation,
        a: ExprId,
        b: ExprId,
        duties: &mut Vec<Duty>,
    ) -> Result<(), Conflict> {
        if matches!(relation, Relation::Equal | Relation::Unequal) {
            let is_equal = relation == Relation::Equal;
            self.relate_to_constant(a, b, is_equal, duties)?;
            self.relate_to_constant(b, a, is_equal, duties)?;
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
        duties.push(Duty::Between(a, a_lo, a_hi));
        duties.push(Duty::Between(b, b_lo, b_hi));
        Ok(())
    }

    /// Where one side has one value, the other side has it too, or has it not.
    fn relate_to_constant(
        &mut self,
        side: ExprId,
        other: ExprId,
        is_equal: bool,
        duties: &mut Vec<Duty>,
    ) -> Result<(), Conflict> {
        let value = self.bounds(other);
        if value.lo != value.hi || !value.is_whole || !value.is_defined {
            return Ok(());
        }
        let Expr::Variable(v) = self.system.exprs.get(side) else {
            if self.is_condition(side) && (value.lo == 0 || value.lo == 1) {
                duties.push(Duty::Truth(side, (value.lo == 1) == is_equal));
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

    /// Puts an expression between two integers.
    fn bound(&mut self, expr: ExprId, lo: i128, hi: i128, duties: &mut Vec<Duty>) -> Result<(), Conflict> {
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
                duties.push(Duty::Between(a, -hi.min(bounds.hi), -lo.max(bounds.lo)));
            }
            Expr::Sum(list) if bounds.is_near() => {
                let (lo, hi) = (lo.max(bounds.lo), hi.min(bounds.hi));
                for &term in list {
                    // The others add up to the bounds of the sum less those of this term.
                    let own = self.bounds(term);
                    let (others_lo, others_hi) = (bounds.lo - own.lo, bounds.hi - own.hi);
                    duties.push(Duty::Between(term, lo - others_hi, hi - others_lo));
                }
            }
            Expr::Product(list) if bounds.is_finite() => {
                let value = Bounds { lo: lo.max(bounds.lo), hi: hi.min(bounds.hi), ..bounds };
                for (position, &factor) in list.iter().enumerate() {
                    let others = list.iter().enumerate().filter(|(other, _)| *other != position);
                    let others = others.fold(Bounds::exactly(1), |all, (_, &e)| all.times(self.bounds(e)));
                    duties.extend(between(factor, value.divided_by(others)));
                }
            }
            Expr::Divide(a, b) if bounds.is_finite() => {
                let value = Bounds { lo: lo.max(bounds.lo), hi: hi.min(bounds.hi), ..bounds };
                duties.extend(between(a, value.times(self.bounds(b))));
                duties.extend(between(b, self.bounds(a).divided_by(value)));
            }
            _ if self.is_condition(expr) && bounds.is_defined && lo > 0 => {
                duties.push(Duty::Truth(expr, true))
            }
            _ if self.is_condition(expr) && bounds.is_defined && hi < 1 => {
                duties.push(Duty::Truth(expr, false))
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

/// The duty to lie within bounds, if they say anything.
fn between(expr: ExprId, bounds: Bounds) -> Option<Duty> {
    bounds.is_finite().then_some(Duty::Between(expr, bounds.lo, bounds.hi))
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
