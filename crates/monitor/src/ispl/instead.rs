//! What was possible instead of a record that no run continues with.
//!
//! If no step has the actions of the record, these are the actions of the same agents that some step has. Otherwise
//! these are the values, after steps with these actions, of what the record mentions.

use masque_model::steps::{Product, SelectedSteps};
use masque_model::{ActionId, AgentId, Protocol};
use masque_text::Span;
use masque_verdict::{Budget, Stop};

use super::observation::IsplObservation;
use super::sets::StateSets;
use super::tracker::{Log, Shared};
use super::vocabulary::{Entry, entry_text};
use crate::{Reason, Violation};

/// Maximum number of possibilities that are shown.
const MAX_SHOWN: usize = 8;

/// Maximum number of joint actions that are tried. If there are more, the actions of each agent are tried alone.
const MAX_TRIED: u64 = 64;

/// A record that is impossible after a log.
pub(super) struct Instead<'a, 's, S: StateSets> {
    pub(super) shared: &'a mut Shared<'s, S>,
    pub(super) log: &'a Log<S::Set>,
    pub(super) record: &'a IsplObservation,
    pub(super) budget: &'a Budget,
}

impl<S: StateSets> Instead<'_, '_, S> {
    /// Returns why the record is impossible, and what was possible.
    pub(super) fn violation(mut self) -> Result<Violation, Stop> {
        let after = self.shared.after_actions(self.log, &self.log.possible, self.record, self.budget)?;
        if !self.shared.sets.is_empty(&after) {
            return self.other_values(&after);
        }
        let any = self.image(Vec::new())?;
        if self.shared.sets.is_empty(&any) {
            let text = "no possible state has a successor: the run is over".to_string();
            return Ok(Violation { instead: Vec::new(), because: vec![Reason { text, rules: Vec::new() }] });
        }
        Ok(Violation { because: self.forbidden_actions()?, instead: self.other_actions()? })
    }

    fn image(&mut self, actions: Vec<(AgentId, ActionId)>) -> Result<S::Set, Stop> {
        let Instead { shared, log, budget, .. } = self;
        shared.sets.image(&log.possible, &SelectedSteps::By(actions), budget)
    }

    fn text(&self, entry: Entry) -> String {
        entry_text(self.shared.system, entry)
    }

    /// Returns which actions of the record no possible state enables, or else that no step has them together.
    fn forbidden_actions(&mut self) -> Result<Vec<Reason>, Stop> {
        let mut reasons = Vec::new();
        for &(agent, action) in &self.record.actions {
            let Instead { shared, log, budget, .. } = self;
            let enabling = shared.sets.enabling(&log.possible, agent, action, budget)?;
            if shared.sets.is_empty(&enabling) {
                let name = &shared.system.agent(agent).actions[action.index()].name;
                let owner = &shared.system.agent(agent).name;
                let text = format!("the protocol of `{owner}` does not allow `{name}` in any possible state");
                reasons.push(Reason { text, rules: self.lines_with(agent, action) });
            }
        }
        if reasons.is_empty() {
            let actions = self.record.actions.iter().map(|&(agent, action)| Entry::Action(agent, action));
            let actions: Vec<String> = actions.map(|entry| format!("`{}`", self.text(entry))).collect();
            let actions = actions.join(" and ");
            let selected = SelectedSteps::By(self.record.actions.clone());
            let Instead { shared, log, budget, .. } = self;
            let text = if shared.sets.leaves_domain(&log.possible, &selected, budget)? {
                format!("no fair path continues after a step with {actions}")
            } else {
                format!("no possible step has {actions}")
            };
            reasons.push(Reason { text, rules: Vec::new() });
        }
        Ok(reasons)
    }

    /// Returns the spans of an agent's protocol lines that allow an action.
    fn lines_with(&self, agent: AgentId, action: ActionId) -> Vec<Span> {
        match &self.shared.system.agent(agent).protocol {
            Protocol::Unconstrained => Vec::new(),
            Protocol::Lines { lines, .. } => {
                lines.iter().filter(|line| line.actions.contains(&action)).map(|line| line.span).collect()
            }
        }
    }

