//! Bounds on the values of arithmetic expressions.
//!
//! Values are exact rationals. The checker bounds the value and the denominator of each expression,
//! and refuses expressions that could exceed 64 bits, so that engines need no overflow checks.

/// An interval that contains all values of an expression, and a bound on their denominators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lo: i128,
    pub(super) hi: i128,
    pub(super) denominator: i128,
    /// Bound on the absolute value of all intermediate results, for any order of addition.
    largest: i128,
}

impl Bounds {
    pub(super) fn range(lo: i64, hi: i64) -> Self {
        Bounds::new(lo.into(), hi.into(), 1)
    }

    fn new(lo: i128, hi: i128, denominator: i128) -> Self {
        Bounds { lo, hi, denominator, largest: lo.saturating_abs().max(hi.saturating_abs()) }
    }

    /// Returns whether numerators and denominators fit into 64 bits.
    pub(super) fn fit(self) -> bool {
        self.largest.saturating_mul(self.denominator) <= i64::MAX.into()
    }

    fn magnitude(self) -> i128 {
        self.lo.saturating_abs().max(self.hi.saturating_abs())
    }

    pub(super) fn plus(self, other: Bounds) -> Bounds {
        Bounds {
            lo: self.lo.saturating_add(other.lo),
            hi: self.hi.saturating_add(other.hi),
            denominator: self.denominator.saturating_mul(other.denominator),
            largest: self.largest.saturating_add(other.largest),
        }
    }

    pub(super) fn negate(self) -> Bounds {
        Bounds { lo: -self.hi, hi: -self.lo, ..self }
    }

    pub(super) fn times(self, other: Bounds) -> Bounds {
        let corners = [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)]
            .map(|(a, b)| a.saturating_mul(b));
        let [lo, hi] = [corners.iter().min(), corners.iter().max()].map(|c| c.copied().unwrap_or_default());
        Bounds::new(lo, hi, self.denominator.saturating_mul(other.denominator))
    }

    /// Bounds a quotient: `a / (p / q) = a q / p`, and `|p|` is at least 1 where the quotient is defined.
    pub(super) fn over(self, divisor: Bounds) -> Bounds {
        let largest = self.magnitude().saturating_mul(divisor.denominator);
        let numerator = divisor.magnitude().saturating_mul(divisor.denominator).max(1);
        let (lo, hi) = match (divisor.lo > 0, divisor.denominator) {
            (true, 1) => {
                let quotients =
                    [self.lo, self.hi].map(|a| [a.div_euclid(divisor.lo), a.div_euclid(divisor.hi)]);
                let all = quotients.as_flattened();
                (all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0) + 1)
            }
            _ => (-largest, largest),
        };
        Bounds::new(lo, hi, self.denominator.saturating_mul(numerator))
    }

    pub(super) fn modulo(self, divisor: Bounds) -> Bounds {
        Bounds::new(0, (divisor.magnitude() - 1).max(0), 1)
    }

    /// Returns whether the value can be zero.
    pub(super) fn may_be_zero(self) -> bool {
        self.lo <= 0 && 0 <= self.hi
    }
}
