//! Small systems built by hand, and tables of the formulas that are true in them.

mod ctl;
mod fairness;
mod fixpoints;
mod games;
mod knowledge;
mod paths;
mod steps;
mod strategies;
mod worlds;

use masque_text::Span;

use crate::*;

/// A system under construction: no agent, no variable, `InitStates true`.
fn empty(assignment: Assignment) -> System {
    System::new(Meaning { assignment, deadlock: Deadlock::Finite, overflow: Overflow::Drop })
}

/// Helpers for building systems.
impl System {
    /// Adds an agent without variables, unconstrained in its actions.
    fn add_agent(&mut self, name: &str, actions: &[&str]) -> AgentId {
        self.agents.push(Agent {
            name: name.to_string(),
            variables: Vec::new(),
            sees: Vec::new(),
            actions: actions.iter().map(|a| Action { name: a.to_string() }).collect(),
            protocol: Protocol::Unconstrained,
            evolution: Vec::new(),
            red: None,
            span: Span::default(),
        });
        AgentId(self.agents.len() as u32 - 1)
    }

    /// Adds a variable that its owner alone sees.
    fn add_variable(&mut self, owner: AgentId, name: &str, domain: Domain) -> VarId {
        let variable = VarId(self.variables.len() as u32);
        self.variables.push(Variable { name: name.to_string(), owner, domain, span: Span::default() });
        self.agents[owner.index()].variables.push(variable);
        self.agents[owner.index()].sees.push(variable);
        variable
    }

    /// Adds an evolution line.
    fn add_line(&mut self, agent: AgentId, assignments: &[(VarId, ExprId)], condition: ExprId) {
        let line = Line { assignments: assignments.to_vec(), condition, span: Span::default() };
        self.agents[agent.index()].evolution.push(line);
    }

    /// Gives an agent a protocol of lines.
    fn set_protocol(&mut self, agent: AgentId, lines: &[(ExprId, &[ActionId])], other: Option<&[ActionId]>) {
        let line = |&(condition, actions): &(ExprId, &[ActionId])| ProtocolLine {
            condition,
            actions: actions.to_vec(),
            span: Span::default(),
        };
        self.agents[agent.index()].protocol =
            Protocol::Lines { lines: lines.iter().map(line).collect(), other: other.map(<[_]>::to_vec) };
    }

    /// `variable = number`
    fn is(&mut self, variable: VarId, number: i64) -> ExprId {
        let (left, right) = (self.exprs.variable(variable), self.exprs.number(number));
        self.exprs.compare(Relation::Equal, left, right)
    }

    /// `variable = n1 or variable = n2 or ..`
    fn is_one_of(&mut self, variable: VarId, numbers: &[i64]) -> ExprId {
        let options = numbers.iter().map(|&n| self.is(variable, n)).collect();
        self.exprs.or(options)
    }
}
