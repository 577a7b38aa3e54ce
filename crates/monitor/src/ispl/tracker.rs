//! The possible states of one log, and what is true in them.
//!
//! ```text
//! start       S = U*(I)                                         I: initial states in D
//! record      S = U*(post_actions(S) ∩ ⟦conditions⟧)            U*: closure under unseen steps
//! ```

use masque_model::steps::SelectedSteps;
use masque_model::{ExprId, PropositionId, System};
use masque_verdict::{Budget, State, Stop, Why};
use rustc_hash::FxHashMap;

use super::goal::goal_of;
use super::goal_runs::{GoalLog, GoalRuns, GoalSets, goal_sets};
use super::instead::Instead;
use super::observation::IsplObservation;
use super::sets::StateSets;
use crate::{
    Closing, EventVerdict, FactChange, GoalChange, GoalStatus, Judgement, Preview, Status, Truth, Violation,
};

/// What the monitors of one model share.
pub(super) struct Shared<'s, S: StateSets> {
    pub(super) system: &'s System,
    pub(super) sets: S,
    initial: S::Set,
    /// Steps that may happen without a record.
    pub(super) unseen: Option<SelectedSteps>,
    pub(super) goals: Vec<Named<GoalSets<S::Truth>>>,
    facts: Vec<Named<S::Truth>>,
    /// Where propositions of earlier records are true.
    propositions: FxHashMap<PropositionId, S::Truth>,
    /// The log without records.
    pub(super) empty: Log<S::Set>,
}

/// A property with its sets, or the reason why they are not known.
pub(super) struct Named<T> {
    name: String,
    pub(super) sets: Result<T, Why>,
}

/// What is known after some records.
#[derive(Clone)]
pub(super) struct Log<Set> {
    pub(super) possible: Set,
    goals: Vec<GoalLog<Set>>,
    facts: Vec<Truth>,
    n_records: u64,
}

impl<Set> Log<Set> {
    /// Whether a record is the first one and describes an initial state.
    pub(super) fn is_before_first(&self, record: &IsplObservation) -> bool {
        self.n_records == 0 && record.actions.is_empty()
    }
}

/// The judgement of a record.
pub(super) struct Judged<Set> {
    pub(super) judgement: Judgement,
    /// The log with the record, unless it is impossible.
    pub(super) next: Option<Log<Set>>,
}

