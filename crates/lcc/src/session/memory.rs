//! What a session remembers of its answers, and for how long.
//!
//! An answer given in a state stands as long as nothing that can be reached from there has changed.
//! So does the truth of each part of a formula in each state (`masque_mu::Standing`), which helps when
//! the interaction has moved on: the next question begins where an earlier one has been.

use masque_mu::{Formula, Standing, StateId};

use crate::check::Checked;

/// So many formulas that are no properties are remembered.
const FORMULAS: usize = 64;
/// So many answers to one question are remembered.
const ANSWERS: usize = 64;

/// A question that was asked, and what is known of it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) formula: Formula,
    pub(super) standing: Standing,
    /// By state, the most recent last; whether a run was looked for.
    answers: Vec<(StateId, bool, Checked)>,
    /// The text of a formula that is no property.
    text: Option<String>,
    /// Whether it has names that the instance does not know.
    pub(super) is_doubtful: bool,
}

impl Asked {
    fn new(formula: Formula, text: Option<String>) -> Asked {
        Asked { formula, standing: Standing::default(), answers: Vec::new(), text, is_doubtful: false }
    }

    /// The answer that was given in a state and still stands.
    pub(super) fn answer(&self, state: StateId, evidence: bool) -> Option<Checked> {
        let is_it = |answer: &&(StateId, bool, Checked)| answer.0 == state && (answer.1 || !evidence);
        let (_, _, checked) = self.answers.iter().find(is_it)?;
        let trace = checked.trace.clone().filter(|_| evidence);
        let withheld = checked.withheld.clone().filter(|_| evidence);
        Some(Checked { trace, withheld, ..checked.clone() })
    }

    pub(super) fn keep(&mut self, state: StateId, evidence: bool, checked: &Checked) {
        self.answers.retain(|(other, ..)| *other != state);
        if self.answers.len() >= ANSWERS {
            self.answers.remove(0);
        }
        self.answers.push((state, evidence, checked.clone()));
    }

    fn bytes(&self) -> u64 {
        let of_answer = |(_, _, checked): &(StateId, bool, Checked)| {
            let events = checked.trace.iter().flat_map(|trace| &trace.events);
            events.map(|event| 3 * event.label.len() as u64 + 100).sum::<u64>() + 100
        };
        self.standing.bytes() + self.answers.iter().map(of_answer).sum::<u64>()
    }
}

/// All questions that were asked: first the properties of the instance, in their order.
#[derive(Debug, Default)]
pub(super) struct Memory {
    asked: Vec<Asked>,
    n_properties: usize,
}

impl Memory {
    pub(super) fn new(properties: impl Iterator<Item = Formula>) -> Memory {
        let asked: Vec<Asked> = properties.map(|formula| Asked::new(formula, None)).collect();
        Memory { n_properties: asked.len(), asked }
    }

    pub(super) fn asked(&mut self, number: usize) -> &mut Asked {
        &mut self.asked[number]
    }

    /// The number of a formula that was asked before.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.asked.iter().position(|asked| asked.text.as_deref() == Some(text))
    }

    /// The number of a formula that is asked for the first time.
    pub(super) fn add(&mut self, text: String, formula: Formula) -> usize {
        if self.asked.len() - self.n_properties >= FORMULAS {
            self.asked.remove(self.n_properties);
        }
        self.asked.push(Asked::new(formula, Some(text)));
        self.asked.len() - 1
    }

    /// Some states have other successors than before; and for each state, whether it leads there.
    pub(super) fn revise(&mut self, changed: &[StateId], leads: &[bool]) {
        for asked in &mut self.asked {
            asked.standing.revise(changed, leads);
            asked.answers.retain(|(state, ..)| leads.get(state.index()) != Some(&true));
        }
    }

    /// States have other numbers from now on.
    pub(super) fn clear(&mut self) {
        for asked in &mut self.asked {
            (asked.standing, asked.answers) = (Standing::default(), Vec::new());
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.asked.iter().map(Asked::bytes).sum()
    }
}
