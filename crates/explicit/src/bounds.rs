//! Interval analysis: integer bounds on the value of an expression.
//!
//! Values are exact rationals, yet almost every expression of almost every model is an integer that
//! fits 64 bits. This analysis proves it. The compiler uses it once, for whole domains; the search for
//! initial states uses it for domains that shrink as choices are made. Truth values are the numbers
//! 0 and 1, so a condition is settled when its bounds are equal.

use masque_model::{Domain, Expr, ExprId, Relation};

/// Bounds on the value of an expression. They always enclose the value but are not always tight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) lo: i128,
    pub(crate) hi: i128,
    /// Whether the value is never a fraction.
    pub(crate) is_whole: bool,
    /// Whether the expression always has a value.
    pub(crate) is_defined: bool,
}

/// Maximum absolute value of bounds that are computed with: sums and products of these fit `i128`.
const MAX_MAGNITUDE: i128 = 1 << 63;

impl Bounds {
    pub(crate) const BOOLEAN: Bounds = Bounds { lo: 0, hi: 1, is_whole: true, is_defined: true };

    pub(crate) fn exactly(value: i128) -> Bounds {
        Bounds::between(value, value)
    }

    pub(crate) fn between(lo: i128, hi: i128) -> Bounds {
        Bounds { lo, hi, is_whole: true, is_defined: true }
    }

    fn truth(truth: Option<bool>) -> Bounds {
        truth.map_or(Bounds::BOOLEAN, |b| Bounds::exactly(i128::from(b)))
    }

    /// The bounds of an unknown value.
    fn anything(is_whole: bool, is_defined: bool) -> Bounds {
        Bounds { lo: i128::MIN, hi: i128::MAX, is_whole, is_defined }
    }

    /// Whether both bounds are known.
    pub(crate) fn is_finite(self) -> bool {
        self.lo != i128::MIN && self.hi != i128::MAX
    }

    /// Whether sums and products of such bounds fit `i128`.
    pub(crate) fn is_near(self) -> bool {
        -MAX_MAGNITUDE <= self.lo && self.hi <= MAX_MAGNITUDE
    }

    /// Returns the truth value of a condition, if the bounds settle it.
    pub(crate) fn as_truth(self) -> Option<bool> {
        match self {
            _ if !self.is_defined => None,
            Bounds { lo: 0, hi: 0, .. } => Some(false),
            _ if self.lo > 0 || self.hi < 0 => Some(true),
            _ => None,
        }
    }

    fn plus(self, other: Bounds) -> Bounds {
        let (is_whole, is_defined) = self.flags(other);
        if !(self.is_near() && other.is_near()) {
            return Bounds::anything(is_whole, is_defined);
        }
        Bounds { lo: self.lo + other.lo, hi: self.hi + other.hi, is_whole, is_defined }
    }

    pub(crate) fn times(self, other: Bounds) -> Bounds {
        let (is_whole, is_defined) = self.flags(other);
        if !(self.is_near() && other.is_near()) {
            return Bounds::anything(is_whole, is_defined);
        }
        let corners = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let (lo, hi) = corners.iter().fold((corners[0], corners[0]), |(lo, hi), &c| (lo.min(c), hi.max(c)));
        Bounds { lo, hi, is_whole, is_defined }
    }

    fn negated(self) -> Bounds {
        if !self.is_near() {
            return Bounds::anything(self.is_whole, self.is_defined);
        }
        Bounds { lo: -self.hi, hi: -self.lo, ..self }
    }

    /// `a / b`, rounded outwards. If the divisor excludes zero, the extremes are at the corners.
    pub(crate) fn divided_by(self, divisor: Bounds) -> Bounds {
        let excludes_zero = divisor.lo > 0 || divisor.hi < 0;
        let is_defined = self.is_defined && divisor.is_defined && excludes_zero;
        if !(self.is_near() && divisor.is_near() && excludes_zero) {
            return Bounds::anything(false, is_defined);
        }
        let corners = [self.lo, self.hi].map(|a| [divisor.lo, divisor.hi].map(|b| (a, b)));
        let corners = corners.as_flattened().iter();
        // Floor and ceiling for any combination of signs.
        let floor = |(a, b): &(i128, i128)| (a * b.signum()).div_euclid(b.abs());
        let ceiling = |(a, b): &(i128, i128)| -(-a * b.signum()).div_euclid(b.abs());
        let lo = corners.clone().map(floor).min().unwrap_or(i128::MIN);
        let hi = corners.map(ceiling).max().unwrap_or(i128::MAX);
        Bounds { lo, hi, is_whole: false, is_defined }
    }

    /// `a mod b`, which lies in `0..|b|`.
    fn modulo(self, divisor: Bounds) -> Bounds {
        let excludes_zero = divisor.lo > 0 || divisor.hi < 0;
        let (is_whole, is_defined) = self.flags(divisor);
        let is_defined = is_defined && is_whole && excludes_zero;
        if !divisor.is_near() {
            return Bounds { lo: 0, ..Bounds::anything(true, is_defined) };
        }
        let hi = (divisor.lo.abs().max(divisor.hi.abs()) - 1).max(0);
        Bounds { lo: 0, hi, is_whole: true, is_defined }
    }

    fn flags(self, other: Bounds) -> (bool, bool) {
        (self.is_whole && other.is_whole, self.is_defined && other.is_defined)
    }

