//! Confirms that a path is a witness for a formula, or a counterexample to it.

use masque_model::FormulaId;
use masque_model::semantics::is_true;
use masque_verdict::claims::{PathGoal, local_truth, state_parts};
use masque_verdict::{EvidencePath, Literal, PathReason, StateId};

use crate::fault::{Fault, Trusted};
use crate::path_formula::truth_on_run;
use crate::reason::{Case, LabelledStep};
use crate::replay::Replayer;
use crate::wellformed::WellFormed;

impl Replayer<'_> {
    /// Checks that a path has the form of the goal.
    pub(crate) fn run_meets_goal(
        &self,
        Case { evidence, reason, .. }: Case<'_>,
        showing: &PathReason,
        goal: &PathGoal,
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let PathReason { run, claims, fair } = showing;
        let last = run.states.len() - 1;
        if run.states[0] != reason.state {
            return Some(Fault::Ends);
        }
        let none = Vec::new();
        let (before, at_last) = match (run.back_to, &goal.next, &goal.until, &goal.forever) {
            (Some(_), _, _, Some(stay)) => (stay, stay),
            (None, Some(next), ..) if last == 1 => (&none, next),
            (None, None, Some((through, to)), _) => (through, to),
            _ => return Some(Fault::Ends),
        };
        let needed = (0..=last).flat_map(|position| {
            let literals = if position == last { at_last } else { before };
            literals.iter().map(move |literal| (position, *literal))
        });
        let claimed = claims.iter().map(|&(position, id)| (position, evidence.claim(id)));
        let needed: Vec<_> = needed.map(|(position, l)| (position, (l, run.states[position]))).collect();
        if !claimed.eq(needed) {
            return Some(Fault::Claims);
        }
        match run.back_to {
            None => self.ends_fairly(run.states[last], fair, trusted),
            Some(begin) => self.loops_fairly(evidence, run, begin, fair, trusted),
        }
    }

    /// Checks that a path is one step that satisfies the condition, to a state at which the operand has the
    /// truth value of the whole formula.
    pub(crate) fn run_is_labelled_step(
        &self,
        Case { evidence, reason, .. }: Case<'_>,
        showing: &PathReason,
        step: &LabelledStep,
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let PathReason { run, claims, fair } = showing;
        let ([from, to], [Some(joint)], None) = (&run.states[..], &run.actions[..], run.back_to) else {
            return Some(Fault::Ends);
        };
        let here = evidence.state(*from);
        if *from != reason.state || !is_true(self.system, step.condition, here, joint) {
            return Some(Fault::Ends);
        }
        let operand = Literal { formula: step.operand, holds: reason.holds };
        let [(1, id)] = claims[..] else { return Some(Fault::Claims) };
        if evidence.claim(id) != (operand, *to) {
            return Some(Fault::Claims);
        }
        self.ends_fairly(*to, fair, trusted)
    }

    /// Checks that a path formula has the claimed truth value on an infinite path, given the claims about its
    /// state formulas at all positions.
    pub(crate) fn run_decides_path_formula(
        &self,
        Case { evidence, reason, .. }: Case<'_>,
        showing: &PathReason,
        path: FormulaId,
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let PathReason { run, claims, fair } = showing;
        let Some(begin) = run.back_to else { return Some(Fault::Ends) };
        if run.states[0] != reason.state {
            return Some(Fault::Ends);
        }
        let formulas = &self.system.formulas;
        let parts = state_parts(formulas, path);
        let n = run.states.len();
        let needed = (0..n).flat_map(|position| parts.iter().map(move |&part| (position, part)));
        let claimed: Vec<_> = claims.iter().map(|&(position, id)| (position, evidence.claim(id))).collect();
        let is_needed = |&(position, (literal, state)): &(usize, (Literal, StateId))| {
            (state == run.states[position]).then_some((position, literal.formula))
        };
        if !claimed.iter().map(is_needed).eq(needed.map(Some)) {
            return Some(Fault::Claims);
        }
        let values =
            claimed.iter().map(|(at, (literal, _))| ((literal.formula, *at), literal.holds)).collect();
        if truth_on_run(formulas, path, n, begin, &values) != Some(reason.holds) {
            return Some(Fault::Truth);
        }
        self.loops_fairly(evidence, run, begin, fair, trusted)
    }

    /// A finite path needs no positions at which constraints are true. That a fair path starts at its end is
    /// taken on trust.
    fn ends_fairly(&self, last: StateId, fair: &[usize], trusted: &mut Trusted) -> Option<Fault> {
        self.trust_fair_run(last, trusted);
        (!fair.is_empty()).then_some(Fault::Unfair)
    }

    /// Checks that every fairness constraint is true somewhere on the loop.
    fn loops_fairly(
        &self,
        evidence: WellFormed<'_>,
        run: &EvidencePath,
        begin: usize,
        fair: &[usize],
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        if fair.len() != self.system.fairness.len() {
            return Some(Fault::Unfair);
        }
        for (number, (&constraint, &position)) in self.system.fairness.iter().zip(fair).enumerate() {
            let state = run.states[position];
            match local_truth(self.system, constraint, evidence.state(state)) {
                _ if position < begin => return Some(Fault::Unfair),
                Some(true) => {}
                Some(false) => return Some(Fault::Unfair),
                None => trusted.constraints.push((number, state)),
            }
        }
        None
    }
}
