//! Decides by measured steps whether splitting saves time: [`SplitStrategy::Auto`].
//!
//! Most systems are explored so fast that splitting is not worth it. If the whole exceeds the node limit
//! (`encode.rs`), the whole and the largest part are explored for a limited number of steps, and the
//! steps that each takes for the same number of images are compared. Steps are the same on every
//! machine, and so is the choice.

use masque_verdict::{Budget, Early, Show, Stats, Why};

use super::strategy::{self, Explored};
use super::{Parallel, SplitStrategy};
use crate::early::EarlyReceiver;
use crate::encode::GrowthPolicy;
use crate::engine::{Built, OrderedSystem, step_limit};
use crate::layout::Layout;
use crate::space::{Limited, Natural, Set};
use crate::trial::{Probe, probe};

/// The whole and the part are explored within the step limit divided by this.
const STEP_LIMIT_DIVISOR: u64 = 4;
/// Splitting saves time if each worker takes less than this percentage of the steps of the whole.
const MAX_STEPS_PERCENT: u64 = 80;

/// Explores the whole if that stays within the node limit, else in parts if that saves time, else the
/// whole without this limit.
pub(super) fn explore<'s>(
    parallel: &Parallel,
    ordered: OrderedSystem<'s, '_>,
    budget: &Budget,
    stats: &mut Stats,
) -> Limited<Explored<'s>> {
    let whole = |policy, stats: &mut Stats| -> Limited<Explored<'s>> {
        let mut receiver = EarlyReceiver { evidence: Show::None, early: &mut Early::deaf(), budget };
        let built = Built::new(OrderedSystem { policy, ..ordered }, parallel.jobs, &mut receiver, stats)?;
        Ok(Explored::Whole(Box::new(built)))
    };
    match whole(GrowthPolicy::Abandon(u64::MAX), stats) {
        Err(stop) if stop.why == Why::Memory => {}
        done => {
            stats.notes.push("not split: small enough as a whole".to_string());
            return done;
        }
    }
    let simple = Parallel { strategy: SplitStrategy::Simple, ..parallel.clone() };
    if splitting_saves_steps(&simple, ordered, budget)? {
        return strategy::explore(&simple, ordered, budget, stats);
    }
    if matches!(ordered.policy, GrowthPolicy::Abandon(_)) {
        // Another order may be better.
        return Err(Why::Memory.into());
    }
    stats.notes.push("not split: a part takes as long as the whole".to_string());
    whole(ordered.policy, stats)
}

/// Returns whether the largest part takes fewer steps than the whole, as far as both are explored.
fn splitting_saves_steps(simple: &Parallel, ordered: OrderedSystem<'_, '_>, budget: &Budget) -> Limited<bool> {
    let OrderedSystem { system, items, .. } = ordered;
    let max_steps = step_limit(Layout::new(system, items).n_bits) / STEP_LIMIT_DIVISOR;
    let whole = probe(system, items, max_steps, budget, |_, initial| Ok(initial.clone()))?;
    let mut n_parts = 1;
    let part = probe(system, items, max_steps, budget, |encoder, initial| {
        let parts = strategy::split(simple, encoder, initial)?.0.parts;
        n_parts = parts.len();
        let count = |part: &Set| encoder.space.count(part, encoder.layout.n_current());
        let largest = parts.into_iter().map(|part| (count(&part), part));
        let largest = largest.fold(None, |best: Option<(Natural, Set)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        });
        Ok(largest.map_or_else(|| initial.clone(), |(_, part)| part))
    })?;
    Ok(n_parts > 1 && takes_fewer_steps(&part, &whole))
}

/// Returns whether a part takes fewer steps than the whole. Each worker has one part, and builds the relation.
fn takes_fewer_steps(part: &Probe, whole: &Probe) -> bool {
    // A part may be finished after fewer images than the whole has computed.
    let n_images = whole.images.len();
    let at_part =
        if part.is_finished { part.images.last() } else { part.images.get(n_images.wrapping_sub(1)) };
    match (at_part, whole.images.last()) {
        (Some(&at_part), Some(&at_whole)) => at_part * 100 < at_whole * MAX_STEPS_PERCENT,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn parts_that_take_fewer_steps() {
        let check = |whole: &[u64], part: &[u64], is_finished, expected, because: &str| {
            let probe = |images: &[u64], is_finished| Probe { images: images.to_vec(), is_finished, ..Probe::default() };
            assert_eq!(takes_fewer_steps(&probe(part, is_finished), &probe(whole, false)), expected, "{because}");
        };
        //     whole        part        end    fewer
        check(&[500, 900], &[200, 700], false, true,  "700 is less than 720");
        check(&[500, 900], &[200, 750], false, false, "750 is more than 80 percent");
        check(&[500, 900], &[200],      false, false, "the part has fewer images");
        check(&[500, 900], &[200],      true,  true,  "the part is finished");
        check(&[],         &[200],      true,  false, "the relation alone takes too long");
    }
}
