//! Checking properties of an opened instance: the policy that the command line, sessions and tests share.
//!
//! A property is first decided in a system made smaller, where it cannot see the difference; only what is
//! to be shown is looked at in full, for a shortest run.

use std::time::Duration;

use masque_mu::{Decided, Formula, Play, Property, Space, decide_all, shown};
use masque_verdict::{Budget, Show, Verdict};

use crate::reduce::Reduced;
use crate::system::System;
use crate::trace::Trace;

/// What came of checking one property.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The answer.
    pub verdict: Verdict,
    /// States looked at.
    pub states: u64,
    /// Pairs of a state and a part of the formula that were looked at.
    pub positions: u64,
    /// A run that shows the verdict, if one was asked for and there is one to show.
    pub trace: Option<Trace>,
    /// Why a run is withheld: the evidence does not replay. That is a bug in Masque.
    pub withheld: Option<String>,
    /// How long it took.
    pub time: Duration,
}

impl Checked {
    /// A verdict without anything to show it.
    pub(crate) fn verdict(verdict: Verdict, states: u64, positions: u64) -> Checked {
        Checked { verdict, states, positions, trace: None, withheld: None, time: Duration::ZERO }
    }

    fn new(system: &mut System, decided: &Decided) -> Checked {
        Checked {
            trace: decided.play.as_ref().and_then(|play| trace_of(system, play)),
            withheld: decided.withheld.clone(),
            time: decided.time,
            ..Checked::verdict(decided.verdict, decided.states, decided.positions)
        }
    }

    /// An answer about a session's current state, with a run where the verdict is to be shown.
    pub(crate) fn of_answer(system: &mut System, answer: masque_mu::Answer, show: Show) -> Checked {
        let wanted = show.wanted(answer.verdict);
        let play = answer.evidence.and_then(|evidence| shown(evidence, wanted?));
        Checked {
            trace: play.and_then(|play| trace_of(system, &play)),
            withheld: answer.withheld,
            ..Checked::verdict(answer.verdict, answer.states, answer.positions)
        }
    }
}

/// A play as a trace; none if nothing happens on it and something could.
fn trace_of(system: &mut System, play: &Play) -> Option<Trace> {
    (!play.steps.is_empty() || system.is_stuck(play.start)).then(|| system.trace(play))
}

/// Checks properties one after the other, each within its share of the time. `report` gets each verdict
/// as soon as it is known, and again with the run that shows it.
///
/// ```
/// use masque_lcc::{Parts, check_all, open};
/// use masque_verdict::{Budget, Show, Verdict};
/// let mut sources = masque_text::Sources::default();
/// let text = "a(hen, H) :: null. agent a(hen, h). property ends : AF final ;";
/// let files = vec![sources.add("farm.lcc", text).unwrap()];
/// let opened = open(&mut sources, &Parts { files, ..Parts::default() });
/// let mut system = opened.system.unwrap();
/// let checked = check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
/// assert_eq!(checked[0].verdict, Verdict::Holds);
/// ```
pub fn check_all(
    system: &mut System,
    properties: &[Property],
    show: Show,
    budget: &Budget,
    report: &mut dyn FnMut(usize, &Checked),
) -> Vec<Checked> {
    let mut space = Space::new(&mut *system);
    let mut on_verdict = |space: &mut Space<&mut System>, index: usize, decided: &Decided| {
        report(index, &Checked::new(space.lts(), decided));
    };
    let mut reduce = |system: &mut &mut System, formula: &Formula, budget: &Budget| {
        in_reduced(system, formula, budget).map(|answer| answer.verdict)
    };
    let decided = decide_all(&mut space, properties, show, budget, &mut reduce, &mut on_verdict);
    drop(space);
    decided.iter().map(|decided| Checked::new(system, decided)).collect()
}

/// The answer in a system made smaller, as far as a formula cannot see it; none if nothing can be left
/// out. The verdict is that of the whole system, unless a bound leaves it open.
pub fn in_reduced(system: &mut System, formula: &Formula, budget: &Budget) -> Option<masque_mu::Answer> {
    let mut reduced = Reduced::new(system, formula)?;
    Some(masque_mu::check(&mut Space::new(&mut reduced), formula, budget))
}
