//! Exact numbers of states and choices.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Base of the groups: the largest power of ten that fits into 32 bits, so a group has nine digits.
const BASE: u64 = 1_000_000_000;

/// An exact number of states or choices, however large. Its text is decimal; in JSON it is a string.
///
/// ```
/// use masque_model::Count;
/// let mut count = Count::from(1_u64);
/// (0..70).for_each(|_| count.multiply(2));
/// assert_eq!(count.to_string(), "1180591620717411303424");
/// assert_eq!(count.to_string().parse(), Ok(count.clone()));
/// assert!(count.to_u64().is_none() && !count.is_zero() && !count.is_one());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Count {
    /// The digits in base [`BASE`], lowest group first; the highest is not zero, unless it is the only one.
    groups: Vec<u32>,
}

impl Count {
    /// Returns whether the number is 0.
    pub fn is_zero(&self) -> bool {
        self.groups == [0]
    }

    /// Returns whether the number is 1.
    pub fn is_one(&self) -> bool {
        self.groups == [1]
    }

    /// Returns the number, if it fits into 64 bits.
    pub fn to_u64(&self) -> Option<u64> {
        let add = |sum: u64, group: &u32| sum.checked_mul(BASE)?.checked_add(u64::from(*group));
        self.groups.iter().rev().try_fold(0, add)
    }

    /// Multiplies by a factor.
    pub fn multiply(&mut self, factor: u64) {
        let mut carry: u128 = 0;
        for group in &mut self.groups {
            let product = u128::from(*group) * u128::from(factor) + carry;
            *group = (product % u128::from(BASE)) as u32;
            carry = product / u128::from(BASE);
        }
        while carry > 0 {
            self.groups.push((carry % u128::from(BASE)) as u32);
            carry /= u128::from(BASE);
        }
        while self.groups.len() > 1 && self.groups.last() == Some(&0) {
            self.groups.pop();
        }
    }

    /// Adds 1.
    pub fn increment(&mut self) {
        for group in &mut self.groups {
            *group += 1;
            if u64::from(*group) < BASE {
                return;
            }
            *group = 0;
        }
        self.groups.push(1);
    }

    /// Returns the product with another number, in time proportional to the product of their lengths.
    ///
    /// ```
    /// use masque_model::Count;
    /// let large: Count = "12345678901234567890".parse().unwrap();
    /// assert_eq!(large.times(&large).to_string(), "152415787532388367501905199875019052100");
    /// ```
    #[must_use]
    pub fn times(&self, other: &Count) -> Count {
        let mut groups = vec![0_u32; self.groups.len() + other.groups.len()];
        for (index, &a) in self.groups.iter().enumerate() {
            let mut carry = 0;
            for (group, b) in groups[index..].iter_mut().zip(other.groups.iter().copied().chain([0])) {
                let sum = u64::from(*group) + u64::from(a) * u64::from(b) + carry;
                (*group, carry) = ((sum % BASE) as u32, sum / BASE);
            }
        }
        while groups.len() > 1 && groups.last() == Some(&0) {
            groups.pop();
        }
        Count { groups }
    }
}

impl From<u64> for Count {
    fn from(number: u64) -> Count {
        let mut count = Count { groups: vec![1] };
        count.multiply(number);
        count
    }
}

impl From<usize> for Count {
    fn from(number: usize) -> Count {
        Count::from(number as u64)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (index, group) in self.groups.iter().rev().enumerate() {
            text += &if index == 0 { group.to_string() } else { format!("{group:09}") };
        }
        f.pad_integral(true, "", &text)
    }
}

/// The error for a text that is not a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDecimal;

impl fmt::Display for NotDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a decimal number")
    }
}

impl std::error::Error for NotDecimal {}

impl FromStr for Count {
    type Err = NotDecimal;

    fn from_str(text: &str) -> Result<Count, NotDecimal> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotDecimal);
        }
        let digits = text.trim_start_matches('0').as_bytes();
        let group = |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        let groups: Vec<u32> = digits.rchunks(9).map(group).collect();
        Ok(Count { groups: if groups.is_empty() { vec![0] } else { groups } })
    }
}

impl TryFrom<String> for Count {
    type Error = NotDecimal;

    fn try_from(text: String) -> Result<Count, NotDecimal> {
        text.parse()
    }
}

impl From<Count> for String {
    fn from(count: Count) -> String {
        count.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn numbers_are_exact() {
        let check = |text: &str, word: Option<u64>, doubled: &str| {
            let mut count: Count = text.parse().unwrap();
            assert_eq!((count.to_string().as_str(), count.to_u64()), (text, word));
            assert!(word.is_none_or(|word| Count::from(word) == count), "{text}");
            count.multiply(2);
            assert_eq!(count.to_string(), doubled);
        };
        check("0",                        Some(0),                    "0");
        check("1",                        Some(1),                    "2");
        check("999999999",                Some(999_999_999),          "1999999998");
        check("1000000000",               Some(1_000_000_000),        "2000000000");
        check("18446744073709551615",     Some(u64::MAX),             "36893488147419103230");
        check("18446744073709551616",     None,                       "36893488147419103232");
        check("500000000000000000000000", None,                       "1000000000000000000000000");
        assert_eq!("007".parse::<Count>().unwrap(), Count::from(7_u64));
        for wrong in ["", "-1", "1.5", " 1", "x"] {
            assert_eq!(wrong.parse::<Count>(), Err(NotDecimal), "{wrong}");
        }
        let mut nines: Count = "999999999999999999".parse().unwrap();
        nines.increment();
        assert_eq!(nines.to_string(), "1000000000000000000");
        assert_eq!(nines.times(&nines).to_string(), format!("1{}", "0".repeat(36)));
        assert!(nines.times(&Count::from(0_u64)).is_zero() && nines.times(&Count::from(1_u64)) == nines);
        let mut none = Count::from(5_u64);
        none.multiply(0);
        assert!(none.is_zero() && !none.is_one() && Count::from(1_usize).is_one());
    }
}
