//! Whether splitting pays, from measured steps.
//!
//! Most systems are explored before it would be worth a thought. Where the whole leads to trouble
//! (`encode.rs`), the whole and the largest part are explored for a while, and the steps that each
//! takes for the same number of images are compared. Steps are the same on every machine, and so is
//! the choice.

use masque_verdict::{Budget, Early, Show, Stats, Why};

use super::strategy::{self, Explored};
use super::{Parallel, Strategy};
use crate::early::Watch;
use crate::encode::OnTrouble;
use crate::engine::{Built, Ordered, steps_of_trouble};
use crate::layout::Layout;
use crate::space::{Limited, Natural, Set};
use crate::trial::{Probe, probe};

/// The whole and the part are explored with so small a share of the steps that mean trouble.
const SHARE: u64 = 4;
/// Splitting pays if each worker takes less than so many of a hundred steps.
const PERCENT: u64 = 80;

/// The whole if it comes without trouble, else in parts if that pays, else the whole after all.
pub(super) fn explore<'s>(
    parallel: &Parallel,
    (system, items, on_trouble): Ordered<'s, '_>,
    budget: &Budget,
    stats: &mut Stats,
) -> Limited<Explored<'s>> {
    let whole = |on_trouble, stats: &mut Stats| -> Limited<Explored<'s>> {
        let mut watch = Watch { evidence: Show::None, early: &mut Early::deaf(), budget };
        let built = Built::new((system, items, on_trouble), parallel.jobs, &mut watch, stats)?;
        Ok(Explored::Whole(Box::new(built)))
    };
    match whole(OnTrouble::GiveUp(u64::MAX), stats) {
        Err(stop) if stop.why == Why::Memory => {}
        done => {
            stats.notes.push("not split: small enough as a whole".to_string());
            return done;
        }
    }
    let merge = Parallel { strategy: Strategy::Merge, ..parallel.clone() };
    if pays(&merge, (system, items, on_trouble), budget)? {
        return strategy::explore(&merge, (system, items, on_trouble), budget, stats);
    }
    if matches!(on_trouble, OnTrouble::GiveUp(_)) {
        // The order may be to blame.
        return Err(Why::Memory.into());
    }
    stats.notes.push("not split: a part takes as long as the whole".to_string());
    whole(on_trouble, stats)
}

/// Whether a worker's parts take fewer steps than the whole, as far as both are explored.
fn pays(merge: &Parallel, (system, items, _): Ordered<'_, '_>, budget: &Budget) -> Limited<bool> {
    let most_steps = steps_of_trouble(Layout::new(system, items).n_bits) / SHARE;
    let whole = probe(system, items, most_steps, budget, |_, initial| Ok(initial.clone()))?;
    let mut n_parts = 1;
    let part = probe(system, items, most_steps, budget, |encoder, initial| {
        let parts = strategy::split(merge, encoder, initial)?.parts;
        n_parts = parts.len();
        let count = |part: &Set| encoder.space.count(part, encoder.layout.n_current());
        let largest = parts.into_iter().map(|part| (count(&part), part));
        let largest = largest.fold(None, |best: Option<(Natural, Set)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        });
        Ok(largest.map_or_else(|| initial.clone(), |(_, part)| part))
    })?;
    Ok(n_parts > 1 && is_less(&part, n_parts.div_ceil(merge.jobs.max(1)) as u64, &whole))
}

/// Whether so many parts, one after the other, take fewer steps than the whole. The relation is
/// built once.
fn is_less(part: &Probe, n_parts: u64, whole: &Probe) -> bool {
    // A part may be explored before the whole has got that far.
    let n_images = whole.images.len();
    let at_part =
        if part.is_finished { part.images.last() } else { part.images.get(n_images.wrapping_sub(1)) };
    match (at_part, whole.images.last()) {
        (Some(&at_part), Some(&at_whole)) => {
            let in_parts = part.relation + (at_part - part.relation) * n_parts;
            in_parts * 100 < at_whole * PERCENT
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn fewer_steps() {
        let check = |whole: &[u64], part: &[u64], is_finished, n_parts, expected, because: &str| {
            let probe = |images: &[u64], is_finished| Probe { relation: 100, images: images.to_vec(), is_finished, ..Probe::default() };
            assert_eq!(is_less(&probe(part, is_finished), n_parts, &probe(whole, false)), expected, "{because}");
        };
        //     whole          part        end    parts  pays
        check(&[500, 900],   &[200, 300], false, 2,     true,  "100 + 2 * 200 is less than 720");
        check(&[500, 900],   &[200, 300], false, 4,     false, "100 + 4 * 200 is not");
        check(&[500, 900],   &[200],      false, 1,     false, "the part did not get as far");
        check(&[500, 900],   &[200],      true,  1,     true,  "it was over before");
        check(&[],           &[200],      true,  1,     false, "the relation alone takes too long");
        check(&[500],        &[450],      false, 1,     false, "hardly less");
    }
}
