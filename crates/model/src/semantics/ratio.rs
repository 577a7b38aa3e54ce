//! Exact rational numbers: the values of arithmetic.

use std::cmp::Ordering;

/// A reduced fraction with a positive denominator, so that equal numbers are equal values.
///
/// The type checker keeps every arithmetic value within 64 bits, so the products below fit into 128 bits.
/// If they did not, this would panic: a wrong number could change a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

const FITS: &str = "the checker keeps arithmetic within 64 bits";

impl Ratio {
    /// An integer.
    pub fn integer(value: i64) -> Ratio {
        Ratio { numerator: i128::from(value), denominator: 1 }
    }

    /// Returns the fraction in lowest terms; `None` if the denominator is 0.
    fn new(numerator: i128, denominator: i128) -> Option<Ratio> {
        if denominator == 0 {
            return None;
        }
        let divisor = gcd(numerator, denominator) * denominator.signum();
        Some(Ratio { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// `self + other`
    pub fn plus(self, other: Ratio) -> Ratio {
        let left = self.numerator.checked_mul(other.denominator);
        let right = other.numerator.checked_mul(self.denominator);
        let numerator = left.zip(right).and_then(|(a, b)| a.checked_add(b)).expect(FITS);
        let denominator = self.denominator.checked_mul(other.denominator).expect(FITS);
        Ratio::new(numerator, denominator).expect("denominators are positive")
    }

    /// `self * other`
    pub fn times(self, other: Ratio) -> Ratio {
        let numerator = self.numerator.checked_mul(other.numerator).expect(FITS);
        let denominator = self.denominator.checked_mul(other.denominator).expect(FITS);
        Ratio::new(numerator, denominator).expect("denominators are positive")
    }

    /// `- self`
    pub fn negated(self) -> Ratio {
        Ratio { numerator: -self.numerator, denominator: self.denominator }
    }

    /// `self / other`, exactly; `None` if `other` is zero.
    pub fn divide(self, other: Ratio) -> Option<Ratio> {
        Some(self.times(Ratio::new(other.denominator, other.numerator)?))
    }

    /// `self mod other`, in `0..|other|`; `None` if `other` is zero or either is not an integer.
    pub fn modulo(self, other: Ratio) -> Option<Ratio> {
        if self.denominator != 1 || other.denominator != 1 || other.numerator == 0 {
            return None;
        }
        Some(Ratio { numerator: self.numerator.rem_euclid(other.numerator), denominator: 1 })
    }

    /// Returns the number as an integer, if it is one and fits into 64 bits.
    pub fn as_integer(self) -> Option<i64> {
        if self.denominator == 1 { i64::try_from(self.numerator).ok() } else { None }
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let left = self.numerator.checked_mul(other.denominator).expect(FITS);
        let right = other.numerator.checked_mul(self.denominator).expect(FITS);
        left.cmp(&right)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the greatest common divisor, which is positive unless both are zero.
fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).expect(FITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: i64, denominator: i64) -> Ratio {
        Ratio::integer(numerator).divide(Ratio::integer(denominator)).unwrap()
    }

    #[test]
    fn arithmetic_is_exact() {
        assert_eq!(ratio(2, -4), ratio(-1, 2));
        assert_eq!(ratio(1, 3).plus(ratio(1, 6)), ratio(1, 2));
        assert_eq!(ratio(2, 3).times(ratio(3, 2)).as_integer(), Some(1));
        assert_eq!(ratio(0, 7), Ratio::integer(0));
        assert_eq!(ratio(1, 2).negated(), ratio(-1, 2));
        assert!(ratio(3, 2) > Ratio::integer(1) && ratio(-3, 2) < Ratio::integer(-1));
        assert_eq!(ratio(3, 2).as_integer(), None);
        assert_eq!(ratio(1, 2).divide(ratio(0, 5)), None);
    }

    #[test]
    fn modulo_is_euclidean() {
        let modulo = |a, b| Ratio::integer(a).modulo(Ratio::integer(b)).and_then(Ratio::as_integer);
        assert_eq!(modulo(-1, 3), Some(2));
        assert_eq!(modulo(-1, -3), Some(2));
        assert_eq!(modulo(7, -3), Some(1));
        assert_eq!(modulo(7, 0), None);
        assert_eq!(ratio(1, 2).modulo(Ratio::integer(2)), None);
        assert_eq!(Ratio::integer(2).modulo(ratio(1, 2)), None);
    }

    #[test]
    fn the_extremes_of_64_bits_fit() {
        let (low, high) = (Ratio::integer(i64::MIN), Ratio::integer(i64::MAX));
        assert_eq!(low.divide(high).unwrap().times(high), low);
        assert_eq!(low.plus(high), Ratio::integer(-1));
        assert_eq!(low.negated().as_integer(), None);
        assert!(low.divide(high).unwrap() < high.divide(low).unwrap());
    }
}
