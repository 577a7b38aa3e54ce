//! Choosing among orders by trial, when the first ones lead to trouble.
//!
//! What an order is worth shows when it is used. A trial encodes the system and explores it, while
//! the operations on diagrams may take so many steps: how many images it gets through, and with how
//! few steps, is the order's score. A trial cannot run away, and it ends the same on every machine.
//! Steps predict time as sizes do not: between a good and a fair order of go-back-n the reachable
//! states differ by a factor of 2, the time by 10.
//!
//! The relation is not put together at any price ([`merge`](crate::merge)), so the first images come
//! after few steps, and few steps tell orders apart. All orders get a few, the best of them more.

use std::cmp::Reverse;

use masque_model::System;
use masque_verdict::{Budget, Why};

use crate::encode::{Encoder, OnTrouble};
use crate::layout::{Item, Layout};
use crate::reach;
use crate::relation::Relation;
use crate::space::{Limited, Set, Space};

/// Steps that a trial may take for each level, round by round.
const ROUNDS: [u64; 2] = [2_500, 10_000];
/// Fewer levels do not make it shorter.
const FEWEST_LEVELS: u64 = 100;
/// How many orders go on to the next round.
const LEFT: usize = 2;
/// Encoding the model may take so many times the steps of its exploration.
const ENCODING: u64 = 4;

/// How far an order got: images first, then how much of the model was encoded, then how few steps
/// that took.
type Score = (u32, usize, Reverse<u64>);

/// The steps that so many for each level are in all.
pub(crate) fn allowance(n_bits: u32, per_level: u64) -> u64 {
    u64::from(n_bits).max(FEWEST_LEVELS) * per_level
}

/// The best of some orders, the best one first: one if it gets to the end within its steps, else a
/// few.
pub(crate) fn best<'o>(
    system: &System,
    orders: &'o [Vec<Item>],
    budget: &Budget,
) -> Limited<Vec<&'o [Item]>> {
    let mut left: Vec<&[Item]> = orders.iter().map(|order| &order[..]).collect();
    for per_level in ROUNDS {
        if left.len() == 1 {
            break;
        }
        let mut scored: Vec<(Reverse<Score>, &[Item])> = Vec::new();
        for &order in &left {
            let most_steps = allowance(Layout::new(system, order).n_bits, per_level);
            let probe = probe(system, order, most_steps, budget, |_, initial| Ok(initial.clone()))?;
            if probe.is_finished {
                return Ok(vec![order]);
            }
            scored.push((Reverse(probe.score()), order));
        }
        scored.sort_by_key(|(score, _)| *score);
        left = scored.into_iter().take(LEFT).map(|(_, order)| order).collect();
    }
    Ok(left)
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
    /// How many conditions were encoded.
    pub(crate) n_encoded: usize,
}

impl Probe {
    fn score(&self) -> Score {
        let steps = self.images.last().copied().unwrap_or(u64::MAX);
        (self.images.len() as u32, self.n_encoded, Reverse(steps))
    }
}

/// Explores what is reachable from some of the initial states, with so many steps after encoding.
pub(crate) fn probe(
    system: &System,
    order: &[Item],
    most_steps: u64,
    budget: &Budget,
    from: impl FnOnce(&Encoder<'_>, &Set) -> Limited<Set>,
) -> Limited<Probe> {
    let layout = Layout::new(system, order);
    let space = Space::for_steps(layout.n_bits, budget, most_steps * ENCODING);
    let mut encoder = Encoder::new(system, layout, space, OnTrouble::GiveUp(most_steps));
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
    probe.n_encoded = encoder.n_encoded();
    match explored {
        Err(stop) if stop.why != Why::Memory => Err(stop),
        _ => Ok(probe),
    }
}
