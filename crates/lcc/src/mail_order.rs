//! The order of the messages under way.
//!
//! Terms are numbered in the order in which they are created, which depends on what is explored first. The
//! messages of a state are therefore ordered by their content: by the indices of sender and receiver in the
//! team, then by term. Because the indices come first, teams that differ only in names have their transitions
//! in the same order.

use std::cmp::Ordering;

use crate::program::Program;
use crate::term::{TermId, Terms};

/// The order of messages by content.
#[derive(Clone, Debug)]
pub(crate) struct MailOrder {
    /// For each term, the index in the team of the agent with this id; [`NOT_IN_TEAM`] for other terms.
    team_indices: Vec<u32>,
}

/// Team index of an id that is not in the team.
const NOT_IN_TEAM: u32 = u32::MAX;

impl MailOrder {
    pub(crate) fn new(program: &Program) -> MailOrder {
        let n_terms = program.agents.iter().map(|agent| agent.id.0 as usize + 1).max().unwrap_or(0);
        let mut team_indices = vec![NOT_IN_TEAM; n_terms];
        for (index, agent) in program.agents.iter().enumerate().rev() {
            team_indices[agent.id.0 as usize] = index as u32;
        }
        MailOrder { team_indices }
    }

    fn team_index(&self, id: TermId) -> u32 {
        self.team_indices.get(id.0 as usize).copied().unwrap_or(NOT_IN_TEAM)
    }

    /// Compares two messages. Only identical messages are equal.
    fn compare(&self, terms: &Terms, left: TermId, right: TermId) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let team_indices = |message: TermId| [1, 3].map(|index| self.team_index(terms.arg(message, index)));
        team_indices(left).cmp(&team_indices(right)).then_with(|| terms.compare(left, right))
    }

    /// Sorts the messages of a state.
    pub(crate) fn sort(&self, terms: &Terms, mail: &mut [u32]) {
        mail.sort_unstable_by(|left, right| self.compare(terms, TermId(*left), TermId(*right)));
    }

    /// Returns the index at which a message belongs among sorted messages.
    pub(crate) fn index(&self, terms: &Terms, mail: &[u32], message: TermId) -> usize {
        mail.partition_point(|other| self.compare(terms, TermId(*other), message) == Ordering::Less)
    }
}
