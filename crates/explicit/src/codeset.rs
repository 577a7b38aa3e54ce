//! Constant sets of codes in conditions.

/// A set of codes of one field. After [`CodeSet::simplify`] it is neither empty nor full.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CodeSet {
    /// One code.
    One(u64),
    /// A bit per code of the domain.
    Bits(Box<[u64]>),
}

/// The simplest form of a set.
pub(crate) enum Simple {
    Empty,
    Full,
    Proper(CodeSet),
}

impl CodeSet {
    /// Returns the codes below `size` for which `test` is true.
    pub(crate) fn filter(size: u64, test: impl Fn(u64) -> bool) -> CodeSet {
        let mut bits = vec![0; size.div_ceil(64) as usize].into_boxed_slice();
        for code in (0..size).filter(|&code| test(code)) {
            bits[(code / 64) as usize] |= 1 << (code % 64);
        }
        CodeSet::Bits(bits)
    }

    pub(crate) fn contains(&self, code: u64) -> bool {
        match self {
            CodeSet::One(only) => *only == code,
            CodeSet::Bits(bits) => {
                bits.get((code / 64) as usize).is_some_and(|word| word >> (code % 64) & 1 == 1)
            }
        }
    }

    /// Combines two sets of codes below `size`, word by word.
    pub(crate) fn combine(&self, other: &CodeSet, size: u64, word: fn(u64, u64) -> u64) -> CodeSet {
        let (left, right) = (self.to_bits(size), other.to_bits(size));
        CodeSet::Bits(left.iter().zip(&right).map(|(&a, &b)| word(a, b)).collect())
    }

    /// Adds the codes of another set below `size`, in place.
    pub(crate) fn extend(&mut self, other: &CodeSet, size: u64) {
        if let CodeSet::One(_) = self {
            *self = CodeSet::Bits(self.to_bits(size));
        }
        if let CodeSet::Bits(bits) = self {
            match other {
                CodeSet::One(code) => bits[(code / 64) as usize] |= 1 << (code % 64),
                CodeSet::Bits(more) => bits.iter_mut().zip(more).for_each(|(a, b)| *a |= b),
            }
        }
    }

    /// Returns the codes below `size` that are not in the set.
    pub(crate) fn complement(&self, size: u64) -> CodeSet {
        CodeSet::filter(size, |code| !self.contains(code))
    }

    pub(crate) fn simplify(self, size: u64) -> Simple {
        let CodeSet::Bits(bits) = &self else {
            return if size == 1 { Simple::Full } else { Simple::Proper(self) };
        };
        let count: u64 = bits.iter().map(|w| u64::from(w.count_ones())).sum();
        let first = bits.iter().position(|&w| w != 0);
        match (count, first) {
            (0, _) | (_, None) => Simple::Empty,
            (n, _) if n == size => Simple::Full,
            (1, Some(word)) => {
                Simple::Proper(CodeSet::One(word as u64 * 64 + u64::from(bits[word].trailing_zeros())))
            }
            _ => Simple::Proper(self),
        }
    }

    /// Returns the first 64 codes as bits.
    pub(crate) fn low_bits(&self) -> u64 {
        match self {
            CodeSet::One(code) => 1_u64.checked_shl(*code as u32).unwrap_or(0),
            CodeSet::Bits(bits) => bits[0],
        }
    }

    pub(crate) fn to_bits(&self, size: u64) -> Box<[u64]> {
        match self {
            CodeSet::One(only) => match CodeSet::filter(size, |_| false) {
                CodeSet::Bits(mut bits) => {
                    bits[(only / 64) as usize] |= 1 << (only % 64);
                    bits
                }
                CodeSet::One(_) => Box::default(),
            },
            CodeSet::Bits(bits) => bits.clone(),
        }
    }
}
