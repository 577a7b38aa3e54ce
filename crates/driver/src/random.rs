//! Random choices that depend only on a seed.

/// A generator of random numbers, by SplitMix. It is short, and good enough to choose steps. \[SLF14\]
#[derive(Clone, Copy, Debug)]
pub struct RandomChoices(u64);

impl RandomChoices {
    /// Starts with a seed.
    pub fn new(seed: u64) -> RandomChoices {
        RandomChoices(seed)
    }

    /// A number less than `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}
