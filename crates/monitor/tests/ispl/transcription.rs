//! The definition of the possible states of an interpreted system, transcribed: explicit and slow.
//!
//! A run is a sequence of steps in the domain, from an initial state. The records of a log are matched with its steps
//! in order; steps without a record must meet the condition `unseen`. What matters of a run is its end and which goals
//! were reached on it, so a set of runs is a set of such pairs.

use std::collections::BTreeSet;

use masque_model::semantics::{Structure, domain, explore, is_true, joint_actions, step, truth_sets};
use masque_model::{ActionId, AgentId, Deadlock, ExprId, PropositionId, System, VarId};
use masque_verdict::State;

use masque_monitor::ispl::{Goal, IsplObservation, goal_of};
use masque_monitor::{GoalStatus, Truth};

/// What matters of some runs: the end of each, and whether each goal was reached on it.
pub(super) type Runs = BTreeSet<(usize, Vec<bool>)>;

/// The truth definition applied to logs of one system.
pub(super) struct Reference<'s> {
    system: &'s System,
    unseen: Option<ExprId>,
    structure: Structure,
    domain: Vec<bool>,
    /// Steps of each state: the joint action, unless it is the loop of a dead end, and the successor.
    steps: Vec<Vec<(Option<Vec<ActionId>>, usize)>>,
    goals: Vec<GoalTruth>,
    facts: Vec<(String, Option<Vec<bool>>)>,
}

/// Where a goal is reached, certain and possible; nothing if the definition does not apply to it.
struct GoalTruth {
    name: String,
    sets: Option<[Vec<bool>; 3]>,
}

