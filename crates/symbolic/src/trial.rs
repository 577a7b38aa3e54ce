//! Choosing among orders by trial, when the first one leads to trouble.
//!
//! What an order is worth shows when it is used. A trial encodes the system and explores it, while
//! the operations on diagrams may take so many steps: how many images it gets through, and with how
//! few steps, is the order's score. A trial cannot run away, and it ends the same on every machine.
//! Steps predict time as sizes do not: between a good and a fair order of go-back-n the reachable
//! states differ by a factor of 2, the time by 10.

use std::cmp::Reverse;

use masque_model::System;
use masque_verdict::{Budget, Why};

use crate::encode::{Encoder, OnTrouble};
use crate::layout::{Item, Layout};
use crate::reach;
use crate::relation::Relation;
use crate::space::{Limited, Set, Space};

/// Steps that a trial may take for each level in the first round, and whatever the levels.
const STEPS_PER_LEVEL: u64 = 10_000;
const FEWEST: u64 = 500_000;
const MOST: u64 = 10_000_000;
/// Each round lets fewer orders go farther.
const ROUNDS: u32 = 2;
const MORE: u64 = 3;

/// How far an order got: images first, then how few steps they took.
type Score = (u32, Reverse<u64>);

/// The order that gets farthest; of equals the first.
pub(crate) fn best<'o>(system: &System, orders: &'o [Vec<Item>], budget: &Budget) -> Limited<&'o [Item]> {
    let mut left: Vec<&[Item]> = orders.iter().map(|order| &order[..]).collect();
    let mut allowance = 1;
    for _ in 0..ROUNDS {
        if left.len() == 1 {
            break;
        }
        let mut scored: Vec<(Reverse<Score>, &[Item])> = Vec::new();
        for order in left {
            scored.push((Reverse(trial(system, order, allowance, budget)?), order));
        }
        scored.sort_by_key(|(score, _)| *score);
        let n_started = scored.iter().filter(|(score, _)| score.0.0 > 0).count();
        let n_left = if n_started == 0 { scored.len() } else { n_started.div_ceil(2) };
        left = scored[..n_left].iter().map(|(_, order)| *order).collect();
        allowance *= MORE;
    }
    Ok(left[0])
}

fn trial(system: &System, order: &[Item], allowance: u64, budget: &Budget) -> Limited<Score> {
    let n_bits = Layout::new(system, order).n_bits;
    let most_steps = (u64::from(n_bits) * STEPS_PER_LEVEL).clamp(FEWEST, MOST) * allowance;
    let Probe { images, .. } = probe(system, order, most_steps, budget, |_, initial| Ok(initial.clone()))?;
    Ok((images.len() as u32, Reverse(images.last().copied().unwrap_or(u64::MAX))))
}

/// How far an exploration got.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// The steps taken when the relation was built.
    pub(crate) relation: u64,
    /// The steps taken after each image.
    pub(crate) images: Vec<u64>,
    /// Whether everything was explored.
    pub(crate) is_finished: bool,
}

/// Explores what is reachable from some of the initial states, with so many steps.
pub(crate) fn probe(
    system: &System,
    order: &[Item],
    most_steps: u64,
    budget: &Budget,
    from: impl FnOnce(&Encoder<'_>, &Set) -> Limited<Set>,
) -> Limited<Probe> {
    let layout = Layout::new(system, order);
    let space = Space::for_steps(layout.n_bits, budget, most_steps);
    let mut encoder = Encoder::new(system, layout, space, OnTrouble::GoOn);
    let mut probe = Probe::default();
    let explored = reach::initial(&mut encoder).and_then(|initial| {
        let initial = from(&encoder, &initial)?;
        let relation = Relation::new(&mut encoder)?;
        probe.relation = encoder.space.steps();
        reach::reachable(&encoder, &relation, &initial, |_| {
            probe.images.push(encoder.space.steps());
            Ok(())
        })
    });
    probe.is_finished = explored.is_ok();
    match explored {
        Err(stop) if stop.why != Why::Memory => Err(stop),
        _ => Ok(probe),
    }
}
