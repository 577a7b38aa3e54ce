//! The runs on which goals were reached.
//!
//! ```text
//! R:  the ends of those runs on which f was true, N: the ends of the others
//! ```
//!
//! A state may be in both R and N. A goal is reached when N is empty, because `S = R ∪ N`.
//!
//! ```text
//! N' = U*(N₁ ∖ ⟦f⟧), with unseen steps outside ⟦f⟧             N₁: N after the record
//! R' = U*(R₁ ∪ (N₁ ∩ ⟦f⟧) ∪ (post_unseen(N') ∩ ⟦f⟧))
//! ```

use masque_model::FormulaId;
use masque_verdict::{Budget, Stop, Why};

use super::goal::Goal;
use super::observation::IsplObservation;
use super::sets::StateSets;
use super::tracker::{Log, Shared};
use crate::GoalStatus;

/// Where a goal is reached, certain and possible.
pub(super) struct GoalSets<T> {
    target: T,
    certain: T,
    possible: T,
}

/// What is known about a goal.
#[derive(Clone)]
pub(super) struct GoalLog<Set> {
    /// The ends of runs; `None` if the goal is not decided.
    pub(super) runs: Option<GoalRuns<Set>>,
    pub(super) was_certain: bool,
    pub(super) status: GoalStatus,
}

/// The ends of the runs that match a log.
#[derive(Clone)]
pub(super) struct GoalRuns<Set> {
    /// Of the runs on which a goal was reached.
    pub(super) reached: Set,
    /// Of the other runs.
    pub(super) unreached: Set,
}

impl<S: StateSets> Shared<'_, S> {
    /// Returns the ends of the runs that a record continues. `matching` are the ends of all of them.
    pub(super) fn continued(
        &mut self,
        log: &Log<S::Set>,
        before: &GoalRuns<S::Set>,
        record: &IsplObservation,
        matching: &S::Set,
        budget: &Budget,
    ) -> Result<GoalRuns<S::Set>, Stop> {
        let GoalRuns { reached, unreached } = before;
        if log.is_before_first(record) {
            // The runs begin here.
            let reached = self.sets.minus(matching, matching, budget)?;
            return Ok(GoalRuns { reached, unreached: matching.clone() });
        }
        let (are_none, are_all) = (self.sets.is_empty(reached), self.sets.is_empty(unreached));
        Ok(GoalRuns {
            reached: if are_all { matching.clone() } else { self.matching(log, reached, record, budget)? },
            unreached: if are_none {
                matching.clone()
            } else {
                self.matching(log, unreached, record, budget)?
            },
        })
    }

    /// Returns the members of a set that are, or are not, in the target of a goal.
    pub(super) fn by_target(
        &mut self,
        goal: usize,
        set: &S::Set,
        holds: bool,
        budget: &Budget,
    ) -> Result<S::Set, Stop> {
        match &self.goals[goal].sets {
            Ok(goal) => self.sets.filter(set, &goal.target, holds, budget),
            Err(_) => Ok(set.clone()),
        }
    }

    /// Makes what is known about a goal, given the ends of runs before their last states and unseen steps are looked at.
    pub(super) fn goal(
        &mut self,
        index: usize,
        runs: Option<GoalRuns<S::Set>>,
        was_certain: bool,
        budget: &Budget,
    ) -> Result<GoalLog<S::Set>, Stop> {
        let why = self.goals[index].sets.as_ref().err().copied();
        let (None, Some(runs)) = (why, runs) else {
            let status = GoalStatus::Unknown(why.unwrap_or(Why::Unsupported).to_string());
            return Ok(GoalLog { runs: None, was_certain: false, status });
        };
        let runs = self.reaching(index, runs, budget)?;
        let status = match &self.goals[index].sets {
            Err(why) => GoalStatus::Unknown(why.to_string()),
            Ok(_) if self.sets.is_empty(&runs.unreached) => GoalStatus::Reached,
            Ok(GoalSets { certain, possible, .. }) => {
                let uncertain = self.sets.filter(&runs.unreached, certain, false, budget)?;
                let hopeful = self.sets.filter(&runs.unreached, possible, true, budget)?;
                if self.sets.is_empty(&uncertain) {
                    GoalStatus::Certain
                } else if self.sets.is_empty(&hopeful) && self.sets.is_empty(&runs.reached) {
                    GoalStatus::Lost
                } else if was_certain {
                    GoalStatus::AtRisk
                } else {
                    GoalStatus::Possible
                }
            }
        };
        let was_certain = was_certain || status == GoalStatus::Certain;
        Ok(GoalLog { runs: Some(runs), was_certain, status })
    }

    /// Moves runs whose last states, or the states of unseen steps, are in the target of a goal.
    fn reaching(
        &mut self,
        goal: usize,
        runs: GoalRuns<S::Set>,
        budget: &Budget,
    ) -> Result<GoalRuns<S::Set>, Stop> {
        let now = self.by_target(goal, &runs.unreached, true, budget)?;
        let unreached = self.by_target(goal, &runs.unreached, false, budget)?;
        let unreached = self.closure(unreached, Some(goal), budget)?;
        let mut reached = self.sets.union(&runs.reached, &now, budget)?;
        if let Some(unseen) = self.unseen.clone() {
            let after = self.sets.image(&unreached, &unseen, budget)?;
            let now = self.by_target(goal, &after, true, budget)?;
            reached = self.sets.union(&reached, &now, budget)?;
            reached = self.closure(reached, None, budget)?;
        }
        Ok(GoalRuns { reached, unreached })
    }
}

/// Computes where a goal is reached, certain and possible.
///
/// `AF f` says nothing about a path that ends before `f`. There the goal is not certain: a run that ends has not
/// reached it.
pub(super) fn goal_sets<S: StateSets>(
    sets: &mut S,
    formula: FormulaId,
    goal: Goal,
    budget: &Budget,
) -> Result<GoalSets<S::Truth>, Stop> {
    let truth = sets.truth(formula, budget)?;
    let target = sets.truth(goal.formula, budget)?;
    let elsewhere = sets.complement(&target, budget)?;
    let (target, elsewhere) = if goal.holds { (target, elsewhere) } else { (elsewhere, target) };
    if !goal.on_all_paths {
        return Ok(GoalSets { target, certain: truth.clone(), possible: truth });
    }
    let everywhere = sets.domain(budget)?;
    let possible = sets.can_reach(&everywhere, &target, budget)?;
    let dead_ends = sets.dead_ends(budget)?;
    let failed = sets.both(&dead_ends, &elsewhere, budget)?;
    let may_fail = sets.can_reach(&elsewhere, &failed, budget)?;
    let never_fails = sets.complement(&may_fail, budget)?;
    let certain = sets.both(&truth, &never_fails, budget)?;
    Ok(GoalSets { target, certain, possible })
}
