//! Records with all names resolved.

use masque_model::{ActionId, AgentId, PropositionId, VarId};

use super::vocabulary::Entry;

/// A record: actions that a step has, and conditions on the state after it.
///
/// The first record of a log describes an initial state if it has no actions. Every other record describes a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IsplObservation {
    /// Actions of the step, by agent. Other agents may do anything.
    pub actions: Vec<(AgentId, ActionId)>,
    /// Values of variables after the step. Other variables may have any value.
    pub values: Vec<(VarId, i64)>,
    /// Truth of propositions after the step.
    pub propositions: Vec<(PropositionId, bool)>,
}

impl IsplObservation {
    /// Adds what an entry says.
    pub fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Action(agent, action) => self.actions.push((agent, action)),
            Entry::Value(variable, value) => self.values.push((variable, value)),
            Entry::Proposition(proposition, holds) => self.propositions.push((proposition, holds)),
        }
    }
}

impl FromIterator<Entry> for IsplObservation {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> IsplObservation {
        let mut observation = IsplObservation::default();
        entries.into_iter().for_each(|entry| observation.add(entry));
        observation
    }
}