impl<'s> Reference<'s> {
    /// Explores a system with at most this number of states. Returns `None` if there are more, or if some fairness
    /// constraint is unsupported.
    pub(super) fn new(
        system: &'s System,
        unseen: Option<ExprId>,
        max_states: usize,
    ) -> Option<Reference<'s>> {
        let structure = explore(system, max_states)?;
        let domain = domain(&structure, system)?;
        let steps = (0..structure.n_states()).map(|index| steps(system, &structure, index)).collect();
        let mut reference =
            Reference { system, unseen, structure, domain, steps, goals: Vec::new(), facts: Vec::new() };
        let formulas = system.properties.iter().map(|property| property.formula);
        let truths = truth_sets(&reference.structure, system, formulas);
        for (property, truth) in system.properties.iter().zip(truths) {
            let name = property.title.clone();
            match goal_of(&system.formulas, property.formula) {
                None => reference.facts.push((name, truth)),
                Some(goal) => {
                    let sets = reference.goal_sets(goal, truth);
                    reference.goals.push(GoalTruth { name, sets });
                }
            }
        }
        Some(reference)
    }

    fn goal_sets(&self, goal: Goal, certain: Option<Vec<bool>>) -> Option<[Vec<bool>; 3]> {
        let certain = certain?;
        let truth = truth_sets(&self.structure, self.system, [goal.formula]).pop()??;
        let target: Vec<bool> =
            truth.iter().zip(&self.domain).map(|(&truth, &inside)| inside && truth == goal.holds).collect();
        if !goal.on_all_paths {
            return Some([target, certain.clone(), certain]);
        }
        let may_fail = self.may_end_outside(&target);
        let is_certain = certain.iter().zip(may_fail).map(|(&certain, may_fail)| certain && !may_fail);
        Some([target.clone(), is_certain.collect(), self.can_reach(&target)])
    }

    /// States from which a path in the domain ends before it reaches a target.
    fn may_end_outside(&self, target: &[bool]) -> Vec<bool> {
        let outside = |state: usize| self.domain[state] && !target[state];
        let mut found: Vec<bool> =
            (0..target.len()).map(|state| outside(state) && self.steps(state).next().is_none()).collect();
        loop {
            let before = found.clone();
            for state in (0..target.len()).filter(|&state| outside(state)) {
                found[state] |= self.steps(state).any(|(_, next)| before[next]);
            }
            if found == before {
                return found;
            }
        }
    }

    /// States of the domain from which a path in the domain leads to a target.
    fn can_reach(&self, target: &[bool]) -> Vec<bool> {
        let mut reached = target.to_vec();
        loop {
            let before = reached.clone();
            for (state, steps) in self.steps.iter().enumerate() {
                reached[state] |= self.domain[state] && steps.iter().any(|&(_, next)| before[next]);
            }
            if reached == before {
                return reached;
            }
        }
    }

    /// Returns the reachable states, by index.
    pub(super) fn states(&self) -> &[State] {
        &self.structure.states
    }

    /// Whether a state is in the domain.
    pub(super) fn is_inside(&self, state: usize) -> bool {
        self.domain[state]
    }

    /// Returns the steps of a state inside the domain.
    pub(super) fn steps(&self, state: usize) -> impl Iterator<Item = (Option<&[ActionId]>, usize)> {
        let inside = self.steps[state].iter().filter(|(_, next)| self.domain[*next]);
        inside.map(|(joint, next)| (joint.as_deref(), *next))
    }

    /// Returns the runs of no steps.
    pub(super) fn initial(&self) -> Runs {
        let starts = (0..self.structure.n_states()).filter(|&s| self.structure.initial[s] && self.domain[s]);
        starts.map(|state| (state, self.reached(state, &vec![false; self.goals.len()]))).collect()
    }

    /// Returns which goals are reached on a run that is extended by a state.
    fn reached(&self, state: usize, before: &[bool]) -> Vec<bool> {
        let is_target = |(goal, &before): (&GoalTruth, &bool)| {
            before || goal.sets.as_ref().is_some_and(|sets| sets[0][state])
        };
        self.goals.iter().zip(before).map(is_target).collect()
    }

    /// Whether a step may happen without a record.
    pub(super) fn may_be_unseen(&self, state: usize, joint: Option<&[ActionId]>) -> bool {
        match (self.unseen, joint) {
            (Some(condition), Some(joint)) => {
                is_true(self.system, condition, &self.structure.states[state], joint)
            }
            _ => false,
        }
    }

    /// Returns the runs of the empty log: those whose steps are all unseen.
    pub(super) fn start(&self) -> Runs {
        self.with_unseen_steps(self.initial())
    }

    /// Adds all runs that continue these with unseen steps.
    fn with_unseen_steps(&self, mut runs: Runs) -> Runs {
        let mut open: Vec<(usize, Vec<bool>)> = runs.iter().cloned().collect();
        while let Some((state, reached)) = open.pop() {
            for (joint, next) in self.steps(state) {
                if self.may_be_unseen(state, joint) {
                    let longer = (next, self.reached(next, &reached));
                    if runs.insert(longer.clone()) {
                        open.push(longer);
                    }
                }
            }
        }
        runs
    }

    /// Returns the runs that match a log with one more record; none if it is violated. The first record describes an
    /// initial state if it has no actions.
    pub(super) fn extend(&self, runs: &Runs, is_first: bool, record: &IsplObservation) -> Runs {
        let mut longer = Runs::new();
        if is_first && record.actions.is_empty() {
            longer = self.initial();
        } else {
            for (state, reached) in runs {
                for (joint, next) in self.steps(*state) {
                    let performed = |&(agent, action): &(AgentId, ActionId)| {
                        joint.is_some_and(|joint| joint[agent.index()] == action)
                    };
                    if record.actions.iter().all(performed) {
                        longer.insert((next, self.reached(next, reached)));
                    }
                }
            }
        }
        longer.retain(|(state, _)| self.meets(*state, record));
        self.with_unseen_steps(longer)
    }

    /// Whether a state meets the conditions of a record.
    fn meets(&self, state: usize, record: &IsplObservation) -> bool {
        let state = &self.structure.states[state];
        let has_value = |&(variable, value): &(VarId, i64)| state[variable.index()] == value;
        let is_as_said = |&(proposition, holds): &(PropositionId, bool)| {
            is_true(self.system, self.system.propositions[proposition.index()].condition, state, &[]) == holds
        };
        record.values.iter().all(has_value) && record.propositions.iter().all(is_as_said)
    }

    /// Returns the ends of runs in the canonical order of states.
    pub(super) fn possible_states(&self, runs: &Runs) -> Vec<State> {
        let ends: BTreeSet<usize> = runs.iter().map(|(state, _)| *state).collect();
        let mut states: Vec<State> =
            ends.into_iter().map(|state| self.structure.states[state].clone()).collect();
        states.sort_by(|a, b| masque_verdict::compare_states(self.system, a, b));
        states
    }

    /// Returns the truth of each property that is no goal, by name; `None` where the definition does not apply.
    pub(super) fn facts(&self, runs: &Runs) -> Vec<(String, Option<Truth>)> {
        let truth = |truth: &Vec<bool>| {
            let holds: BTreeSet<bool> = runs.iter().map(|(state, _)| truth[*state]).collect();
            match (holds.contains(&true), holds.contains(&false)) {
                (true, true) => Truth::Possible,
                (false, true) => Truth::Impossible,
                (_, false) => Truth::Certain,
            }
        };
        self.facts.iter().map(|(name, set)| (name.clone(), set.as_ref().map(truth))).collect()
    }

    /// Returns the status of each goal after the last of a sequence of logs, each with one record more than the one
    /// before; `None` where the definition does not apply.
    pub(super) fn goals(&self, history: &[Runs]) -> Vec<(String, Option<GoalStatus>)> {
        let status = |index: usize, [_, certain, possible]: &[Vec<bool>; 3]| {
            let is_certain =
                |runs: &Runs| runs.iter().all(|(state, reached)| reached[index] || certain[*state]);
            let is_reached = |runs: &Runs| runs.iter().all(|(_, reached)| reached[index]);
            let is_lost =
                |runs: &Runs| runs.iter().all(|(state, reached)| !reached[index] && !possible[*state]);
            let Some(now) = history.last() else { return GoalStatus::Possible };
            if is_reached(now) {
                GoalStatus::Reached
            } else if is_certain(now) {
                GoalStatus::Certain
            } else if is_lost(now) {
                GoalStatus::Lost
            } else if history.iter().any(is_certain) {
                GoalStatus::AtRisk
            } else {
                GoalStatus::Possible
            }
        };
        let goals = self.goals.iter().enumerate();
        goals
            .map(|(index, goal)| (goal.name.clone(), goal.sets.as_ref().map(|sets| status(index, sets))))
            .collect()
    }
}

/// Lists the steps of a state by the definition.
fn steps(system: &System, structure: &Structure, index: usize) -> Vec<(Option<Vec<ActionId>>, usize)> {
    let state = &structure.states[index];
    let mut steps = Vec::new();
    for joint in joint_actions(system, state) {
        for next in step(system, state, &joint).successors {
            if let Some(next) = structure.index_of(&next) {
                steps.push((Some(joint.clone()), next));
            }
        }
    }
    if steps.is_empty() && system.meaning.deadlock == Deadlock::Stutter {
        steps.push((None, index));
    }
    steps
}
