//! Comparison of one engine's findings with those of the other engines, for `--cross-check`.

use masque_verdict::{Budget, Facts, Stop};

use super::{Compared, EnginesInUse, Message, ReplayedOutcome};
use crate::compare::{self, Disagreement};

impl EnginesInUse<'_, '_> {
    /// The engines besides `first` that support the property at an index.
    fn others(&self, first: usize, index: usize) -> Vec<usize> {
        let property = &self.system.properties[index];
        let supports = |e: &usize| self.candidates[*e].supports(self.system, property).is_ok();
        (0..self.candidates.len()).filter(|e| *e != first).filter(supports).collect()
    }

    /// Sends a disagreement if two engines answer a question differently. Returns whether they agree.
    fn compare(
        &self,
        property: Option<usize>,
        question: &'static str,
        answers: [(usize, String); 2],
        send: &dyn Fn(Message),
    ) -> bool {
        let is_same = answers[0].1 == answers[1].1;
        if !is_same {
            let answers = answers.map(|(engine, answer)| (self.name(engine), answer));
            send(Message::Compared(Compared::Differs(Disagreement { property, question, answers })));
        }
        is_same
    }

    /// Compares the facts that the first engine found with those of all others.
    pub(super) fn compare_facts(
        &mut self,
        first: usize,
        facts: &Facts,
        chosen: &[Option<usize>],
        send: &dyn Fn(Message),
    ) {
        let has_other = |(index, engine): (usize, &Option<usize>)| {
            engine.is_some_and(|engine| !self.others(engine, index).is_empty())
        };
        let comparable = chosen.iter().enumerate().filter(|entry| has_other(*entry)).count();
        send(Message::Compared(Compared::Comparable(comparable)));
        let expected = compare::facts(self.system, facts);
        for engine in (0..self.candidates.len()).filter(|e| *e != first) {
            let Ok((found, _)) = self.facts(engine) else { continue };
            let found = compare::facts(self.system, &found);
            let mut is_same = true;
            for ((question, one), (_, other)) in expected.clone().into_iter().zip(found) {
                is_same &= self.compare(None, question, [(first, one), (engine, other)], send);
            }
            if is_same {
                send(Message::Compared(Compared::Facts));
            }
        }
    }

    /// Compares the outcome of a property that the first engine found with those of all others. Evidence that
    /// is withheld is not compared.
    pub(super) fn compare_outcomes(
        &mut self,
        index: usize,
        first: usize,
        expected: &ReplayedOutcome,
        budget: &Budget,
        send: &dyn Fn(Message),
    ) {
        let property = &self.system.properties[index];
        let others = self.others(first, index);
        let mut n_agreeing = 0;
        for &engine in &others {
            let found = self.outcome(engine, property, budget);
            let is_withheld = expected.withheld.is_some() || found.withheld.is_some();
            let is_limited = budget.memory().is_some() || budget.is_over() || is_withheld;
            let questions = compare::outcomes(self.system, &expected.outcome, &found.outcome, is_limited);
            let is_same = questions.is_some_and(|questions| {
                questions.into_iter().all(|(question, [one, other])| {
                    self.compare(Some(index), question, [(first, one), (engine, other)], send)
                })
            });
            n_agreeing += usize::from(is_same);
        }
        if !others.is_empty() && n_agreeing == others.len() {
            send(Message::Compared(Compared::Property));
        }
    }

    /// Compares a list of texts about a property that the first engine found with those of all others.
    pub(super) fn compare_lists(
        &mut self,
        index: usize,
        question: &'static str,
        first: usize,
        expected: &[String],
        find: impl Fn(&mut Self, usize) -> Result<Vec<String>, Stop>,
        send: &dyn Fn(Message),
    ) {
        for engine in self.others(first, index) {
            let Ok(found) = find(self, engine) else { continue };
            let answers = [(first, compare::list(expected)), (engine, compare::list(&found))];
            self.compare(Some(index), question, answers, send);
        }
    }
}
