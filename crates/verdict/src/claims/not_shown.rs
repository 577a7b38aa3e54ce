//! Claims that evidence cannot show because of their form.

use masque_model::{Formula, System};

use super::{KnowledgeScope, PathGoal, can_unfold, has_local_fairness};
use crate::{Literal, NotShownReason};

/// Returns why a claim cannot be shown, by the form of its formula; `None` if it can.
pub fn why_not_shown(system: &System, literal: Literal) -> Option<NotShownReason> {
    if let Some(goal) = PathGoal::of(&system.formulas, literal.formula) {
        return (goal.holds != literal.holds).then_some(NotShownReason::AllPaths);
    }
    match system.formulas.get(literal.formula) {
        Formula::Exists(..) | Formula::ExistsStep(..) => (!literal.holds).then_some(NotShownReason::AllPaths),
        Formula::Forall(..) | Formula::ForallStep(..) => literal.holds.then_some(NotShownReason::AllPaths),
        Formula::Enforces(..) => (!has_local_fairness(system)).then_some(NotShownReason::Fairness),
        Formula::Least(..) | Formula::Greatest(..) => {
            (!can_unfold(system, literal.formula)).then_some(NotShownReason::Fixpoint)
        }
        _ => {
            let is_knowledge = KnowledgeScope::of(system, literal.formula).is_some();
            (is_knowledge && literal.holds).then_some(NotShownReason::AllStates)
        }
    }
}
