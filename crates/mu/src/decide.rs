//! Decides several properties of one system.
//!
//! The properties share the explored states. Each has its share of the time, and its own bounds and
//! memory, so that no property changes the verdict of another. A verdict is reported as soon as it is
//! known, because finding a play that shows it may take much longer.

use std::time::{Duration, Instant};

use masque_verdict::{Budget, Show, Verdict, Why, run_in_shares};

use crate::{Evidence, Formula, Lts, Play, Property, Space, check, explain};

/// Result for one property.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Whether the property holds.
    pub verdict: Verdict,
    /// A play that shows the verdict, if one was requested and exists.
    pub play: Option<Play>,
    /// Reason why a play is withheld: the evidence does not replay. That is a bug in Masque.
    pub withheld: Option<String>,
    /// Number of states that were visited.
    pub states: u64,
    /// Number of positions: pairs of a state and a node of the formula.
    pub positions: u64,
    /// Time for deciding the property.
    pub time: Duration,
}

impl Decided {
    fn unknown(why: Why) -> Decided {
        let verdict = Verdict::Unknown(why);
        Decided { verdict, play: None, withheld: None, states: 0, positions: 0, time: Duration::ZERO }
    }

    fn is_known(&self) -> bool {
        matches!(self.verdict, Verdict::Holds | Verdict::Fails)
    }

    /// Whether the share of the time ended before the verdict, or the play that shows it, was found.
    fn is_cut_short(&self, show: Show, share: &Budget) -> bool {
        match self.verdict {
            Verdict::Unknown(why) => why == Why::Timeout,
            verdict => show.wanted(verdict).is_some() && self.play.is_none() && share.is_over(),
        }
    }
}

/// A faster decision procedure; it returns `None` for a formula that it does not support.
pub type Shortcut<'s, L> = &'s mut dyn FnMut(&mut L, &Formula, &Budget) -> Option<Verdict>;

/// Decides properties one after the other. Tries `shortcut` first, and checks a formula on the system if
/// `shortcut` gives no verdict or a play is to be shown. Calls `report` with every verdict as soon as it is
/// known, and again with the play that shows it.
pub fn decide_all<L: Lts>(
    space: &mut Space<L>,
    properties: &[Property],
    show: Show,
    budget: &Budget,
    shortcut: Shortcut<'_, L>,
    report: &mut dyn FnMut(&mut Space<L>, usize, &Decided),
) -> Vec<Decided> {
    let mut all = vec![Decided::unknown(Why::Timeout); properties.len()];
    run_in_shares(properties.len(), budget, |index, share| {
        let before = &all[index];
        // Keep an earlier verdict without a play rather than replace it by `unknown`.
        let (was_known, spent) = (before.is_known(), before.time);
        let mut report_better = |space: &mut Space<L>, found: &Decided| {
            if found.is_known() || !was_known {
                report(space, index, found);
            }
        };
        let mut found =
            decide(space, &properties[index].formula, show, share, &mut *shortcut, &mut report_better);
        found.time += spent;
        if was_known && !found.is_known() {
            return true;
        }
        let is_finished = !found.is_cut_short(show, share);
        all[index] = found;
        is_finished
    });
    all
}

/// Decides one formula: by the shortcut if it gives a verdict, and on the whole system if it does not or
/// if a play is to be shown.
pub fn decide<L: Lts>(
    space: &mut Space<L>,
    formula: &Formula,
    show: Show,
    budget: &Budget,
    shortcut: Shortcut<'_, L>,
    report: &mut dyn FnMut(&mut Space<L>, &Decided),
) -> Decided {
    let start = Instant::now();
    let mut decided = Decided::unknown(Why::Timeout);
    if let Some(verdict @ (Verdict::Holds | Verdict::Fails)) = shortcut(space.lts(), formula, budget) {
        decided.verdict = verdict;
        report(space, &decided);
    }
    let is_open = !decided.is_known();
    if is_open || show.wanted(decided.verdict).is_some() {
        let found = match show {
            Show::None => check(space, formula, budget),
            Show::All | Show::Failed => explain(space, formula, budget),
        };
        // A shortcut may decide a formula on a smaller system even if the check of the whole system does not.
        if is_open {
            decided.verdict = found.verdict;
        }
        (decided.states, decided.positions) = (found.states, found.positions);
        let wanted = show.wanted(found.verdict);
        decided.withheld = if wanted.is_some() { found.withheld } else { None };
        decided.play = found.evidence.and_then(|evidence| shown(evidence, wanted?));
    }
    decided.time = start.elapsed();
    report(space, &decided);
    decided
}

/// Returns the play of the evidence if it shows the verdict by itself: always for a failure, and for a
/// property that holds only if the evidence has no other transitions.
pub fn shown(evidence: Evidence, holds: bool) -> Option<Play> {
    (!holds || evidence.is_single_path()).then_some(evidence.play)
}
