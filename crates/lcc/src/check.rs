//! Checks the properties of an opened instance, for the command line, sessions and tests alike.
//!
//! A property is first decided in a reduced system, if its formula cannot distinguish that from the whole
//! system. The whole system is searched only for evidence that is to be shown, so that a shortest run is
//! found.

use std::time::Duration;

use masque_mu::{Decided, Formula, Play, Property, Space, decide_all, shown};
use masque_verdict::{Budget, Show, Verdict};

use crate::reduce::Reduced;
use crate::system::System;
use crate::trace::Trace;

/// The result of checking one property.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict,
    /// Number of states visited.
    pub states: u64,
    /// Number of pairs of a state and a subformula that were visited.
    pub positions: u64,
    /// A run that shows the verdict, if one was requested and exists.
    pub trace: Option<Trace>,
    /// Why no run is shown: the evidence could not be replayed. This is a bug in Masque.
    pub withheld: Option<String>,
    /// Time spent on the property.
    pub time: Duration,
}

impl Checked {
    /// Makes a result without evidence.
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

    /// Makes a result from an answer about the current state of a session, with a run if `show` asks for one.
    pub(crate) fn of_answer(system: &mut System, answer: masque_mu::Outcome, show: Show) -> Checked {
        let wanted = show.wanted(answer.verdict);
        let play = answer.evidence.and_then(|evidence| shown(evidence, wanted?));
        Checked {
            trace: play.and_then(|play| trace_of(system, &play)),
            withheld: answer.withheld,
            ..Checked::verdict(answer.verdict, answer.states, answer.positions)
        }
    }
}

/// Turns a play into a trace; `None` if the play has no steps and its state is not stuck.
fn trace_of(system: &mut System, play: &Play) -> Option<Trace> {
    (!play.steps.is_empty() || system.is_stuck(play.start)).then(|| system.trace(play))
}

/// Checks properties one after the other, each within its share of the time limit. `report` is called with
/// each verdict as soon as it is known, and again with the run that shows it.
///
/// ```
/// use masque_lcc::{InstanceInput, check_all, open};
/// use masque_verdict::{Budget, Show, Verdict};
/// let mut sources = masque_text::Sources::default();
/// let text = "a(hen, H) :: null. agent a(hen, h). property ends : AF final ;";
/// let files = vec![sources.add("farm.lcc", text).unwrap()];
/// let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
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
    system.set_budget(budget);
    let mut space = Space::new(&mut *system);
    let mut on_verdict = |space: &mut Space<&mut System>, index: usize, decided: &Decided| {
        report(index, &Checked::new(space.lts(), decided));
    };
    let mut reduce = |system: &mut &mut System, formula: &Formula, budget: &Budget| {
        check_reduced(system, formula, budget).map(|answer| answer.verdict)
    };
    let decided = decide_all(&mut space, properties, show, budget, &mut reduce, &mut on_verdict);
    drop(space);
    system.set_budget(&Budget::unlimited());
    decided.iter().map(|decided| Checked::new(system, decided)).collect()
}

/// Checks a formula in a reduced system; `None` if no reduction applies. The verdict is that of the whole
/// system, or unknown if a bound was exceeded.
pub fn check_reduced(system: &mut System, formula: &Formula, budget: &Budget) -> Option<masque_mu::Outcome> {
    let mut reduced = Reduced::new(system, formula)?;
    Some(masque_mu::check(&mut Space::new(&mut reduced), formula, budget))
}
