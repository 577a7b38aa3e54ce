//! The remaining values of variables during the search for initial states, as sets of codes.

use masque_model::{Domain, System, VarId};

use crate::bounds::Bounds;

/// A nonempty set of codes of one variable: any set if the domain has at most 64 values, an
/// interval otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Codes {
    lo: u64,
    hi: u64,
    /// The codes, bit by bit, if the domain has at most 64 values; unused otherwise.
    bits: u64,
    is_small: bool,
}

impl Codes {
    pub(crate) fn all(domain: &Domain) -> Codes {
        let hi = (domain.size() - 1) as u64;
        let is_small = hi < 64;
        Codes { lo: 0, hi, bits: if is_small { u64::MAX >> (63 - hi) } else { 0 }, is_small }
    }

    pub(crate) fn count(self) -> u128 {
        if self.is_small { u128::from(self.bits.count_ones()) } else { u128::from(self.hi - self.lo) + 1 }
    }

    /// Returns the only code, if a single one is left.
    pub(crate) fn only(self) -> Option<u64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    pub(crate) fn first(self) -> u64 {
        self.lo
    }

    pub(crate) fn contains(self, code: u64) -> bool {
        (self.lo..=self.hi).contains(&code) && (!self.is_small || self.bits >> code & 1 == 1)
    }

    /// Returns the next code above this one.
    pub(crate) fn after(self, code: u64) -> Option<u64> {
        if code >= self.hi {
            None
        } else if self.is_small {
            let above = self.bits & (u64::MAX << code << 1);
            (above != 0).then(|| u64::from(above.trailing_zeros()))
        } else {
            Some(code + 1)
        }
    }

    /// Returns the codes within an interval; `None` if there are none.
    pub(crate) fn within(self, lo: u64, hi: u64) -> Option<Codes> {
        let (lo, hi) = (lo.max(self.lo), hi.min(self.hi));
        if lo > hi {
            return None;
        }
        if !self.is_small {
            return Some(Codes { lo, hi, ..self });
        }
        let bits = self.bits & (u64::MAX << lo) & (u64::MAX >> (63 - hi));
        Codes::of_bits(bits)
    }

    /// Returns the codes except one; `None` if there are none. From an interval only an end is removed.
    pub(crate) fn without(self, code: u64) -> Option<Codes> {
        if self.is_small {
            return if code < 64 { Codes::of_bits(self.bits & !(1 << code)) } else { Some(self) };
        }
        match self {
            Codes { lo, hi, .. } if lo == code && hi == code => None,
            Codes { lo, .. } if lo == code => Some(Codes { lo: lo + 1, ..self }),
            Codes { hi, .. } if hi == code => Some(Codes { hi: hi - 1, ..self }),
            _ => Some(self),
        }
    }

    /// Splits the set into two disjoint parts, the lower first. There must be at least two codes.
    pub(crate) fn halves(self) -> (Codes, Codes) {
        let middle = self.lo + (self.hi - self.lo) / 2;
        let parts = (self.within(self.lo, middle), self.within(middle + 1, self.hi));
        (parts.0.unwrap_or(self), parts.1.unwrap_or(self))
    }

    fn of_bits(bits: u64) -> Option<Codes> {
        (bits != 0).then(|| Codes {
            lo: u64::from(bits.trailing_zeros()),
            hi: u64::from(63 - bits.leading_zeros()),
            bits,
            is_small: true,
        })
    }
}

/// Returns the bounds of the values that the codes stand for.
pub(crate) fn bounds(system: &System, variable: VarId, codes: Codes) -> Bounds {
    let domain = &system.variable(variable).domain;
    match domain {
        Domain::Boolean | Domain::Integers(..) => {
            Bounds::between(i128::from(domain.value(codes.lo)), i128::from(domain.value(codes.hi)))
        }
        Domain::Values(_) => match codes.only() {
            Some(code) => Bounds::exactly(i128::from(domain.value(code))),
            None => crate::bounds::of_domain(domain),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_codes() {
        for hi in [1, 2, 62, 63, 64, 1000] {
            let all = Codes::all(&Domain::Integers(0, hi));
            let hi = hi as u64;
            assert_eq!((all.first(), all.count()), (0, u128::from(hi) + 1));
            assert_eq!(std::iter::successors(Some(0), |&c| all.after(c)).count() as u64, hi + 1);
            assert_eq!(all.within(hi, hi + 5).and_then(Codes::only), Some(hi));
            assert_eq!(all.within(hi + 1, hi + 5), None);
            let rest = all.without(0).unwrap();
            assert!(!rest.contains(0) && rest.contains(1) && rest.count() == u128::from(hi));
            let (low, high) = all.halves();
            assert_eq!(low.count() + high.count(), all.count());
        }
        let gap = Codes::all(&Domain::Integers(0, 4)).without(2).unwrap();
        assert_eq!((gap.after(1), gap.count(), gap.contains(2)), (Some(3), 4, false));
    }
}
