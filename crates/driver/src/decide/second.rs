//! Second opinions.

use masque_verdict::{Budget, Facts, Vacuous};

use super::{Answer, Compared, Event, Used};
use crate::compare;

/// What the other engines say of what one has answered.
impl Used<'_, '_> {
    /// The engines besides `first` that support a property.
    fn others(&self, first: usize, position: usize) -> Vec<usize> {
        let property = &self.system.properties[position];
        let supports = |e: &usize| self.candidates[*e].supports(self.system, property).is_ok();
        (0..self.candidates.len()).filter(|e| *e != first).filter(supports).collect()
    }

    pub(super) fn compare_facts(
        &mut self,
        first: usize,
        facts: &Facts,
        plan: &[Option<usize>],
        tell: &dyn Fn(Event),
    ) {
        let has_other = |(position, engine): (usize, &Option<usize>)| {
            engine.is_some_and(|engine| !self.others(engine, position).is_empty())
        };
        let comparable = plan.iter().enumerate().filter(|entry| has_other(*entry)).count();
        tell(Event::Compared(Compared::Comparable(comparable)));
        for engine in (0..self.candidates.len()).filter(|e| *e != first) {
            let Ok((found, _)) = self.facts(engine) else { continue };
            let differences =
                compare::facts(self.system, (self.name(first), facts), (self.name(engine), &found));
            if differences.is_empty() {
                tell(Event::Compared(Compared::Facts));
            }
            differences.into_iter().for_each(|d| tell(Event::Compared(Compared::Differs(d))));
        }
    }

    /// Compares what others say of a property; evidence that is withheld is not compared.
    pub(super) fn compare_outcomes(
        &mut self,
        position: usize,
        first: (usize, &Answer),
        budget: &Budget,
        tell: &dyn Fn(Event),
    ) {
        let property = &self.system.properties[position];
        let others = self.others(first.0, position);
        let mut n_agreeing = 0;
        for &engine in &others {
            let answer = self.outcome(engine, property, budget);
            let is_withheld = first.1.withheld.is_some() || answer.withheld.is_some();
            let is_limited = budget.memory().is_some() || budget.is_over() || is_withheld;
            let one = (self.name(first.0), &first.1.outcome);
            let other = (self.name(engine), &answer.outcome);
            match compare::outcomes(self.system, position, one, other, is_limited) {
                Ok(is_same) => n_agreeing += usize::from(is_same),
                Err(disagreement) => tell(Event::Compared(Compared::Differs(disagreement))),
            }
        }
        if !others.is_empty() && n_agreeing == others.len() {
            tell(Event::Compared(Compared::Property));
        }
    }

    pub(super) fn compare_remarks(
        &mut self,
        position: usize,
        first: (usize, &Vec<String>),
        budget: &Budget,
        tell: &dyn Fn(Event),
    ) {
        for engine in self.others(first.0, position) {
            let Ok(remarks) = self.remarks(engine, position, budget) else { continue };
            let (one, other) = ((self.name(first.0), first.1), (self.name(engine), &remarks));
            if let Some(disagreement) = compare::remarks(position, one, other) {
                tell(Event::Compared(Compared::Differs(disagreement)));
            }
        }
    }

    pub(super) fn compare_vacuity(
        &mut self,
        position: usize,
        first: (usize, &Vec<Vacuous>),
        budget: &Budget,
        tell: &dyn Fn(Event),
    ) {
        for engine in self.others(first.0, position) {
            let Ok(vacuous) = self.vacuous(engine, position, budget) else { continue };
            let (one, other) = ((self.name(first.0), first.1), (self.name(engine), &vacuous));
            if let Some(disagreement) = compare::vacuity(self.system, position, one, other) {
                tell(Event::Compared(Compared::Differs(disagreement)));
            }
        }
    }
}
