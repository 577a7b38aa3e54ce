//! The parts of the transition relation, one for each agent or variable.
//!
//! Each agent (MultiAssignment) or variable (SingleAssignment) contributes a part that relates its
//! next values to the current state and the joint action. The protocol of an agent is another part if
//! the agent has a choice and some condition reads its action.

use masque_model::{Agent, AgentId, Assignment, ExprId, Formula, System, VarId};

use crate::cubes::Tables;
use crate::encode::{Choice, Encoder};
use crate::layout::actions_read;
use crate::space::{Bit, Limited, Set};

/// A conjunct of the transition relation: how some variables change in a step, or a protocol.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) relation: Set,
    /// The agents whose action bits it mentions.
    pub(crate) actions: Vec<AgentId>,
    /// The variables whose next values it determines; empty for a protocol.
    pub(crate) variables: Vec<VarId>,
    /// Its topmost current or action bit, by which parts are sorted.
    pub(crate) level: Bit,
}

impl Encoder<'_> {
    /// Returns the states in which every agent has an enabled action.
    pub(crate) fn alive(&mut self) -> Limited<Set> {
        let mut sets = Vec::new();
        for agent in self.system.agent_ids() {
            let enabled = self.choice(agent)?.enabled;
            sets.push(self.balanced(enabled, false)?);
        }
        sets.retain(|set| !set.is_all());
        self.balanced(sets, true)
    }

    /// Returns all parts, including protocols. They are kept if a formula needs the actions of steps.
    pub(crate) fn parts(&mut self) -> Limited<Vec<Part>> {
        if let Some(parts) = &self.parts {
            return Ok(parts.clone());
        }
        let parts = self.new_parts(None)?;
        if needs_actions(self.system) {
            self.parts = Some(parts.clone());
        }
        Ok(parts)
    }

    /// Returns all parts except that of an agent's variables.
    pub(crate) fn parts_without(&mut self, agent: AgentId) -> Limited<Vec<Part>> {
        self.new_parts(Some(agent))
    }

    fn new_parts(&mut self, without: Option<AgentId>) -> Limited<Vec<Part>> {
        let system = self.system;
        let mut parts = Vec::new();
        for agent in system.agent_ids().filter(|agent| Some(*agent) != without).map(|a| system.agent(a)) {
            match system.meaning.assignment {
                Assignment::Multi => {
                    let lines: Vec<(ExprId, &[(VarId, ExprId)])> =
                        agent.evolution.iter().map(|l| (l.condition, &l.assignments[..])).collect();
                    parts.extend(self.part(&self.changing(agent), &lines)?);
                }
                Assignment::Single => {
                    for v in self.changing(agent) {
                        let lines: Vec<(ExprId, &[(VarId, ExprId)])> = agent
                            .evolution
                            .iter()
                            .flat_map(|l| {
                                l.assignments.iter().map(|a| (l.condition, std::slice::from_ref(a)))
                            })
                            .filter(|(_, a)| a[0].0 == v)
                            .collect();
                        parts.extend(self.part(&[v], &lines)?);
                    }
                }
            }
        }
        let read = actions_read(system);
        for agent in system.agent_ids().filter(|a| !read[a.index()].is_empty()) {
            let choice = self.choice(agent)?;
            if choice.is_determined {
                continue;
            }
            let relation = self.protocol(agent, &choice)?;
            let level = self.layout.actions[agent.index()].first().copied().unwrap_or(0);
            parts.push(Part { relation, actions: vec![agent], variables: Vec::new(), level });
        }
        Ok(parts)
    }

    /// Returns the states and actions in which the protocol of an agent enables its action.
    pub(crate) fn protocol(&self, agent: AgentId, choice: &Choice) -> Limited<Set> {
        let mut sets = Vec::new();
        for (action, enabled) in choice.enabled.iter().enumerate() {
            let is_action = self.space.has_code(&self.layout.actions[agent.index()], action as u64)?;
            sets.push(self.space.and(&is_action, enabled)?);
        }
        self.balanced(sets, false)
    }

    fn changing(&self, agent: &Agent) -> Vec<VarId> {
        agent.variables.iter().copied().filter(|&v| !self.layout.is_frozen(v)).collect()
    }

    /// Encodes the lines for some variables: one of the enabled lines is taken; if none is enabled, the
    /// variables keep their values.
    ///
    /// A line whose value lies outside its variable's domain relates to no next value, which is
    /// what an overflow means: this line cannot be taken, and if all enabled lines overflow, there is no
    /// step.
    fn part(&mut self, variables: &[VarId], lines: &[(ExprId, &[(VarId, ExprId)])]) -> Limited<Option<Part>> {
        if variables.is_empty() {
            return Ok(None);
        }
        let Tables { mut enabled, mut choices, others } = self.tables(variables, lines)?;
        for (condition, assignments) in others.into_iter().map(|line| lines[line]) {
            let condition = self.condition(condition)?;
            let mut effects = vec![condition.clone()];
            for &v in variables {
                let assigned = assignments.iter().find(|(target, _)| *target == v);
                effects.push(match assigned {
                    Some((_, value)) => self.next_is(v, *value)?,
                    None => self.keeps(v)?,
                });
            }
            enabled.push(condition);
            choices.push(self.balanced(effects, true)?);
        }
        let any = self.balanced(enabled, false)?;
        let mut idle = vec![self.space.not(&any)?];
        for &v in variables {
            idle.push(self.keeps(v)?);
        }
        choices.push(self.balanced(idle, true)?);
        let relation = self.balanced(choices, false)?;
        let actions = self.acting_agents(&relation);
        let first_bits = variables.iter().filter_map(|v| self.layout.variables[v.index()].current.first());
        let level = first_bits.copied().min().unwrap_or(0);
        Ok(Some(Part { relation, actions, variables: variables.to_vec(), level }))
    }

    /// Returns the agents whose action bits a set depends on.
    pub(crate) fn acting_agents(&self, set: &Set) -> Vec<AgentId> {
        let support: rustc_hash::FxHashSet<Bit> = self.space.support(set).into_iter().collect();
        let matters =
            |agent: &AgentId| self.layout.actions[agent.index()].iter().any(|bit| support.contains(bit));
        self.system.agent_ids().filter(matters).collect()
    }

    /// Returns the relation in which a variable keeps its value.
    pub(crate) fn keeps(&self, v: VarId) -> Limited<Set> {
        let bits = &self.layout.variables[v.index()];
        self.equal_bits(&bits.current, &bits.next)
    }

    /// Returns the relation in which the next value of a variable is the current value of an expression.
    pub(crate) fn next_is(&mut self, v: VarId, value: ExprId) -> Limited<Set> {
        use masque_model::{Domain, Expr};
        let next = self.layout.variables[v.index()].next.clone();
        match self.system.exprs.get(value) {
            Expr::Number(n) => self.has_value(v, &next, n),
            Expr::Symbol(s) => self.has_value(v, &next, s.0.into()),
            Expr::Variable(w) if self.system.variable(w).domain == self.system.variable(v).domain => {
                self.variable_is(v, &next, w, &self.layout.variables[w.index()].current.clone())
            }
            Expr::Variable(w) if matches!(self.system.variable(w).domain, Domain::Values(_)) => {
                self.variable_is(v, &next, w, &self.layout.variables[w.index()].current.clone())
            }
            _ if self.system.is_boolean(value) => {
                let value = self.condition(value)?;
                self.space.iff(&self.space.bit(next[0], true)?, &value)
            }
            _ => self.next_is_number(v, &next, value),
        }
    }
}

/// Returns whether the truth of some formula depends on the actions of steps.
fn needs_actions(system: &System) -> bool {
    system.formulas.ids().any(|id| {
        matches!(
            system.formulas.get(id),
            Formula::Enforces(..) | Formula::ExistsStep(..) | Formula::ForallStep(..)
        )
    })
}
