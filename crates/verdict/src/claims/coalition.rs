//! The goal of a coalition formula: on what the members' actions may depend, and what must be true before
//! the end and at the end.

use std::collections::{BTreeMap, BTreeSet};

use masque_model::steps::Step;
use masque_model::{ActionId, AgentId, Formula, FormulaId, GroupId, Strategies, System, VarId};

use crate::{Literal, State};

/// What a strategy must achieve: literals that are true before the end, and literals that are true at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoalitionGoal {
    /// Group that acts.
    pub group: GroupId,
    /// Strategies that count: what the members' actions may depend on.
    pub strategies: Strategies,
    /// When the end must come.
    pub kind: GoalKind,
    /// Literals that must be true at every state before the end.
    pub before: Vec<Literal>,
    /// Literals that must be true at the end; `None` if there is no end.
    pub end: Option<Vec<Literal>>,
}

/// When the end must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalKind {
    /// After one step.
    Next,
    /// After any number of steps, but it must come.
    Reach,
    /// After any number of steps, or never.
    Stay,
}

impl CoalitionGoal {
    /// Returns the goal of a coalition formula; `None` for any other formula.
    pub fn of(system: &System, formula: FormulaId) -> Option<CoalitionGoal> {
        let Formula::Enforces(group, strategies, path) = system.formulas.get(formula) else { return None };
        let is = |list: &[FormulaId]| list.iter().map(|&formula| Literal { formula, holds: true }).collect();
        let (kind, before, end) = match system.formulas.get(path) {
            Formula::Next(f) => (GoalKind::Next, is(&[]), Some(is(&[f]))),
            Formula::Finally(f) => (GoalKind::Reach, is(&[]), Some(is(&[f]))),
            Formula::Until(f, g) => (GoalKind::Reach, is(&[f]), Some(is(&[g]))),
            Formula::Globally(f) => (GoalKind::Stay, is(&[f]), None),
            Formula::WeakUntil(f, g) => (GoalKind::Stay, is(&[f]), Some(is(&[g]))),
            Formula::Release(f, g) => (GoalKind::Stay, is(&[g]), Some(is(&[f, g]))),
            _ => return None,
        };
        Some(CoalitionGoal { group, strategies, kind, before, end })
    }

    /// Returns the members of the group.
    pub fn members(&self, system: &System) -> Vec<AgentId> {
        system.groups[self.group.index()].agents.clone()
    }

    /// Returns the variables on which the actions of the agents of one view may depend.
    pub fn sees(&self, system: &System, agents: &[AgentId]) -> Vec<VarId> {
        match (self.strategies, agents) {
            (Strategies::Perfect, _) => system.variable_ids().collect(),
            (_, agents) => agents.iter().flat_map(|&i| system.agent(i).sees.iter().copied()).collect(),
        }
    }

    /// Returns the views at a state: members that choose together, and the values they see.
    pub fn views(&self, system: &System, state: &State) -> Vec<(Vec<AgentId>, Vec<i64>)> {
        let members = self.members(system);
        match self.strategies {
            Strategies::Perfect => vec![(members, state.clone())],
            _ => members.into_iter().map(|i| (vec![i], seen(system, i, state))).collect(),
        }
    }

    /// Returns lists of literals such that the goal is violated for good at a state if each list has a
    /// literal that is false there, given that the end has not come.
    pub fn violated_by(&self) -> Vec<&[Literal]> {
        match self.kind {
            GoalKind::Next => self.end.iter().map(Vec::as_slice).collect(),
            GoalKind::Reach | GoalKind::Stay => {
                std::iter::once(self.before.as_slice()).chain(self.end.iter().map(Vec::as_slice)).collect()
            }
        }
    }
}

/// Values that an agent sees at a state.
fn seen(system: &System, agent: AgentId, state: &[i64]) -> Vec<i64> {
    system.agent(agent).sees.iter().map(|v| state[v.index()]).collect()
}

/// A choice of actions by a group, and the states it may lead to.
#[derive(Clone, Debug)]
pub struct GroupChoice {
    /// Actions of the members, in their order; `None` for the loop of a dead end.
    pub actions: Option<Vec<ActionId>>,
    /// Numbers of the states it may lead to, increasing.
    pub targets: Vec<u32>,
    /// Whether a step follows for all actions of the others.
    pub is_total: bool,
}

/// Returns the choices of a group at a state with these steps.
pub fn group_choices(members: &[AgentId], steps: &[Step]) -> Vec<GroupChoice> {
    let mut found: BTreeMap<Option<Vec<ActionId>>, (BTreeSet<u32>, bool)> = BTreeMap::new();
    for Step { joint, targets } in steps {
        let actions = joint.as_ref().map(|joint| members.iter().map(|i| joint[i.index()]).collect());
        let entry = found.entry(actions).or_insert((BTreeSet::new(), true));
        entry.0.extend(targets);
        entry.1 &= !targets.is_empty();
    }
    let choice = |(actions, (targets, is_total)): (_, (BTreeSet<u32>, bool))| GroupChoice {
        actions,
        targets: targets.into_iter().collect(),
        is_total,
    };
    found.into_iter().map(choice).collect()
}

/// Returns the members' actions in a step; `None` for the loop of a dead end.
pub fn chosen_in(members: &[AgentId], step: &Step) -> Option<Vec<ActionId>> {
    step.joint.as_ref().map(|joint| members.iter().map(|i| joint[i.index()]).collect())
}
