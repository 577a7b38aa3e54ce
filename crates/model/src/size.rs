//! The size of a system as the papers on MCMAS count it. [JAL05 §5.3]

use crate::{Count, System};

/// Maximum number of bits for one combination of local states and actions. Larger sizes are not computed; they
/// would have more than 60 000 digits.
const MAX_BITS: u32 = 200_000;

/// The size of a system. [JAL05 §5.3]
///
/// ```text
/// |S| = ∏ over all agents of |local states| · |actions|
/// |M| = |S| + |R|,  where |R|, the size of all relations, is approximated by |S|²
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSize {
    /// `|S|`: number of combinations of local states and actions, whether reachable or not.
    pub states: Count,
    /// `|M| = |S| + |S|²`: number of states and of pairs of states.
    pub model: Count,
}

impl System {
    /// Returns the size of the system; `None` if its numbers are too long.
    ///
    /// An agent without actions counts as if it had one.
    pub fn size(&self) -> Option<ModelSize> {
        let actions = self.agents.iter().map(|agent| agent.actions.len().max(1) as u128);
        let factors: Vec<u128> = self.variables.iter().map(|v| v.domain.size()).chain(actions).collect();
        let n_bits = factors.iter().try_fold(0_u32, |sum, n| sum.checked_add(128 - n.leading_zeros()))?;
        if n_bits > MAX_BITS {
            return None;
        }
        let states = product(&factors);
        let mut successor = states.clone();
        successor.increment();
        let model = states.times(&successor);
        Some(ModelSize { states, model })
    }
}

/// Multiplies factors of at most 65 bits. Adjacent factors are combined while they fit into 64 bits.
fn product(factors: &[u128]) -> Count {
    let mut count = Count::from(1_u64);
    let mut pending = 1_u64;
    for &factor in factors {
        // 2^64, the number of all 64-bit integers, is the only factor that does not fit.
        let parts = if factor > u128::from(u64::MAX) { [1 << 32, 1 << 32] } else { [factor as u64, 1] };
        for part in parts {
            pending = pending.checked_mul(part).unwrap_or_else(|| {
                count.multiply(pending);
                part
            });
        }
    }
    count.multiply(pending);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_exact() {
        let check = |factors: &[u128], expected: &str| assert_eq!(product(factors).to_string(), expected);
        check(&[], "1");
        check(&[4, 3, 5, 2, 4, 4], "1920");
        check(&[1 << 64, 1 << 64], "340282366920938463463374607431768211456");
        check(&[u128::from(u64::MAX), 3, 0], "0");
        check(&[10; 30], &format!("1{}", "0".repeat(30)));
    }
}
