//! The states that a formula about knowledge or norms is about.

use masque_model::{AgentId, Formula, FormulaId, GroupId, System};

/// What a formula about knowledge or norms is about: the operand, who looks, who must be green.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnowledgeScope {
    /// False iff the operand is false at some state that one of the views cannot tell from this
    /// one and where these agents are green.
    Views {
        /// Each by itself: its agents put together what they see.
        views: Vec<Vec<AgentId>>,
        /// Agents that must be green in the other state.
        green: Vec<AgentId>,
    },
    /// False iff a chain of confusions leads to a state where the operand is false.
    Chain(GroupId),
}

impl KnowledgeScope {
    /// The scope of a formula about knowledge or norms and its operand; none for any other.
    pub fn of(system: &System, formula: FormulaId) -> Option<(KnowledgeScope, FormulaId)> {
        let members = |group: GroupId| system.groups[group.index()].agents.clone();
        let views = |views, green| KnowledgeScope::Views { views, green };
        Some(match system.formulas.get(formula) {
            Formula::Knows(i, f) => (views(vec![vec![i]], vec![]), f),
            Formula::EveryoneKnows(g, f) => {
                (views(members(g).into_iter().map(|i| vec![i]).collect(), vec![]), f)
            }
            Formula::DistributedKnowledge(g, f) => (views(vec![members(g)], vec![]), f),
            Formula::KnowsUnder(i, g, f) => (views(vec![vec![i]], members(g)), f),
            Formula::Correct(i, f) => (views(vec![vec![]], vec![i]), f),
            Formula::CommonKnowledge(g, f) => (KnowledgeScope::Chain(g), f),
            _ => return None,
        })
    }
}

/// Whether an agent sees no difference between two states.
pub fn looks_same(system: &System, agent: AgentId, left: &[i64], right: &[i64]) -> bool {
    system.agent(agent).sees.iter().all(|v| left[v.index()] == right[v.index()])
}
