//! Checking properties of an opened instance.

use masque_mu::{Answer, Property, Space, check, explain};
use masque_verdict::{Budget, Verdict, Why, in_shares};

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
    /// Why a run is withheld: the evidence does not replay. That is a bug of ours.
    pub withheld: Option<String>,
}

impl Checked {
    /// An answer in the words of the protocol.
    pub(crate) fn new(system: &mut System, answer: Answer) -> Checked {
        let play = answer.evidence.map(|evidence| evidence.play);
        let shown = play.filter(|play| !play.steps.is_empty() || system.is_stuck(play.start));
        let trace = shown.map(|play| system.trace(&play));
        let withheld = answer.withheld;
        Checked { trace, withheld, ..Checked::verdict(answer.verdict, answer.states, answer.positions) }
    }

    /// A verdict without anything to show it.
    pub(crate) fn verdict(verdict: Verdict, states: u64, positions: u64) -> Checked {
        Checked { verdict, states, positions, trace: None, withheld: None }
    }
}

/// Checks properties one after the other; what one explores, the others need not. Each has its share of
/// the time, and bounds of its own.
///
/// Evidence is replayed before it is shown; it costs more than a verdict.
pub fn check_all(
    system: &mut System,
    properties: &[Property],
    evidence: bool,
    budget: &Budget,
) -> Vec<Checked> {
    let mut answers: Vec<Option<Answer>> = vec![None; properties.len()];
    {
        let mut space = Space::new(&mut *system);
        in_shares(properties.len(), budget, |number, share| {
            let formula = &properties[number].formula;
            let answer = match evidence {
                true => explain(&mut space, formula, share),
                false => check(&mut space, formula, share),
            };
            let is_finished = answer.verdict != Verdict::Unknown(Why::Timeout);
            answers[number] = Some(answer);
            is_finished
        });
    }
    answers.into_iter().flatten().map(|answer| Checked::new(system, answer)).collect()
}

/// Decides one property in a system made smaller, as far as the property cannot see it.
///
/// The verdict is that of the whole system; there is no evidence, since a run of the reduced system
/// need not be a shortest one. Where a bound of the reduced system leaves it open, the whole system
/// is asked.
pub fn decide(system: &mut System, property: &Property, budget: &Budget) -> Checked {
    if let Some(mut reduced) = Reduced::new(system, &property.formula) {
        let answer = check(&mut Space::new(&mut reduced), &property.formula, budget);
        if !matches!(answer.verdict, Verdict::Unknown(Why::Bound(_))) {
            return Checked::verdict(answer.verdict, answer.states, answer.positions);
        }
    }
    let answer = check(&mut Space::new(system), &property.formula, budget);
    Checked::verdict(answer.verdict, answer.states, answer.positions)
}