impl<'s, S: StateSets> Shared<'s, S> {
    /// Computes the sets of the properties with these indices. A set that is not found within the budget makes its
    /// property unknown.
    pub(super) fn new(
        system: &'s System,
        mut sets: S,
        properties: &[usize],
        unseen: Option<ExprId>,
        budget: &Budget,
    ) -> Result<Shared<'s, S>, Stop> {
        let initial = sets.initial(budget)?;
        let (mut goals, mut facts) = (Vec::new(), Vec::new());
        let known = properties.iter().filter_map(|&index| system.properties.get(index));
        let known: Vec<_> = known.collect();
        for (index, property) in known.iter().enumerate() {
            // A property that takes long leaves time for the others, and for the log.
            let share = budget.share(known.len() - index + 1);
            let name = property.title.clone();
            if let Some(goal) = goal_of(&system.formulas, property.formula) {
                let sets = goal_sets(&mut sets, property.formula, goal, &share);
                goals.push(Named { name, sets: sets.map_err(|stop| stop.why) });
            } else {
                let truth = sets.truth(property.formula, &share);
                facts.push(Named { name, sets: truth.map_err(|stop| stop.why) });
            }
        }
        budget.check()?;
        let empty = Log { possible: initial.clone(), goals: Vec::new(), facts: Vec::new(), n_records: 0 };
        let unseen = unseen.map(SelectedSteps::With);
        let propositions = FxHashMap::default();
        let mut shared = Shared { system, sets, initial, unseen, goals, facts, propositions, empty };
        let initial = shared.initial.clone();
        let none = shared.sets.minus(&initial, &initial, budget)?;
        let runs = GoalRuns { reached: none, unreached: initial.clone() };
        let runs = shared.goals.iter().map(|_| Some(runs.clone())).collect();
        shared.empty = shared.log(&shared.empty.clone(), initial, runs, budget)?;
        shared.empty.n_records = 0;
        Ok(shared)
    }

    /// Whether some property is not decided for such a reason.
    pub(super) fn has_undecided(&self, is_reason: impl Fn(Why) -> bool) -> bool {
        let goals = self.goals.iter().filter_map(|goal| goal.sets.as_ref().err());
        let facts = self.facts.iter().filter_map(|fact| fact.sets.as_ref().err());
        goals.chain(facts).any(|&why| is_reason(why))
    }

    /// Whether no run begins in the domain.
    pub(super) fn has_no_run(&self) -> bool {
        self.sets.is_empty(&self.initial)
    }

    /// Returns the log with one more record, or why the record is impossible.
    pub(super) fn extend(
        &mut self,
        log: &Log<S::Set>,
        record: &IsplObservation,
        budget: &Budget,
    ) -> Result<Result<Log<S::Set>, Violation>, Stop> {
        let possible = self.matching(log, &log.possible, record, budget)?;
        if self.sets.is_empty(&possible) {
            let violation = Instead { shared: self, log, record, budget }.violation();
            return Ok(Err(violation.unwrap_or_else(|_| Violation::unexplained())));
        }
        let mut runs = Vec::with_capacity(log.goals.len());
        for goal in &log.goals {
            runs.push(match &goal.runs {
                None => None,
                Some(before) => Some(self.continued(log, before, record, &possible, budget)?),
            });
        }
        self.log(log, possible, runs, budget).map(Ok)
    }

    /// Returns the ends of those runs that a record continues, of runs with these ends.
    pub(super) fn matching(
        &mut self,
        log: &Log<S::Set>,
        before: &S::Set,
        record: &IsplObservation,
        budget: &Budget,
    ) -> Result<S::Set, Stop> {
        if self.sets.is_empty(before) {
            return Ok(before.clone());
        }
        let after = self.after_actions(log, before, record, budget)?;
        self.meeting(after, record, budget)
    }

    /// Returns the successors by the actions of a record; the initial states for the record of an initial state.
    pub(super) fn after_actions(
        &mut self,
        log: &Log<S::Set>,
        before: &S::Set,
        record: &IsplObservation,
        budget: &Budget,
    ) -> Result<S::Set, Stop> {
        if log.is_before_first(record) {
            return Ok(self.initial.clone());
        }
        let mut actions = record.actions.clone();
        actions.sort_unstable();
        actions.dedup();
        self.sets.image(before, &SelectedSteps::By(actions), budget)
    }

    /// Returns the members of a set that meet the conditions of a record.
    fn meeting(&mut self, set: S::Set, record: &IsplObservation, budget: &Budget) -> Result<S::Set, Stop> {
        let mut set = set;
        for &(variable, value) in &record.values {
            set = self.sets.with_value(&set, variable, value, budget)?;
        }
        for &(proposition, holds) in &record.propositions {
            set = self.with_proposition(&set, proposition, holds, budget)?;
        }
        Ok(set)
    }

    /// Returns the members of a set where a proposition has a truth value.
    pub(super) fn with_proposition(
        &mut self,
        set: &S::Set,
        proposition: PropositionId,
        holds: bool,
        budget: &Budget,
    ) -> Result<S::Set, Stop> {
        if !self.propositions.contains_key(&proposition) {
            let condition = self.system.propositions[proposition.index()].condition;
            let truth = self.sets.where_true(condition, budget)?;
            self.propositions.insert(proposition, truth);
        }
        self.sets.filter(set, &self.propositions[&proposition], holds, budget)
    }

    /// Makes the log in which runs end in `possible`, until further steps happen unseen. `runs` are the ends of these
    /// runs by the goals that were reached before.
    fn log(
        &mut self,
        before: &Log<S::Set>,
        possible: S::Set,
        runs: Vec<Option<GoalRuns<S::Set>>>,
        budget: &Budget,
    ) -> Result<Log<S::Set>, Stop> {
        let possible = self.closure(possible, None, budget)?;
        let mut goals = Vec::with_capacity(runs.len());
        for (index, runs) in runs.into_iter().enumerate() {
            let was_certain = before.goals.get(index).is_some_and(|goal| goal.was_certain);
            goals.push(self.goal(index, runs, was_certain, budget)?);
        }
        let mut facts = Vec::with_capacity(self.facts.len());
        for index in 0..self.facts.len() {
            facts.push(self.fact(index, &possible, budget)?);
        }
        Ok(Log { possible, goals, facts, n_records: before.n_records + 1 })
    }

    /// Returns a set with all states to which unseen steps lead from it; steps into the states of a goal are left
    /// out, if one is given.
    pub(super) fn closure(
        &mut self,
        set: S::Set,
        avoided: Option<usize>,
        budget: &Budget,
    ) -> Result<S::Set, Stop> {
        let Some(unseen) = self.unseen.clone() else { return Ok(set) };
        let mut all = set.clone();
        let mut new = set;
        while !self.sets.is_empty(&new) {
            let mut image = self.sets.image(&new, &unseen, budget)?;
            if let Some(goal) = avoided {
                image = self.by_target(goal, &image, false, budget)?;
            }
            new = self.sets.minus(&image, &all, budget)?;
            all = self.sets.union(&all, &new, budget)?;
        }
        Ok(all)
    }

    fn fact(&mut self, index: usize, possible: &S::Set, budget: &Budget) -> Result<Truth, Stop> {
        let truth = match &self.facts[index].sets {
            Ok(truth) => truth,
            Err(why) => return Ok(Truth::Unknown(why.to_string())),
        };
        let (inside, outside) = (
            self.sets.filter(possible, truth, true, budget)?,
            self.sets.filter(possible, truth, false, budget)?,
        );
        Ok(match (self.sets.is_empty(&inside), self.sets.is_empty(&outside)) {
            (_, true) => Truth::Certain,
            (true, false) => Truth::Impossible,
            (false, false) => Truth::Possible,
        })
    }

    /// Judges a record.
    pub(super) fn judge(
        &mut self,
        log: &Log<S::Set>,
        record: &IsplObservation,
        budget: &Budget,
    ) -> Result<Judged<S::Set>, Stop> {
        let (event, next) = match self.extend(log, record, budget)? {
            Ok(next) => (EventVerdict::Possible, Some(next)),
            Err(violation) => (EventVerdict::Violated(violation), None),
        };
        let after = next.as_ref().unwrap_or(log);
        let n_states = self.sets.count(&after.possible);
        let goals = (0..self.goals.len()).filter(|&i| after.goals[i].status != log.goals[i].status);
        let goals = goals.map(|index| self.goal_change(after, index)).collect();
        let facts = (0..self.facts.len()).filter(|&i| after.facts[i] != log.facts[i]);
        let facts = facts.map(|index| self.fact_change(after, index)).collect();
        let judgement = Judgement { event, goals, facts, obligations: Vec::new(), n_states };
        Ok(Judged { judgement, next })
    }

    /// Returns the judgement of a record that is not added.
    pub(super) fn preview(
        &mut self,
        log: &Log<S::Set>,
        record: &IsplObservation,
        budget: &Budget,
    ) -> Result<Preview, Stop> {
        let Judged { judgement, next } = self.judge(log, record, budget)?;
        let goals = next.map(|next| self.all_goals(&next)).unwrap_or_default();
        Ok(Preview { judgement, goals })
    }

    fn goal_change(&self, log: &Log<S::Set>, index: usize) -> GoalChange {
        GoalChange { goal: self.goals[index].name.clone(), status: log.goals[index].status.clone() }
    }

    fn fact_change(&self, log: &Log<S::Set>, index: usize) -> FactChange {
        FactChange { property: self.facts[index].name.clone(), truth: log.facts[index].clone() }
    }

    fn all_goals(&self, log: &Log<S::Set>) -> Vec<GoalChange> {
        (0..self.goals.len()).map(|index| self.goal_change(log, index)).collect()
    }

    /// Returns what is known after a log.
    pub(super) fn status(&self, log: &Log<S::Set>) -> Status {
        Status {
            n_states: self.sets.count(&log.possible),
            goals: self.all_goals(log),
            facts: (0..self.facts.len()).map(|index| self.fact_change(log, index)).collect(),
            obligations: Vec::new(),
            unknown: None,
        }
    }

    /// Returns what is left if the log ends here.
    pub(super) fn closing(&self, log: &Log<S::Set>) -> Closing {
        let unreached = (0..self.goals.len()).filter(|&i| log.goals[i].status != GoalStatus::Reached);
        Closing { goals: unreached.map(|index| self.goal_change(log, index)).collect(), ..Closing::default() }
    }

    /// Whether no possible state has a successor.
    pub(super) fn is_over(&mut self, log: &Log<S::Set>, budget: &Budget) -> Result<bool, Stop> {
        let next = self.sets.image(&log.possible, &SelectedSteps::By(Vec::new()), budget)?;
        Ok(self.sets.is_empty(&next))
    }

    /// Returns the first possible states in the canonical order.
    pub(super) fn first(
        &mut self,
        log: &Log<S::Set>,
        max: usize,
        budget: &Budget,
    ) -> Result<Vec<State>, Stop> {
        self.sets.first(&log.possible, max, budget)
    }
}
