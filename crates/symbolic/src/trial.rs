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
use crate::space::{Limited, Space};

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
    let layout = Layout::new(system, order);
    let most_steps = (u64::from(layout.n_bits) * STEPS_PER_LEVEL).clamp(FEWEST, MOST) * allowance;
    let space = Space::for_steps(layout.n_bits, budget, most_steps);
    let mut encoder = Encoder::new(system, layout, space, OnTrouble::GoOn);
    let mut score = (0, Reverse(u64::MAX));
    let explored = reach::initial(&mut encoder).and_then(|initial| {
        let relation = Relation::new(&mut encoder)?;
        reach::reachable(&encoder, &relation, &initial, |_| {
            score = (score.0 + 1, Reverse(encoder.space.steps()));
            Ok(())
        })
    });
    match explored {
        Err(stop) if stop.why != Why::Memory => Err(stop),
        _ => Ok(score),
    }
}
