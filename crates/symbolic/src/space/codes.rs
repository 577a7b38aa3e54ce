//! Numbers as vectors of bits, most significant bit first.

use super::{Bit, Limited, Set, Space};

impl Space {
    /// Returns the valuations in which a vector of bits has a code.
    pub fn has_code(&self, bits: &[Bit], code: u64) -> Limited<Set> {
        let literals = bits.iter().rev().enumerate().map(|(i, &bit)| (bit, code >> i & 1 == 1));
        self.valuation(literals.collect())
    }

    /// Returns the valuations in which a vector of bits has a code below `n_codes`.
    pub fn has_code_below(&self, bits: &[Bit], n_codes: u128) -> Limited<Set> {
        if n_codes.is_power_of_two() {
            debug_assert_eq!(n_codes.trailing_zeros() as usize, bits.len());
            return Ok(self.all());
        }
        // code < n_codes, from the least significant bit up.
        let largest = n_codes - 1;
        let mut at_most = self.all();
        for (i, &bit) in bits.iter().rev().enumerate() {
            let (one, zero) = (self.bit(bit, true)?, self.bit(bit, false)?);
            at_most = match largest >> i & 1 {
                1 => self.or(&zero, &at_most)?,
                _ => self.minus(&at_most, &one)?,
            };
        }
        Ok(at_most)
    }

    /// Returns the valuations in which some bits, each once and in any order, have these values.
    pub fn valuation(&self, mut literals: Vec<(Bit, bool)>) -> Limited<Set> {
        literals.sort_unstable_by_key(|(bit, _)| self.level(*bit));
        self.literals(literals)
    }
}
