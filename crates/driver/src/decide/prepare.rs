//! Exploring, while verdicts that show on the way are told at once.

use std::num::NonZeroUsize;
use std::time::Instant;

use masque_explicit::Scout;
use masque_verdict::{Early, Outcome, Stop, hunts, is_condition, is_hunt};

use super::{Answer, Decided, Event, InUse, Used, replayed};
use crate::engines::EXPLICIT;
use crate::portfolio::{Ended, Portfolio};

/// Among so many stored states evidence is looked for that another engine has none of.
const MOST_SHOWN: u64 = 100_000;

impl Used<'_, '_> {
    /// Explores the system with the first engine, or with the one that a portfolio comes to; tells
    /// which one that is.
    pub(super) fn prepare(
        &mut self,
        portfolio: Option<&Portfolio>,
        leader: usize,
        plan: &mut [Option<usize>],
        tell: &dyn Fn(Event),
    ) -> Result<usize, Stop> {
        let (system, budget, candidates) = (self.system, self.budget, self.candidates);
        let (engine, encoded) = match portfolio {
            None => {
                (leader, self.listening(tell, |early| candidates[leader].explore(system, early, budget))?)
            }
            Some(portfolio) => {
                let Ended { engine, encoded, reason } =
                    self.listening(tell, |early| portfolio.explore(system, early, budget))?;
                tell(Event::Chosen(reason));
                let engine = candidates.iter().position(|one| one.name() == engine).unwrap_or(leader);
                plan.iter_mut().flatten().for_each(|chosen| *chosen = engine);
                (engine, encoded)
            }
        };
        self.encoded.push(InUse { engine, encoded, has_answered: false });
        Ok(engine)
    }

    /// The outcome with the evidence that the fewest layers of stored states give, if these are few
    /// enough. So evidence does not depend on how far an engine had come when it saw a verdict.
    pub(super) fn fewest_layers(&self, position: usize, engine: &str, outcome: Outcome) -> Outcome {
        let (system, property) = (self.system, &self.system.properties[position]);
        let is_wanted = self.evidence.wanted(outcome.verdict).is_some();
        // Where one path is the evidence, it is the same from all engines.
        let formulas = &system.formulas;
        let is_path = system.fairness.is_empty()
            && is_hunt(formulas, property.formula)
            && hunts(formulas, property.formula).iter().all(|hunt| is_condition(formulas, hunt.formula));
        let is_shown = outcome.evidence.is_some() && (engine == EXPLICIT || is_path);
        if is_shown || !is_wanted {
            return outcome;
        }
        let mut shown = None;
        let mut on_verdict = |_, _: &str, found: Outcome| shown = Some(found);
        let mut early = Early::new(system, [position], &mut on_verdict).quick();
        let scout = Scout { evidence: self.evidence, jobs: NonZeroUsize::new(1), most_states: MOST_SHOWN };
        // A scout that sees all states without a verdict has nothing to add.
        _ = scout.explore(system, &mut early, self.budget);
        shown.filter(|found| found.verdict == outcome.verdict).unwrap_or(outcome)
    }

    /// Explores, and tells the verdicts that show.
    fn listening<T>(
        &mut self,
        tell: &dyn Fn(Event),
        explore: impl FnOnce(&mut Early<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (system, start) = (self.system, Instant::now());
        let mut told = Vec::new();
        let mut on_verdict = |position: usize, engine, outcome| {
            let outcome = if self.is_quick { self.fewest_layers(position, engine, outcome) } else { outcome };
            let Answer { outcome, withheld } = replayed(system, &system.properties[position], outcome);
            let (remarks, engine, time) = (Vec::new(), Some(engine), start.elapsed());
            tell(Event::Decided(position, Decided { outcome, withheld, remarks, engine, time }));
            told.push(position);
        };
        let mut early = Early::new(system, self.open.iter().copied(), &mut on_verdict);
        if self.is_quick {
            early = early.quick();
        }
        let explored = explore(&mut early);
        self.open.retain(|position| !told.contains(position));
        explored
    }
}
