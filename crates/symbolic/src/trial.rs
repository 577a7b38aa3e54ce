//! Chooses among orders by trial, when the first order leads to large diagrams.
//!
//! A trial encodes the system in an order and explores it within a limited number of diagram steps. The
//! order's score is the number of images computed, then the number of steps that they took. The limit
//! bounds the time of a trial, and the result is the same on every machine. Steps predict time better
//! than diagram sizes do: between a good and a fair order of go-back-n the diagrams of the reachable
//! states differ by a factor of 2, the time by 10.
//!
//! Parts of the relation stay separate where merging them would be expensive ([`merge`](crate::merge)),
//! so the first images come after few steps, and few steps suffice to compare orders. The first round
//! tries all orders, the second one the best of them with more steps.

use std::cmp::Reverse;

use masque_model::System;
use masque_verdict::{Budget, Why};

use crate::encode::{Encoder, GrowthPolicy};
use crate::layout::{Item, Layout};
use crate::reach;
use crate::relation::Relation;
use crate::space::{Limited, Space};

/// Diagram steps per level that a trial may take, and number of orders that continue, in each round.
const ROUNDS: [(u64, usize); 2] = [(600, 4), (4_000, 2)];
/// Minimum number of levels that is assumed when steps are allotted.
const MIN_LEVELS: u64 = 100;
/// Encoding the model may take this many times the steps of its exploration.
const ENCODING_FACTOR: u64 = 16;

/// How far an order got, larger is better: images computed, then conditions encoded, then how few steps
/// that took.
type Score = (u32, usize, Reverse<u64>);

/// Returns the total number of steps for a number of steps per level.
pub(crate) fn total_steps(n_bits: u32, steps_per_level: u64) -> u64 {
    u64::from(n_bits).max(MIN_LEVELS) * steps_per_level
}

/// Returns the best orders, the best one first: only one if its exploration finishes within its steps,
/// else those that are left after the last round.
pub(crate) fn best<'o>(
    system: &System,
    orders: &'o [Vec<Item>],
    budget: &Budget,
) -> Limited<Vec<&'o [Item]>> {
    let mut left: Vec<&[Item]> = orders.iter().map(|order| &order[..]).collect();
    for (steps_per_level, n_kept) in ROUNDS {
        if left.len() == 1 {
            break;
        }
        let mut scored: Vec<(Reverse<Score>, &[Item])> = Vec::new();
        for &order in &left {
            let max_steps = total_steps(Layout::new(system, order).n_bits, steps_per_level);
            let probe = probe(system, order, max_steps, budget)?;
            if probe.is_finished {
                return Ok(vec![order]);
            }
            scored.push((Reverse(probe.score()), order));
        }
        scored.sort_by_key(|(score, _)| *score);
        left = scored.into_iter().take(n_kept).map(|(_, order)| order).collect();
    }
    Ok(left)
}

/// How far an exploration with limited steps got.
#[derive(Debug, Default)]
struct Probe {
    /// For each image, the steps taken until it was computed.
    images: Vec<u64>,
    /// Whether all reachable states were found.
    is_finished: bool,
    /// Number of conditions encoded.
    n_encoded: usize,
}

impl Probe {
    fn score(&self) -> Score {
        let steps = self.images.last().copied().unwrap_or(u64::MAX);
        (self.images.len() as u32, self.n_encoded, Reverse(steps))
    }
}

/// Explores a system in at most `max_steps` steps beyond those that encoding took.
fn probe(system: &System, order: &[Item], max_steps: u64, budget: &Budget) -> Limited<Probe> {
    let layout = Layout::new(system, order);
    let space = Space::with_step_limit(layout.n_bits, budget, max_steps * ENCODING_FACTOR)?;
    let mut encoder = Encoder::new(system, layout, space, GrowthPolicy::Abandon(max_steps));
    let mut probe = Probe::default();
    let explored = reach::initial(&mut encoder).and_then(|initial| {
        let relation = Relation::new(&mut encoder)?;
        reach::reachable(&encoder, &relation, &initial, |_| {
            probe.images.push(encoder.space.steps());
            Ok(())
        })
    });
    probe.is_finished = explored.is_ok();
    probe.n_encoded = encoder.n_encoded();
    match explored {
        Err(stop) if stop.why != Why::Memory => Err(stop),
        _ => Ok(probe),
    }
}
