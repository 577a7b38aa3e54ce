//! What a belief says about goals, other properties and obligation instances.

use std::sync::Arc;

use masque_verdict::{Budget, Stop};

use super::belief::{Belief, BeliefId, census};
use super::engine::{Engine, least_cut};
use super::history::{Instance, Reached};
use super::truths::Answer;
use crate::{GoalStatus, Truth};

/// How far a run is from a goal, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outlook {
    Impossible,
    Possible,
    Certain,
    Reached,
}

/// What the earlier events of a log say about a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Past {
    #[default]
    NeverCertain,
    WasCertain,
    /// Every run had reached it.
    Reached,
    /// It was impossible on every run.
    Lost,
}

/// What is known of a goal: on all runs at least the first, on no run more than the second of each pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoalView {
    /// The least and the greatest lower bound of the runs.
    low: [Outlook; 2],
    /// The least and the greatest upper bound of the runs.
    high: [Outlook; 2],
    /// A bound on which the difference depends.
    unknown: Option<&'static str>,
}

/// What a belief says.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) n_states: u64,
    pub(super) goals: Vec<GoalView>,
    pub(super) facts: Vec<Truth>,
    /// The instances that some run owes, sorted, and whether all do.
    pub(super) owed: Vec<(Instance, bool)>,
    pub(super) cut: Option<&'static str>,
}

/// Explains a bound.
pub(super) fn beyond(bound: &str) -> String {
    format!("what lies beyond the bound `{bound}` is not known")
}

impl GoalView {
    fn new() -> GoalView {
        GoalView {
            low: [Outlook::Reached, Outlook::Impossible],
            high: [Outlook::Reached, Outlook::Impossible],
            unknown: None,
        }
    }

    /// Adds a run whose outlook lies between two bounds.
    fn add(&mut self, low: Outlook, high: Outlook, unknown: Option<&'static str>) {
        self.low = [self.low[0].min(low), self.low[1].max(low)];
        self.high = [self.high[0].min(high), self.high[1].max(high)];
        self.unknown = least_cut(self.unknown, unknown);
    }

    /// The status of the goal after a log with this past.
    pub(super) fn status(&self, past: Past) -> GoalStatus {
        match past {
            Past::Reached => return GoalStatus::Reached,
            Past::Lost => return GoalStatus::Lost,
            Past::NeverCertain | Past::WasCertain => {}
        }
        let ([low_min, low_max], [high_min, high_max]) = (self.low, self.high);
        if low_min == Outlook::Reached {
            GoalStatus::Reached
        } else if low_min == Outlook::Certain && high_min == Outlook::Certain {
            GoalStatus::Certain
        } else if high_max == Outlook::Impossible {
            GoalStatus::Lost
        } else if low_max >= Outlook::Possible && high_min <= Outlook::Possible {
            if past == Past::WasCertain { GoalStatus::AtRisk } else { GoalStatus::Possible }
        } else {
            let on_the_way = || "a bound hides whether a state on the way satisfies it".to_string();
            GoalStatus::Unknown(self.unknown.map_or_else(on_the_way, beyond))
        }
    }

    /// The past of the goal for the events that follow.
    pub(super) fn past(&self, before: Past) -> Past {
        match self.status(before) {
            GoalStatus::Reached => Past::Reached,
            GoalStatus::Lost => Past::Lost,
            _ if self.low[0] >= Outlook::Certain => Past::WasCertain,
            _ => before,
        }
    }
}

impl Engine {
    /// Returns what a belief says.
    pub(super) fn summary(&mut self, id: BeliefId, budget: &Budget) -> Result<Arc<Summary>, Stop> {
        if let Some(known) = self.summaries.get(&id) {
            return Ok(Arc::clone(known));
        }
        budget.check()?;
        let belief = self.belief(id).clone();
        let goals = (0..self.spec.goals.len()).map(|goal| self.goal(&belief, goal, budget));
        let goals = goals.collect::<Result<Vec<_>, _>>()?;
        let facts = (0..self.spec.facts.len()).map(|fact| self.fact(&belief, fact, budget));
        let facts = facts.collect::<Result<Vec<_>, _>>()?;
        let n_runs = belief.pairs.len();
        let counts = census(&self.histories, &belief.pairs);
        let owed: Vec<(Instance, bool)> = counts
            .into_iter()
            .map(|(instance, census)| (instance, census.owed == n_runs && belief.cut.is_none()))
            .collect();
        let n_states = belief.states().count() as u64;
        let summary = Arc::new(Summary { n_states, goals, facts, owed, cut: belief.cut });
        self.summary_bytes += size_of::<Summary>()
            + 64
            + summary.goals.len() * size_of::<GoalView>()
            + summary.facts.len() * (size_of::<Truth>() + 32)
            + summary.owed.len() * size_of::<(Instance, bool)>();
        self.summaries.insert(id, Arc::clone(&summary));
        Ok(summary)
    }

    fn goal(&mut self, belief: &Belief, index: usize, budget: &Budget) -> Result<GoalView, Stop> {
        let (certain, possible) = (self.spec.goals[index].certain, self.spec.goals[index].possible);
        let mut view = GoalView::new();
        if let Some(bound) = belief.cut {
            view.add(Outlook::Impossible, Outlook::Reached, Some(bound));
        }
        for &(state, history) in &belief.pairs {
            let reached = self.histories.get(history).reached[index];
            if reached == Reached::Yes {
                view.add(Outlook::Reached, Outlook::Reached, None);
                continue;
            }
            let (mut low, mut high, mut unknown) = (Outlook::Impossible, Outlook::Certain, None);
            match self.answer(certain, state, budget)? {
                Answer::True => low = Outlook::Certain,
                Answer::False => high = Outlook::Possible,
                Answer::Unknown(bound) => unknown = Some(bound),
            }
            if low != Outlook::Certain {
                match self.answer(possible, state, budget)? {
                    Answer::True => low = Outlook::Possible,
                    Answer::False => high = Outlook::Impossible,
                    Answer::Unknown(bound) => unknown = least_cut(unknown, Some(bound)),
                }
            }
            if reached == Reached::Maybe {
                high = Outlook::Reached;
            }
            view.add(low, high, unknown);
        }
        Ok(view)
    }

    fn fact(&mut self, belief: &Belief, index: usize, budget: &Budget) -> Result<Truth, Stop> {
        let question = self.spec.facts[index].1;
        let (mut is_true, mut is_false, mut unknown) = (false, false, belief.cut);
        for state in belief.states() {
            match self.answer(question, state, budget)? {
                Answer::True => is_true = true,
                Answer::False => is_false = true,
                Answer::Unknown(bound) => unknown = least_cut(unknown, Some(bound)),
            }
        }
        Ok(match (is_true, is_false, unknown) {
            (true, true, _) => Truth::Possible,
            (_, _, Some(bound)) => Truth::Unknown(beyond(bound)),
            (true, false, None) => Truth::Certain,
            (false, _, None) => Truth::Impossible,
        })
    }
}
