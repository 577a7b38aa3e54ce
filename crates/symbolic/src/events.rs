//! Models with a scheduler: one agent chooses who moves.
//!
//! If each action of some agent (usually the Environment) leaves most of the system unchanged, the
//! relation is split into one event for each such action, on the few variables that it changes. The
//! images are then local, and chained they reach the fixpoint in a few rounds.

use masque_model::{AgentId, Expr, System, VarId};
use rustc_hash::FxHashSet;

use crate::encode::Encoder;
use crate::parts::Part;
use crate::space::{Limited, Set};
use crate::stages::Event;

/// On average, an action of a scheduler changes at most one part in this many.
const MIN_PARTS_PER_CHANGE: usize = 3;
/// Minimum number of parts of a system that is split into events.
const MIN_PARTS: usize = 4;

impl Encoder<'_> {
    /// Returns a scheduler and the relation as one event for each of its actions; `None` if there is no
    /// agent whose actions change few enough parts.
    pub(crate) fn scheduled(&mut self, parts: &[Part]) -> Limited<Option<(AgentId, Vec<Event>)>> {
        if parts.len() < MIN_PARTS {
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

    /// Returns one event for each action of an agent, which keeps the actions of the `kept` agents; `None`
    /// if the agent's actions change too many parts.
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
                    let actions = part.actions.iter().copied().filter(|other| *other != agent).collect();
                    parts_of_action.push(Part { relation, actions, ..part.clone() });
                }
            }
            if n_touched > n_actions * parts.len() / MIN_PARTS_PER_CHANGE + n_actions * 2 {
                return Ok(None);
            }
        }
        let mut events = Vec::with_capacity(n_actions);
        for (action, changed) in touched.into_iter().enumerate() {
            let enabled = self.choice(agent)?.enabled[action].clone();
            events.push(self.event(&enabled, changed, parts, kept)?);
        }
        Ok(Some(events))
    }

    /// Makes the event of one action of the scheduler from the states that enable it and the parts that
    /// it changes.
    fn event(
        &mut self,
        enabled: &Set,
        mut changed: Vec<Part>,
        parts: &[Part],
        kept: &[AgentId],
    ) -> Limited<Event> {
        let variables: Vec<VarId> = changed.iter().flat_map(|part| part.variables.iter().copied()).collect();
        // The protocols of the other agents whose actions the changed parts mention.
        let mentioned: FxHashSet<AgentId> =
            changed.iter().flat_map(|part| part.actions.iter().copied()).collect();
        let protocols = parts
            .iter()
            .filter(|part| part.variables.is_empty() && part.actions.iter().any(|a| mentioned.contains(a)));
        changed.extend(protocols.cloned());
        let relation = self.merge_keeping(changed, kept)?;
        let relation = self.space.and(&relation, enabled)?;
        Event::new(self, relation, &variables)
    }
}

/// Returns for each variable the agent's actions that occur in lines of the variable's owner.
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
            // With MultiAssignment a line determines all of its agent's variables.
            for v in &owner.variables {
                mentioned[v.index()].extend(&actions);
            }
        }
    }
    mentioned
}
