//! Bounded exploration that finds out whether a system has few states.

use std::num::NonZeroUsize;

use masque_model::System;
use masque_verdict::{Budget, Early, Encoded, Show, Stop, Why};

use crate::engine::{Explicit, Explored};
use crate::jobs::Jobs;

/// Explores a system up to a maximum number of states.
///
/// ```
/// use masque_explicit::BoundedExplicit;
/// use masque_ispl::{Options, check, parse};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Early, Show};
///
/// let mut sources = Sources::default();
/// let text = "
///     Agent Counter
///       Vars: n : 0 .. 999; end Vars
///       Actions = {count};
///       Protocol: Other : {count}; end Protocol
///       Evolution: n = n + 1 if n < 999; end Evolution
///     end Agent
///     Evaluation done if Counter.n = 999; end Evaluation
///     InitStates Counter.n = 0; end InitStates
///     Formulae AF done; end Formulae";
/// let file = sources.add("counter.ispl", text).unwrap();
/// let (mut tree, _) = parse(&sources, file);
/// let system = check(&sources, &mut tree, &Options::default()).system.unwrap();
///
/// let scout = |max_states| BoundedExplicit { evidence: Show::None, jobs: None, max_states };
/// let budget = Budget::unlimited();
/// assert!(scout(1000).explore(&system, &mut Early::deaf(), &budget).is_ok());
/// assert!(scout(500).explore(&system, &mut Early::deaf(), &budget).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BoundedExplicit {
    /// The verdicts that get evidence.
    pub evidence: Show,
    /// Number of threads. `None` means one per processor.
    pub jobs: Option<NonZeroUsize>,
    /// Maximum number of states.
    pub max_states: u64,
}

/// Result of an exploration that was stopped.
#[derive(Clone, Copy, Debug)]
pub struct StoppedExploration {
    /// Limit that was reached.
    pub stop: Stop,
    /// Estimated number of reachable states, if the growth of the layers allows an estimate.
    pub likely_states: Option<f64>,
}

impl BoundedExplicit {
    /// Explores a system and reports early verdicts.
    pub fn explore<'s>(
        self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, StoppedExploration> {
        let BoundedExplicit { evidence, jobs, max_states } = self;
        let budget = budget.clone().with_states(budget.states().unwrap_or(u64::MAX).min(max_states));
        let engine = Explicit { evidence, jobs };
        match Explored::new(engine, system, Jobs::new(jobs), early, &budget) {
            Ok(explored) => Ok(Box::new(explored)),
            // There are more initial states than the limit.
            Err((stop, layers)) if layers.is_empty() && stop.why == Why::States => {
                Err(StoppedExploration { stop, likely_states: Some(f64::INFINITY) })
            }
            Err((stop, layers)) => Err(StoppedExploration { stop, likely_states: likely_states(&layers) }),
        }
    }
}

/// If the logarithmic growth per layer stays below `SLOW_GROWTH` without falling, the estimate is
/// `SLOW_GROWTH_FACTOR` times the current number of states.
const SLOW_GROWTH: f64 = 0.25;
const SLOW_GROWTH_FACTOR: f64 = 50.0;

/// Estimates the number of reachable states from the sizes of the first layers.
///
/// In products of many components, and in games with a board that fills up, the growth of the layers
/// decreases until they shrink. If the logarithm of the growth falls linearly, the sizes
/// of layers form a bell curve. The last layer may be incomplete.
fn likely_states(layers: &[u32]) -> Option<f64> {
    // When players alternate, only every other layer grows: so two layers are compared as one.
    let stride = if layers.len() < 6 { 1 } else { 2 };
    let size = |back: usize| Some(f64::from(*layers.get(layers.len().checked_sub(back + 1)?)?));
    let growth =
        |back: usize| Some((size(back)? / size(back + stride)?.max(1.0)).max(1e-9).ln() / stride as f64);
    let (now, before) = (growth(0)?, growth(stride)?);
    let so_far: f64 = layers.iter().copied().map(f64::from).sum();
    if now <= 0.0 {
        return Some(so_far * 2.0);
    }
    let fall = (before - now) / stride as f64;
    if fall <= 0.0 && now < SLOW_GROWTH {
        return Some(so_far * SLOW_GROWTH_FACTOR);
    }
    let peak = size(0)? * (now * now / (2.0 * fall)).exp();
    let total = peak * (std::f64::consts::TAU / fall).sqrt();
    (fall > 0.0).then_some(total.max(so_far))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_give_an_estimate_of_the_number_of_states() {
        let binomial = |n: u32| {
            let mut layers = vec![1_u64];
            for k in 0..n {
                layers.push(layers[k as usize] * u64::from(n - k) / u64::from(k + 1));
            }
            layers
        };
        for (n, seen) in [(20, 6), (20, 9), (30, 8), (12, 4)] {
            let layers: Vec<u32> = binomial(n)[..seen].iter().map(|&size| size as u32).collect();
            let (likely, all) = (likely_states(&layers).unwrap(), f64::from(2_u32.pow(n)));
            assert!(likely > all / 20.0 && likely < all * 20.0, "{n}: {likely} of {all}");
        }
        // A board of nine fields, and layers that allow no estimate.
        let board = likely_states(&[1, 9, 72, 252, 756, 1260]).unwrap();
        assert!(board > 3000.0 && board < 20_000.0, "{board}");
        assert_eq!(likely_states(&[1, 2, 4, 8]), None);
        assert_eq!(likely_states(&[4096]), None);
        assert_eq!(likely_states(&[]), None);
    }
}
