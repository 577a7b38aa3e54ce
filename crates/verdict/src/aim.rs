//! What a coalition's formula asks for: who acts on what they see, what must be so on the way and at
//! the end.

use masque_model::{AgentId, Formula, FormulaId, GroupId, Strategies, System, VarId};

use crate::{Literal, State};

/// What a strategy must do: what is so before the end, and at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aim {
    pub(crate) group: GroupId,
    pub(crate) strategies: Strategies,
    pub(crate) kind: Kind,
    /// So at every state before the end.
    pub(crate) before: Vec<Literal>,
    /// So at the end; none if there is no end.
    pub(crate) end: Option<Vec<Literal>>,
}

/// When the end must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// After one step.
    Next,
    /// At some time.
    Reach,
    /// It need not.
    Stay,
}

impl Aim {
    /// The aim of a coalition's formula; none for any other formula.
    pub(crate) fn of(system: &System, formula: FormulaId) -> Option<Aim> {
        let Formula::Enforces(group, strategies, path) = system.formulas.get(formula) else { return None };
        let is = |list: &[FormulaId]| list.iter().map(|&formula| Literal { formula, holds: true }).collect();
        let (kind, before, end) = match system.formulas.get(path) {
            Formula::Next(f) => (Kind::Next, is(&[]), Some(is(&[f]))),
            Formula::Finally(f) => (Kind::Reach, is(&[]), Some(is(&[f]))),
            Formula::Until(f, g) => (Kind::Reach, is(&[f]), Some(is(&[g]))),
            Formula::Globally(f) => (Kind::Stay, is(&[f]), None),
            Formula::WeakUntil(f, g) => (Kind::Stay, is(&[f]), Some(is(&[g]))),
            Formula::Release(f, g) => (Kind::Stay, is(&[g]), Some(is(&[f, g]))),
            _ => return None,
        };
        Some(Aim { group, strategies, kind, before, end })
    }

    pub(crate) fn members(&self, system: &System) -> Vec<AgentId> {
        system.groups[self.group.index()].agents.clone()
    }

    /// What the agents of one view see.
    pub(crate) fn sees(&self, system: &System, agents: &[AgentId]) -> Vec<VarId> {
        match (self.strategies, agents) {
            (Strategies::Perfect, _) => system.variable_ids().collect(),
            (_, agents) => agents.iter().flat_map(|&i| system.agent(i).sees.iter().copied()).collect(),
        }
    }

    /// What decides the actions at a state: the members that decide together, and what they see.
    pub(crate) fn views(&self, system: &System, state: &State) -> Vec<(Vec<AgentId>, Vec<i64>)> {
        let members = self.members(system);
        match self.strategies {
            Strategies::Perfect => vec![(members, state.clone())],
            _ => members.into_iter().map(|i| (vec![i], seen(system, i, state))).collect(),
        }
    }
}

impl Aim {
    /// Of each list one literal must be false where the goal is violated for good, given that the end
    /// has not come.
    pub(crate) fn violated_by(&self) -> Vec<&[Literal]> {
        match self.kind {
            Kind::Next => self.end.iter().map(Vec::as_slice).collect(),
            Kind::Reach | Kind::Stay => {
                std::iter::once(self.before.as_slice()).chain(self.end.iter().map(Vec::as_slice)).collect()
            }
        }
    }
}

/// What an agent sees of a state.
pub(crate) fn seen(system: &System, agent: AgentId, state: &[i64]) -> Vec<i64> {
    system.agent(agent).sees.iter().map(|v| state[v.index()]).collect()
}