    /// Returns the truth value of `a ~ b`, if the bounds settle it. A comparison of an undefined value is
    /// false.
    pub(crate) fn compare(self, relation: Relation, other: Bounds) -> Option<bool> {
        // Unknown bounds are the ends of `i128`, which settle nothing.
        let less = self.hi < other.lo;
        let greater = self.lo > other.hi;
        let equal = self.lo == self.hi && other.lo == other.hi && self.lo == other.lo;
        let (always, never) = match relation {
            Relation::Equal => (equal, less || greater),
            Relation::Unequal => (less || greater, equal),
            Relation::Less => (less, self.lo >= other.hi),
            Relation::AtMost => (self.hi <= other.lo, greater),
            Relation::Greater => (greater, self.hi <= other.lo),
            Relation::AtLeast => (self.lo >= other.hi, less),
        };
        if never {
            Some(false)
        } else if always && self.is_defined && other.is_defined {
            Some(true)
        } else {
            None
        }
    }
}

/// Returns the bounds of a whole domain.
pub(crate) fn of_domain(domain: &Domain) -> Bounds {
    match domain {
        Domain::Boolean => Bounds::BOOLEAN,
        Domain::Integers(lo, hi) => Bounds::between(i128::from(*lo), i128::from(*hi)),
        Domain::Values(values) => {
            let numbers = values.iter().map(|v| i128::from(v.0));
            let (lo, hi) = numbers.fold((i128::MAX, 0), |(lo, hi), n| (lo.min(n), hi.max(n)));
            Bounds::between(lo.min(hi), hi)
        }
    }
}

/// Returns the bounds of an expression, given those of its operands. Actions are unknown.
pub(crate) fn of_expr(
    expr: Expr<'_>,
    variable: impl Fn(masque_model::VarId) -> Bounds,
    of: impl Fn(ExprId) -> Bounds,
) -> Bounds {
    // One operand settles a junction, but it is defined only if all operands are.
    let junction = |list: &[ExprId], neutral: bool| {
        let all_defined = list.iter().all(|&e| of(e).is_defined);
        let truths = || list.iter().map(|&e| of(e).as_truth());
        let truth = if truths().any(|t| t == Some(!neutral)) {
            Some(!neutral)
        } else if truths().all(|t| t == Some(neutral)) {
            Some(neutral)
        } else {
            None
        };
        Bounds { is_defined: all_defined, ..Bounds::truth(truth) }
    };
    match expr {
        Expr::Bool(b) => Bounds::exactly(i128::from(b)),
        Expr::Number(n) => Bounds::exactly(i128::from(n)),
        Expr::Symbol(s) => Bounds::exactly(i128::from(s.0)),
        Expr::Variable(v) => variable(v),
        Expr::ActionIs(..) => Bounds::BOOLEAN,
        Expr::Not(a) => {
            Bounds { is_defined: of(a).is_defined, ..Bounds::truth(of(a).as_truth().map(|b| !b)) }
        }
        Expr::And(list) => junction(list, true),
        Expr::Or(list) => junction(list, false),
        Expr::Xor(list) => {
            let odd = list.iter().try_fold(false, |odd, &e| of(e).as_truth().map(|b| odd ^ b));
            Bounds { is_defined: list.iter().all(|&e| of(e).is_defined), ..Bounds::truth(odd) }
        }
        Expr::Compare(relation, a, b) => Bounds::truth(of(a).compare(relation, of(b))),
        Expr::Sum(list) => list.iter().fold(Bounds::exactly(0), |sum, &e| sum.plus(of(e))),
        Expr::Product(list) => list.iter().fold(Bounds::exactly(1), |product, &e| product.times(of(e))),
        Expr::Negate(a) => of(a).negated(),
        Expr::Divide(a, b) => of(a).divided_by(of(b)),
        Expr::Modulo(a, b) => of(a).modulo(of(b)),
    }
}

/// Number of expressions per root up to which all expressions are marked in a table, rather than those that are found
/// in a set.
const MAX_TABLE_ENTRIES_PER_ROOT: usize = if cfg!(test) { 2 } else { 64 };

/// Returns `roots` and all their subexpressions, operands before users.
pub(crate) fn parts(exprs: &masque_model::Exprs, roots: impl IntoIterator<Item = ExprId>) -> Vec<ExprId> {
    let mut stack: Vec<ExprId> = roots.into_iter().collect();
    if exprs.len() <= stack.len() * MAX_TABLE_ENTRIES_PER_ROOT {
        let mut is_part = vec![false; exprs.len()];
        stack.iter().for_each(|root| is_part[root.index()] = true);
        // Operands have lower numbers than their users.
        for expr in exprs.ids().rev() {
            if is_part[expr.index()] {
                exprs.each_operand(expr, |operand| is_part[operand.index()] = true);
            }
        }
        return exprs.ids().filter(|expr| is_part[expr.index()]).collect();
    }
    let mut seen: rustc_hash::FxHashSet<ExprId> = stack.iter().copied().collect();
    while let Some(expr) = stack.pop() {
        exprs.each_operand(expr, |operand| {
            if seen.insert(operand) {
                stack.push(operand);
            }
        });
    }
    let mut parts: Vec<ExprId> = seen.into_iter().collect();
    parts.sort_unstable();
    parts
}
