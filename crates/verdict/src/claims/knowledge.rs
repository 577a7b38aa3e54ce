//! The states that a formula of knowledge or norms is about.

use masque_model::{AgentId, Formula, FormulaId, GroupId, System};

/// The states that a formula of knowledge or norms is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnowledgeScope {
    /// The formula is false iff the operand is false at some state that one of the views cannot distinguish
    /// from this one and at which the agents of `green` are green.
    Views {
        /// Views, each considered separately. The agents of one view combine what they see.
        views: Vec<Vec<AgentId>>,
        /// Agents that must be green at the other state.
        green: Vec<AgentId>,
    },
    /// The formula is false iff a chain leads to a state where the operand is false. Some member of the
    /// group cannot distinguish each state of the chain from the next.
    Chain(GroupId),
}

impl KnowledgeScope {
    /// Returns the scope of a formula of knowledge or norms, and its operand; `None` for any other formula.
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

/// Whether an agent cannot distinguish two states.
pub fn looks_same(system: &System, agent: AgentId, left: &[i64], right: &[i64]) -> bool {
    system.agent(agent).sees.iter().all(|v| left[v.index()] == right[v.index()])
}
