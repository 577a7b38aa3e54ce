//! The answers that a session keeps.
//!
//! An answer for a state remains valid as long as nothing that is reachable from that state changes. The same
//! holds for the truth value of each subformula in each state (`masque_mu::PausedGame`). These are reused after
//! the interaction has moved on, because the next question starts in a state that was visited before.

use masque_mu::{Formula, PausedGame, StateId};

use crate::check::Checked;

/// Maximum number of formulas, other than properties of the instance, that are kept.
const MAX_FORMULAS: usize = 64;
/// Maximum number of answers kept per question.
const MAX_ANSWERS_PER_QUESTION: usize = 64;

/// A question that was asked, and the results that are kept for it.
#[derive(Debug)]
pub(super) struct CachedQuestion {
    pub(super) formula: Formula,
    /// Truth values of subformulas.
    pub(super) standing: PausedGame,
    /// The answers, the most recent last.
    answers: Vec<CachedAnswer>,
    /// The text of a formula; `None` for a property of the instance.
    text: Option<String>,
    /// Whether the formula has names that the instance does not know.
    pub(super) has_unknown_names: bool,
}

/// The answer to a question in one state.
#[derive(Debug)]
struct CachedAnswer {
    state: StateId,
    /// Whether a run was searched for.
    has_evidence: bool,
    checked: Checked,
}

impl CachedQuestion {
    fn new(formula: Formula, text: Option<String>) -> CachedQuestion {
        CachedQuestion {
            formula,
            standing: PausedGame::default(),
            answers: Vec::new(),
            text,
            has_unknown_names: false,
        }
    }

    /// Returns the kept answer for a state, without its run unless `evidence` is wanted.
    pub(super) fn answer(&self, state: StateId, evidence: bool) -> Option<Checked> {
        let is_it = |answer: &&CachedAnswer| answer.state == state && (answer.has_evidence || !evidence);
        let mut checked = self.answers.iter().find(is_it)?.checked.clone();
        if !evidence {
            (checked.trace, checked.withheld) = (None, None);
        }
        Some(checked)
    }

    /// Keeps an answer for a state.
    pub(super) fn keep(&mut self, state: StateId, evidence: bool, checked: &Checked) {
        self.answers.retain(|other| other.state != state);
        if self.answers.len() >= MAX_ANSWERS_PER_QUESTION {
            self.answers.remove(0);
        }
        self.answers.push(CachedAnswer { state, has_evidence: evidence, checked: checked.clone() });
    }

    /// Estimated size in bytes.
    fn bytes(&self) -> u64 {
        let of_answer = |answer: &CachedAnswer| {
            let events = answer.checked.trace.iter().flat_map(|trace| &trace.events);
            events.map(|event| 3 * event.label.len() as u64 + 100).sum::<u64>() + 100
        };
        self.standing.bytes() + self.answers.iter().map(of_answer).sum::<u64>()
    }
}

/// The questions that were asked: first the properties of the instance, in their order, then formulas.
#[derive(Debug, Default)]
pub(super) struct AnswerCache {
    questions: Vec<CachedQuestion>,
    n_properties: usize,
}

impl AnswerCache {
    pub(super) fn new(properties: impl Iterator<Item = Formula>) -> AnswerCache {
        let questions: Vec<CachedQuestion> =
            properties.map(|formula| CachedQuestion::new(formula, None)).collect();
        AnswerCache { n_properties: questions.len(), questions }
    }

    pub(super) fn question(&mut self, index: usize) -> &mut CachedQuestion {
        &mut self.questions[index]
    }

    /// Returns the index of a formula that was asked before.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.questions.iter().position(|question| question.text.as_deref() == Some(text))
    }

    /// Adds a formula, and returns its index. If there are too many formulas, the oldest is removed.
    pub(super) fn add(&mut self, text: String, formula: Formula) -> usize {
        if self.questions.len() - self.n_properties >= MAX_FORMULAS {
            self.questions.remove(self.n_properties);
        }
        self.questions.push(CachedQuestion::new(formula, Some(text)));
        self.questions.len() - 1
    }

    /// Discards results after the successors of the states `changed` have changed. `leads` says for each
    /// state whether it can reach one of these.
    pub(super) fn revise(&mut self, changed: &[StateId], leads: &[bool]) {
        for question in &mut self.questions {
            question.standing.revise(changed, leads);
            question.answers.retain(|answer| leads.get(answer.state.index()) != Some(&true));
        }
    }

    /// Discards all results, because states are renumbered.
    pub(super) fn clear(&mut self) {
        for question in &mut self.questions {
            (question.standing, question.answers) = (PausedGame::default(), Vec::new());
        }
    }

    /// Estimated size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.questions.iter().map(CachedQuestion::bytes).sum()
    }
}
