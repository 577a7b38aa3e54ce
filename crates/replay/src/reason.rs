//! Confirms one reason, by its kind.

use masque_model::{Deadlock, ExprId, Formula, FormulaId, Strategies, System};
use masque_verdict::claims::{CoalitionGoal, Needs, PathGoal, local_truth, path_of, why_not_shown};
use masque_verdict::{
    Because, DecidedBy, GroupStrategy, Literal, NotShownReason, PathReason, Reason, ReasonId, Responses,
    State, StateId, Unfolding,
};

use crate::fault::{Fault, ReplayError, Trusted};
use crate::replay::Replayer;
use crate::wellformed::WellFormed;
use crate::{fixpoint, responses, strategy};

/// A reason to be confirmed, with the evidence that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Case<'e> {
    pub(crate) evidence: WellFormed<'e>,
    pub(crate) id: ReasonId,
    pub(crate) reason: &'e Reason,
}

impl Case<'_> {
    /// The state of the claim.
    pub(crate) fn state(&self) -> &State {
        self.evidence.state(self.reason.state)
    }

    /// The formula of the claim, with the truth value claimed.
    pub(crate) fn literal(&self) -> Literal {
        Literal { formula: self.reason.formula, holds: self.reason.holds }
    }
}

impl Replayer<'_> {
    /// Confirms that a reason shows its claim, given that those it refers to show theirs.
    pub(crate) fn reason(&self, case: Case<'_>, trusted: &mut Trusted) -> Result<(), ReplayError> {
        match self.fault(case, trusted)? {
            None => Ok(()),
            Some(fault) => Err(ReplayError::Refused { reason: case.id, fault }),
        }
    }

    /// Returns what is wrong with a reason, if anything. Fails if a path in it is not a path of the system.
    fn fault(&self, case: Case<'_>, trusted: &mut Trusted) -> Result<Option<Fault>, ReplayError> {
        Ok(match &case.reason.because {
            Because::Here => self.here(case),
            _ if self.is_local[case.reason.formula.index()] => Some(Fault::Kind),
            Because::Operands(list) => self.operands(case, list),
            Because::DeadEnd(list) => self.dead_end(case, list, trusted),
            Because::Path(showing) => self.shown_by_run(case, showing, trusted)?,
            Because::Possible(possibility) => self.possible(case, possibility, trusted)?,
            Because::Chain(chain) => self.chain(case, chain, trusted)?,
            Because::Strategy(strategy) => self.strategy(case, strategy, trusted)?,
            Because::Responses(answers) => self.answers(case, answers, trusted)?,
            Because::Unfolded(unfolding) => self.unfolding(case, unfolding, trusted)?,
            Because::NotShown(missing) => self.not_shown(case, *missing, trusted),
        })
    }

    /// A local formula is evaluated at the state.
    fn here(&self, case: Case<'_>) -> Option<Fault> {
        if !self.is_local[case.reason.formula.index()] {
            return Some(Fault::Kind);
        }
        let truth = local_truth(self.system, case.reason.formula, case.state());
        (truth != Some(case.reason.holds)).then_some(Fault::Truth)
    }

    /// Operands must decide a connective, or exclude every path that a path quantifier is about.
    fn operands(&self, case: Case<'_>, list: &[ReasonId]) -> Option<Fault> {
        let Some(claims) = case.evidence.claims_at(list, case.reason.state) else {
            return Some(Fault::Claims);
        };
        let formulas = &self.system.formulas;
        if let Some(needs) = Needs::of(formulas, case.literal()) {
            return (!needs.are_met_by(&claims)).then_some(Fault::Claims);
        }
        match PathGoal::of(formulas, case.reason.formula) {
            Some(goal) if goal.holds != case.reason.holds => {
                (!goal.is_refuted_by(&claims, false)).then_some(Fault::Claims)
            }
            _ => Some(Fault::Kind),
        }
    }

    /// The state must have no successor, and the claims about it must then decide.
    fn dead_end(&self, case: Case<'_>, list: &[ReasonId], trusted: &mut Trusted) -> Option<Fault> {
        if let Some(fault) = self.claims_at_dead_end(case, list) {
            return Some(fault);
        }
        let has_successor = self.moves.has_successor(case.state());
        if has_successor.is_none() {
            trusted.dead_ends.push(case.reason.state);
        }
        let ends = self.system.meaning.deadlock != Deadlock::Stutter && has_successor != Some(true);
        (!ends).then_some(Fault::NotADeadEnd)
    }

    /// At a dead end `EX{c}` is false and `AX{c}` is true without any claim; other path quantifiers depend on
    /// claims about the state.
    fn claims_at_dead_end(&self, case: Case<'_>, list: &[ReasonId]) -> Option<Fault> {
        if LabelledStep::of(self.system, case.literal()).is_some_and(|step| !step.is_one_enough) {
            return (!list.is_empty()).then_some(Fault::Claims);
        }
        let Some(claims) = case.evidence.claims_at(list, case.reason.state) else {
            return Some(Fault::Claims);
        };
        match PathGoal::of(&self.system.formulas, case.reason.formula) {
            Some(goal) if goal.holds != case.reason.holds => {
                (!goal.is_refuted_by(&claims, true)).then_some(Fault::Claims)
            }
            _ => Some(Fault::Kind),
        }
    }

    /// A path must be a witness for `E`, or a counterexample to `A`.
    fn shown_by_run(
        &self,
        case: Case<'_>,
        showing: &PathReason,
        trusted: &mut Trusted,
    ) -> Result<Option<Fault>, ReplayError> {
        let Reason { formula, holds, .. } = *case.reason;
        let formulas = &self.system.formulas;
        if let Some(goal) = PathGoal::of(formulas, formula).filter(|goal| goal.holds == holds) {
            self.run(case.evidence, &showing.run, false)?;
            return Ok(self.run_meets_goal(case, showing, &goal, trusted));
        }
        if let Some((path, _)) = path_of(formulas, formula).filter(|(_, truth)| *truth == holds) {
            self.run(case.evidence, &showing.run, false)?;
            return Ok(self.run_decides_path_formula(case, showing, path, trusted));
        }
        match LabelledStep::of(self.system, case.literal()).filter(|step| step.is_one_enough) {
            Some(step) => {
                self.run(case.evidence, &showing.run, false)?;
                Ok(self.run_is_labelled_step(case, showing, &step, trusted))
            }
            None => Ok(Some(Fault::Kind)),
        }
    }

    /// A strategy must enforce the coalition's goal.
    fn strategy(
        &self,
        case: Case<'_>,
        strategy: &GroupStrategy,
        trusted: &mut Trusted,
    ) -> Result<Option<Fault>, ReplayError> {
        let goal = CoalitionGoal::of(self.system, case.reason.formula).filter(|_| case.reason.holds);
        let Some(goal) = goal else { return Ok(Some(Fault::Kind)) };
        self.run(case.evidence, &strategy.play, false)?;
        // Claims are about states at which a fair path starts.
        let claimed = strategy.claims.iter().map(|&id| case.evidence.claim(id).1);
        for state in strategy.from.iter().copied().chain(claimed) {
            self.trust_fair_run(state, trusted);
        }
        let is_about_one = matches!(goal.strategies, Strategies::Perfect | Strategies::UniformObjective);
        if strategy.from.len() > 1 || !is_about_one {
            trusted.questions.push(case.id);
        }
        Ok(strategy::confirm(self.system, &case.evidence, case.reason, strategy, &goal))
    }

    /// The responses of the others must prevent the coalition's goal.
    fn answers(
        &self,
        case: Case<'_>,
        answers: &Responses,
        trusted: &mut Trusted,
    ) -> Result<Option<Fault>, ReplayError> {
        let goal = CoalitionGoal::of(self.system, case.reason.formula).filter(|_| !case.reason.holds);
        let Some(goal) = goal else { return Ok(Some(Fault::Kind)) };
        self.run(case.evidence, &answers.play, false)?;
        if let Some(path) = &answers.path {
            self.run(case.evidence, path, true)?;
            self.trust_fair_run(case.reason.state, trusted);
        }
        Ok(responses::confirm(self.system, &case.evidence, case.reason, answers, &goal))
    }

    /// The claims about the parts of a fixpoint must decide it.
    fn unfolding(
        &self,
        case: Case<'_>,
        unfolding: &Unfolding,
        trusted: &mut Trusted,
    ) -> Result<Option<Fault>, ReplayError> {
        if why_not_shown(self.system, case.literal()).is_some() {
            return Ok(Some(Fault::Kind));
        }
        for node in &unfolding.nodes {
            if let DecidedBy::Possible { path: Some(path), .. } = &node.by {
                self.run(case.evidence, path, true)?;
            }
            self.trust_fair_run(node.state, trusted);
        }
        Ok(match fixpoint::confirm(self.system, &case.evidence, case.reason, unfolding) {
            Ok(trusts) => {
                trusted.questions.extend(trusts.then_some(case.id));
                None
            }
            Err(fault) => Some(fault),
        })
    }

    /// A claim without a reason is taken on trust, if claims of its form cannot be shown.
    fn not_shown(&self, case: Case<'_>, missing: NotShownReason, trusted: &mut Trusted) -> Option<Fault> {
        trusted.claims.push(case.id);
        let fits = match missing {
            NotShownReason::TooMuch => true,
            NotShownReason::Strategies => CoalitionGoal::of(self.system, case.reason.formula)
                .is_some_and(|goal| !case.reason.holds && goal.strategies != Strategies::Perfect),
            _ => why_not_shown(self.system, case.literal()) == Some(missing),
        };
        (!fits).then_some(Fault::Kind)
    }

    /// Records that a fair path must start at a state, which replay cannot confirm.
    pub(crate) fn trust_fair_run(&self, state: StateId, trusted: &mut Trusted) {
        if !self.system.fairness.is_empty() {
            trusted.fair.push(state);
        }
    }
}

/// What `EX{c}` and `AX{c}` are about.
pub(crate) struct LabelledStep {
    /// Condition on the joint action.
    pub(crate) condition: ExprId,
    /// Formula about the state after the step.
    pub(crate) operand: FormulaId,
    /// Whether one step shows the claim; otherwise it is about all steps.
    pub(crate) is_one_enough: bool,
}

impl LabelledStep {
    fn of(system: &System, literal: Literal) -> Option<LabelledStep> {
        let (condition, operand, is_one_enough) = match system.formulas.get(literal.formula) {
            Formula::ExistsStep(condition, operand) => (condition, operand, literal.holds),
            Formula::ForallStep(condition, operand) => (condition, operand, !literal.holds),
            _ => return None,
        };
        Some(LabelledStep { condition, operand, is_one_enough })
    }
}
