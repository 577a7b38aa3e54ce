//! Models in which one agent chooses who moves.
//!
//! If each action of some agent (mostly the Environment) leaves most of the system as it is, the
//! relation is cut into one event for each such action, on the few variables that it changes. The
//! images are then local, and chained they reach the fixpoint in a few rounds.

use masque_model::{AgentId, Expr, System, VarId};
use rustc_hash::FxHashSet;

use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Limited, Set};
use crate::stages::Event;

/// An action may change at most one part in so many.
const SPARSE: usize = 3;
/// Systems of fewer parts are not worth cutting up.
const SMALL: usize = 4;

impl Encoder<'_> {
    /// The relation as events, one for each action of the agent that is named with them, if some
    /// agent's actions are sparse enough.
    pub(crate) fn scheduled(&mut self, parts: &[Part]) -> Limited<Option<(AgentId, Vec<Event>)>> {
        if parts.len() < SMALL {
            return Ok(None);
        }
        for agent in self.system.agent_ids() {
            let is_chooser = self.choices[agent.index()].as_ref().is_some_and(|choice| !choice.is_determined);
            let n_users = parts.iter().filter(|part| part.actions.contains(&agent)).count();
            if is_chooser
                && n_users * 2 > parts.len()
                && let Some(events) = self.events_of(agent, parts, &[])?
            {
                return Ok(Some((agent, events)));
            }
        }
        Ok(None)
    }

    /// One event for each action of an agent, the actions of those who are `kept` left in; none if
    /// the agent's actions are not sparse enough.
    pub(crate) fn events_of(
        &mut self,
        agent: AgentId,
        parts: &[Part],
        kept: &[AgentId],
    ) -> Limited<Option<Vec<Event>>> {
        let n_actions = self.system.agent(agent).actions.len();
        let mut touched: Vec<Vec<Part>> = vec![Vec::new(); n_actions];
        let mut n_touched = 0;
        let mentioned = mentioned_actions(self.system, agent);
        for part in parts.iter().filter(|part| !part.variables.is_empty()) {
            let kept = part.variables.iter().map(|&v| self.keeps(v)).collect::<Limited<Vec<_>>>()?;
            let kept = self.balanced(kept, true)?;
            let mut by_default: Option<Set> = None;
            for (action, parts_of_action) in touched.iter_mut().enumerate() {
                let is_mentioned =
                    part.variables.iter().any(|v| mentioned[v.index()].contains(&(action as u32)));
                let relation = match (&by_default, is_mentioned) {
                    (Some(relation), false) => relation.clone(),
                    _ => {
                        let literals =
                            self.space.has_code(&self.layout.actions[agent.index()], action as u64)?;
                        let relation = self.space.restrict(&part.relation, &literals)?;
                        if !is_mentioned {
                            by_default = Some(relation.clone());
                        }
                        relation
                    }
                };
                if relation != kept {
                    n_touched += 1;
                    parts_of_action.push(Part { relation, ..part.clone() });
                }
            }
            if n_touched > n_actions * parts.len() / SPARSE + n_actions * 2 {
                return Ok(None);
            }
        }
        let mut events = Vec::with_capacity(n_actions);
        for (action, changed) in touched.into_iter().enumerate() {
            events.push(self.event((agent, action), changed, parts, kept)?);
        }
        Ok(Some(events))
    }

    /// What happens when the agent performs an action.
    fn event(
        &mut self,
        (agent, action): (AgentId, usize),
        mut changed: Vec<Part>,
        parts: &[Part],
        kept: &[AgentId],
    ) -> Limited<Event> {
        let enabled = self.choice(agent)?.enabled[action].clone();
        let variables: Vec<VarId> = changed.iter().flat_map(|part| part.variables.iter().copied()).collect();
        for part in &mut changed {
            part.actions.retain(|other| *other != agent);
        }
        // The protocols of others who choose, as far as somebody asks.
        let asked: FxHashSet<AgentId> =
            changed.iter().flat_map(|part| part.actions.iter().copied()).collect();
        let protocols = parts
            .iter()
            .filter(|part| part.variables.is_empty() && part.actions.iter().any(|a| asked.contains(a)));
        changed.extend(protocols.cloned());
        let relation = self.merge_keeping(changed, kept)?;
        let relation = self.space.and(&relation, &enabled)?;
        Event::new(self, relation, &variables)
    }
}

/// For each variable, the agent's actions that some line assigning its owner's variables names.
fn mentioned_actions(system: &System, agent: AgentId) -> Vec<FxHashSet<u32>> {
    let mut mentioned = vec![FxHashSet::default(); system.variables.len()];
    for owner in &system.agents {
        for line in &owner.evolution {
            let mut actions = FxHashSet::default();
            let mut seen: FxHashSet<_> = [line.condition].into_iter().collect();
            let mut open = vec![line.condition];
            open.extend(line.assignments.iter().map(|(_, value)| *value));
            while let Some(id) = open.pop() {
                match system.exprs.get(id) {
                    Expr::ActionIs(of, action) if of == agent => _ = actions.insert(action.0),
                    _ => system.exprs.each_operand(id, |a| {
                        if seen.insert(a) {
                            open.push(a);
                        }
                    }),
                }
            }
            // With MultiAssignment a line decides about all of its agent's variables.
            for v in &owner.variables {
                mentioned[v.index()].extend(&actions);
            }
        }
    }
    mentioned
}
