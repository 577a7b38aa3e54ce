//! The order of the messages under way.
//!
//! Terms are numbered in the order in which they are found, which depends on what is explored first. The
//! messages of a state are ordered by what they are instead: by the places of sender and receiver in the
//! team, then by their text. With the places first, teams that differ in names only have their
//! transitions in the same order.

use std::cmp::Ordering;

use crate::program::Program;
use crate::term::{TermId, Terms};

/// Compares messages by what they are.
#[derive(Clone, Debug)]
pub(crate) struct MailOrder {
    /// By the number of a term, the place of the agent with this id in the team; [`NOBODY`] for others.
    places: Vec<u32>,
}

/// The place of whoever is not in the team.
const NOBODY: u32 = u32::MAX;

impl MailOrder {
    pub(crate) fn new(program: &Program) -> MailOrder {
        let n_terms = program.agents.iter().map(|agent| agent.id.0 as usize + 1).max().unwrap_or(0);
        let mut places = vec![NOBODY; n_terms];
        for (place, agent) in program.agents.iter().enumerate().rev() {
            places[agent.id.0 as usize] = place as u32;
        }
        MailOrder { places }
    }

    fn place_of(&self, id: TermId) -> u32 {
        self.places.get(id.0 as usize).copied().unwrap_or(NOBODY)
    }

    /// Orders two messages; only equal ones are equal.
    fn compare(&self, terms: &Terms, left: TermId, right: TermId) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let places = |message: TermId| [1, 3].map(|at| self.place_of(terms.arg(message, at)));
        places(left).cmp(&places(right)).then_with(|| terms.compare(left, right))
    }

    /// Sorts the messages of a state.
    pub(crate) fn sort(&self, terms: &Terms, mail: &mut [u32]) {
        mail.sort_unstable_by(|left, right| self.compare(terms, TermId(*left), TermId(*right)));
    }

    /// Where a message belongs among others that are in order.
    pub(crate) fn place(&self, terms: &Terms, mail: &[u32], message: TermId) -> usize {
        mail.partition_point(|other| self.compare(terms, TermId(*other), message) == Ordering::Less)
    }
}
