//! Numbers as vectors of sets: bit `k` is the set of states in which bit `k` of the number is one.
//!
//! Numbers are in two's complement, least significant bit first; the last bit is the sign. Additions are
//! ripple-carry, and each widens the number by one bit, so they do not overflow.

use masque_symbolic::space::{Limited, Set, Space};

use crate::tree::Rel;

/// A number that depends on the state.
#[derive(Clone)]
pub(super) struct Number(Vec<Set>);

impl Number {
    /// Returns the number that is the same in every state.
    pub(super) fn constant(space: &Space, value: i64) -> Number {
        let width = 65 - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
        Number((0..width).map(|k| space.constant(value >> k & 1 == 1)).collect())
    }

    /// Returns the number with this unsigned code, most significant bit first.
    pub(super) fn code(space: &Space, bits: &[Set]) -> Number {
        Number(bits.iter().rev().cloned().chain([space.none()]).collect())
    }

    /// Returns the number that has each of these values in a set of states. The sets are disjoint.
    pub(super) fn listed(space: &Space, values: &[(Set, i64)]) -> Limited<Number> {
        let width =
            |value: i64| 65 - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
        let width = values.iter().map(|(_, value)| width(*value)).max().unwrap_or(1);
        let mut bits = Vec::new();
        for k in 0..width {
            let mut bit = space.none();
            for (set, _) in values.iter().filter(|(_, value)| value >> k & 1 == 1) {
                bit = space.or(&bit, set)?;
            }
            bits.push(bit);
        }
        Ok(Number(bits))
    }

    fn bit(&self, k: usize) -> &Set {
        &self.0[k.min(self.0.len() - 1)]
    }

    /// Returns the lowest bits, most significant first.
    pub(super) fn low_bits(&self, width: usize) -> impl Iterator<Item = &Set> {
        (0..width).rev().map(|k| self.bit(k))
    }

    fn add_with(&self, space: &Space, other: &Number, is_minus: bool) -> Limited<Number> {
        let width = self.0.len().max(other.0.len()) + 1;
        let mut carry = space.constant(is_minus);
        let mut bits = Vec::with_capacity(width);
        for k in 0..width {
            let a = self.bit(k);
            let b = if is_minus { space.not(other.bit(k))? } else { other.bit(k).clone() };
            let differ = space.xor(a, &b)?;
            bits.push(space.xor(&differ, &carry)?);
            // If both bits are equal, the carry is their value; otherwise it stays.
            carry = space.ite(&differ, &carry, a)?;
        }
        Ok(Number(bits))
    }

    /// Returns `self + other`.
    pub(super) fn plus(&self, space: &Space, other: &Number) -> Limited<Number> {
        self.add_with(space, other, false)
    }

    /// Returns `self - other`.
    pub(super) fn minus(&self, space: &Space, other: &Number) -> Limited<Number> {
        self.add_with(space, other, true)
    }

    /// Returns the states in which two numbers are in a relation.
    pub(super) fn compare(&self, space: &Space, rel: Rel, other: &Number) -> Limited<Set> {
        match rel {
            Rel::Eq => {
                let mut equal = space.all();
                for k in 0..self.0.len().max(other.0.len()) {
                    equal = space.and(&equal, &space.iff(self.bit(k), other.bit(k))?)?;
                }
                Ok(equal)
            }
            Rel::Ne => space.not(&self.compare(space, Rel::Eq, other)?),
            Rel::Lt => {
                let difference = self.minus(space, other)?;
                Ok(difference.bit(usize::MAX).clone())
            }
            Rel::Ge => space.not(&self.compare(space, Rel::Lt, other)?),
            Rel::Gt => other.compare(space, Rel::Lt, self),
            Rel::Le => other.compare(space, Rel::Ge, self),
        }
    }
}

#[cfg(test)]
mod tests {
    use masque_verdict::Budget;

    use super::*;

    /// Compares all pairs of two numbers from -4 to 3, of three bits each, with machine arithmetic.
    #[test]
    fn sums_and_comparisons_of_all_pairs() {
        let space = &Space::new(6, &Budget::default()).unwrap();
        let number = |from: u32| {
            let bits: Vec<Set> = (from..from + 3).map(|bit| space.bit(bit, true).unwrap()).collect();
            Number::code(space, &bits).plus(space, &Number::constant(space, -4)).unwrap()
        };
        let (a, b) = (number(0), number(3));
        let at = |x: i64, y: i64| {
            let code = |value: i64, from: u32| {
                (0..3).map(move |k| space.bit(from + k, (value + 4) >> (2 - k) & 1 == 1).unwrap())
            };
            code(x, 0).chain(code(y, 3)).fold(space.all(), |set, bit| space.and(&set, &bit).unwrap())
        };
        for (x, y) in (-4..4).flat_map(|x| (-4..4).map(move |y| (x, y))) {
            let state = at(x, y);
            let holds = |set: Set| space.is_subset(&state, &set).unwrap();
            for rel in [Rel::Eq, Rel::Ne, Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge] {
                assert_eq!(holds(a.compare(space, rel, &b).unwrap()), rel.holds(x, y), "{x} {rel:?} {y}");
            }
            let is = |number: Number, value: i64| {
                holds(number.compare(space, Rel::Eq, &Number::constant(space, value)).unwrap())
            };
            assert!(is(a.plus(space, &b).unwrap(), x + y), "{x} + {y}");
            assert!(is(a.minus(space, &b).unwrap(), x - y), "{x} - {y}");
        }
    }
}