    /// Returns the actions that the agents of the record may perform instead, in a step that exists.
    fn other_actions(&mut self) -> Result<Vec<String>, Stop> {
        let mut agents: Vec<AgentId> = self.record.actions.iter().map(|(agent, _)| *agent).collect();
        agents.sort_unstable();
        agents.dedup();
        let lists = agents.iter().map(|&agent| self.all_actions(agent)).collect();
        let joint = Product { lists };
        let mut shown = Vec::new();
        if joint.count().to_u64().is_some_and(|n| n <= MAX_TRIED) {
            for actions in joint.iter() {
                self.show_if_possible(agents.iter().copied().zip(actions).collect(), &mut shown)?;
            }
        } else {
            for &agent in &agents {
                for action in self.all_actions(agent) {
                    self.show_if_possible(vec![(agent, action)], &mut shown)?;
                }
            }
        }
        Ok(shown)
    }

    fn all_actions(&self, agent: AgentId) -> Vec<ActionId> {
        (0..self.shared.system.agent(agent).actions.len() as u32).map(ActionId).collect()
    }

    /// Adds the text of some actions if a step has them.
    fn show_if_possible(
        &mut self,
        actions: Vec<(AgentId, ActionId)>,
        shown: &mut Vec<String>,
    ) -> Result<(), Stop> {
        if shown.len() > MAX_SHOWN {
            return Ok(());
        }
        let texts: Vec<String> = actions.iter().map(|&(a, b)| self.text(Entry::Action(a, b))).collect();
        let image = self.image(actions)?;
        if !self.shared.sets.is_empty(&image) {
            shown.push(if shown.len() == MAX_SHOWN { "others".to_string() } else { texts.join(", ") });
        }
        Ok(())
    }

    /// Returns what is possible after steps with the actions of the record: the values of what it mentions.
    fn other_values(&mut self, after: &S::Set) -> Result<Violation, Stop> {
        let mut instead = Vec::new();
        let mut rest = after.clone();
        while let Some(state) = self.shared.sets.least(&rest, self.budget)? {
            if instead.len() == MAX_SHOWN {
                instead.push("others".to_string());
                break;
            }
            let mut alike = rest.clone();
            let mut texts = Vec::new();
            for condition in self.conditions() {
                let found = match condition {
                    Entry::Value(variable, _) => Entry::Value(variable, state[variable.index()]),
                    other => self.as_in(&alike, &state, other)?,
                };
                alike = self.with(&alike, found)?;
                texts.push(self.text(found));
            }
            texts.dedup();
            instead.push(texts.join(", "));
            rest = self.shared.sets.minus(&rest, &alike, self.budget)?;
        }
        Ok(Violation { instead, because: vec![self.failed_conditions(after)?] })
    }

    /// Returns the conditions of the record.
    fn conditions(&self) -> Vec<Entry> {
        let values = self.record.values.iter().map(|&(variable, value)| Entry::Value(variable, value));
        let propositions = self.record.propositions.iter();
        values.chain(propositions.map(|&(p, holds)| Entry::Proposition(p, holds))).collect()
    }

    /// Returns a condition on a proposition as it is in the least state of a set.
    fn as_in(&mut self, set: &S::Set, least: &[i64], condition: Entry) -> Result<Entry, Stop> {
        let Entry::Proposition(proposition, holds) = condition else { return Ok(condition) };
        let with = self.with(set, condition)?;
        let is_in = self.shared.sets.least(&with, self.budget)?.is_some_and(|state| state == least);
        Ok(Entry::Proposition(proposition, holds == is_in))
    }

    fn with(&mut self, set: &S::Set, condition: Entry) -> Result<S::Set, Stop> {
        let Instead { shared, budget, .. } = self;
        match condition {
            Entry::Action(..) => Ok(set.clone()),
            Entry::Value(variable, value) => shared.sets.with_value(set, variable, value, budget),
            Entry::Proposition(proposition, holds) => {
                shared.with_proposition(set, proposition, holds, budget)
            }
        }
    }

    /// Returns which conditions of the record are false in all these states, or else that they are not true together.
    fn failed_conditions(&mut self, after: &S::Set) -> Result<Reason, Stop> {
        let conditions = self.conditions();
        let mut failed = Vec::new();
        for &condition in &conditions {
            let with = self.with(after, condition)?;
            if self.shared.sets.is_empty(&with) {
                failed.push(condition);
            }
        }
        let together = if failed.is_empty() { " together" } else { "" };
        let named = if failed.is_empty() { conditions } else { failed };
        let texts: Vec<String> = named.into_iter().map(|entry| format!("`{}`", self.text(entry))).collect();
        let where_ = if self.log.is_before_first(self.record) {
            "initial state has"
        } else {
            "possible step leads to"
        };
        Ok(Reason { text: format!("no {where_} {}{together}", texts.join(" and ")), rules: Vec::new() })
    }
}
