//! Agents with asynchronous updates: each line changes few variables, and there is no scheduler.
//!
//! With MultiAssignment an agent takes one of its enabled lines, and keeps the variables that the line
//! does not assign. If each line assigns few of its variables, and the other agents have few, the
//! relation is split into one event for all lines that assign the same variables. A single relation
//! would have to state for each group of lines that every other variable keeps its value.

use std::collections::BTreeMap;

use masque_model::{AgentId, Assignment, Line, VarId};

use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Limited, Set};
use crate::stages::Event;

/// On average, an event changes at most one variable in this many.
const MIN_VARIABLES_PER_CHANGE: usize = 3;
/// Minimum number of events into which the relation is split.
const MIN_EVENTS: usize = 4;

impl Encoder<'_> {
    /// Returns the relation as one event for each set of variables that lines of one agent assign; `None`
    /// if there is no agent with asynchronous updates.
    pub(crate) fn by_lines(&mut self) -> Limited<Option<Vec<Event>>> {
        if self.system.meaning.assignment != Assignment::Multi {
            return Ok(None);
        }
        let agent = self.system.agent_ids().find(|&agent| self.updates_asynchronously(agent));
        let Some(agent) = agent else { return Ok(None) };
        let (mut cases, idle) = self.cases(agent)?;
        cases.sort_by_key(|part| part.level);
        if !idle.is_empty() {
            cases.push(Part { relation: idle, actions: Vec::new(), variables: Vec::new(), level: 0 });
        }
        for part in &mut cases {
            part.actions = self.acting_agents(&part.relation);
        }
        let others = self.parts_without(agent)?;
        self.limit_exploration();
        let events = cases.into_iter().map(|part| self.case_event(part, &others));
        events.collect::<Limited<Vec<Event>>>().map(Some)
    }

    /// Returns whether an agent has most of the variables that change, and its lines assign few of them.
    fn updates_asynchronously(&self, agent: AgentId) -> bool {
        let is_changing = |v: &&VarId| !self.layout.is_frozen(**v);
        let agents = &self.system.agents;
        let n_all: usize = agents.iter().map(|a| a.variables.iter().filter(is_changing).count()).sum();
        let own = self.system.agent(agent);
        let n_others = n_all - own.variables.iter().filter(is_changing).count();
        let groups = groups(&own.evolution);
        let n_changed: usize = groups.keys().map(|targets| targets.len() + n_others).sum();
        groups.len() >= MIN_EVENTS && n_changed * MIN_VARIABLES_PER_CHANGE <= n_all * groups.len()
    }

    /// Encodes an agent's lines by the variables that they assign. Returns them with the set in which no
    /// line is enabled.
    fn cases(&mut self, agent: AgentId) -> Limited<(Vec<Part>, Set)> {
        let mut cases = Vec::new();
        let mut enabled = Vec::new();
        for (targets, lines) in groups(&self.system.agent(agent).evolution) {
            let mut choices = Vec::with_capacity(lines.len());
            for line in lines {
                let condition = self.condition(line.condition)?;
                let mut effects = vec![condition.clone()];
                for &(v, value) in &line.assignments {
                    effects.push(self.next_is(v, value)?);
                }
                enabled.push(condition);
                choices.push(self.balanced(effects, true)?);
            }
            let relation = self.balanced(choices, false)?;
            let bits = targets.iter().filter_map(|v| self.layout.variables[v.index()].current.first());
            let level = bits.copied().min().unwrap_or(0);
            cases.push(Part { relation, actions: Vec::new(), variables: targets, level });
        }
        let any = self.balanced(enabled, false)?;
        Ok((cases, self.space.not(&any)?))
    }

    /// Makes the event of one group of lines, together with the steps of the other agents.
    fn case_event(&self, part: Part, others: &[Part]) -> Limited<Event> {
        let changing = others.iter().filter(|other| !other.variables.is_empty());
        let mut parts: Vec<Part> = [part].into_iter().chain(changing.cloned()).collect();
        let mentioned: Vec<AgentId> = parts.iter().flat_map(|part| part.actions.iter().copied()).collect();
        let protocols = others.iter().filter(|other| other.variables.is_empty());
        let protocols = protocols.filter(|part| part.actions.iter().any(|agent| mentioned.contains(agent)));
        parts.extend(protocols.cloned());
        Event::of_clusters(self, self.merge(parts, &[])?, &[])
    }
}

/// Groups lines by the variables that they assign.
fn groups(lines: &[Line]) -> BTreeMap<Vec<VarId>, Vec<&Line>> {
    let mut groups: BTreeMap<Vec<VarId>, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        let mut targets: Vec<VarId> = line.assignments.iter().map(|(v, _)| *v).collect();
        targets.sort_unstable();
        groups.entry(targets).or_default().push(line);
    }
    groups
}
