//! Deciding several properties of one system: the policy that every caller shares.
//!
//! What one property explores, the others need not. Each has its share of the time, and bounds and memory
//! of its own, so none spoils another's verdict. A verdict is reported as soon as it is known, because a
//! run that shows it may take much longer.

use std::time::{Duration, Instant};

use masque_verdict::{Budget, Show, Verdict, Why, in_shares};

use crate::{Evidence, Formula, Lts, Play, Property, Space, check, explain};

/// What is known about one property.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Whether it holds.
    pub verdict: Verdict,
    /// A play that shows the verdict, if one was asked for and there is one to show.
    pub play: Option<Play>,
    /// Why a play is withheld: the evidence does not replay. That is a bug in Masque.
    pub withheld: Option<String>,
    /// States looked at.
    pub states: u64,
    /// Pairs of a state and a part of the formula that were looked at.
    pub positions: u64,
    /// How long it took.
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

    /// Whether a share of the time ended before the verdict, or the play that shows it, was found.
    fn is_cut_short(&self, show: Show, share: &Budget) -> bool {
        match self.verdict {
            Verdict::Unknown(why) => why == Why::Timeout,
            verdict => show.wanted(verdict).is_some() && self.play.is_none() && share.is_over(),
        }
    }
}

/// A cheaper way to a verdict: `None` if there is none for this formula.
pub type Shortcut<'s, L> = &'s mut dyn FnMut(&mut L, &Formula, &Budget) -> Option<Verdict>;

/// Decides properties one after the other. `shortcut` is tried first; only what it leaves open, and what
/// is to be shown, is decided on the system itself. `report` gets every verdict as soon as it is known,
/// and again together with the play that shows it.
pub fn decide_all<L: Lts>(
    space: &mut Space<L>,
    properties: &[Property],
    show: Show,
    budget: &Budget,
    shortcut: Shortcut<'_, L>,
    report: &mut dyn FnMut(&mut Space<L>, usize, &Decided),
) -> Vec<Decided> {
    let mut all = vec![Decided::unknown(Why::Timeout); properties.len()];
    in_shares(properties.len(), budget, |index, share| {
        let before = &all[index];
        // A verdict without a play is better than none.
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
/// if the verdict is to be shown.
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
        // The smaller system of a shortcut may be decided where the whole is not.
        if is_open {
            decided.verdict = found.verdict;
        }
        (decided.states, decided.positions) = (found.states, found.positions);
        let wanted = show.wanted(found.verdict);
        decided.withheld = found.withheld.filter(|_| wanted.is_some());
        decided.play = found.evidence.and_then(|evidence| shown(evidence, wanted?));
    }
    decided.time = start.elapsed();
    report(space, &decided);
    decided
}

/// The play that shows a verdict by itself: a single run shows a failure, and shows that a property holds
/// only if the evidence speaks of nothing else.
pub fn shown(evidence: Evidence, holds: bool) -> Option<Play> {
    (!holds || evidence.is_one_run()).then_some(evidence.play)
}
