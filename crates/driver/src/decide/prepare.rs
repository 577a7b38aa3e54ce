//! Exploration of the system, with verdicts reported as soon as they are known.

use std::num::NonZeroUsize;
use std::time::Instant;

use masque_explicit::Scout;
use masque_verdict::{Early, Outcome, Stop, hunts, is_condition, is_hunt};

use super::{Answer, Decided, Event, InUse, Used, replayed};
use crate::engines::EXPLICIT;
use crate::portfolio::{Ended, Portfolio};

/// Maximum number of stored states in the search for canonical evidence.
const MAX_EVIDENCE_STATES: u64 = 100_000;

impl Used<'_, '_> {
    /// Explores the system and returns the position of the engine that did: the first candidate, or the
    /// portfolio's choice.
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
                let asked: Vec<usize> =
                    (0..plan.len()).filter(|&position| plan[position].is_some()).collect();
                let Ended { engine, encoded, reason } =
                    self.listening(tell, |early| portfolio.explore(system, &asked, early, budget))?;
                tell(Event::Chosen(reason));
                let engine = candidates.iter().position(|one| one.name() == engine).unwrap_or(leader);
                plan.iter_mut().flatten().for_each(|chosen| *chosen = engine);
                (engine, encoded)
            }
        };
        self.encoded.push(InUse { engine, encoded, has_answered: false });
        Ok(engine)
    }

    /// Replaces the evidence by the one from the smallest number of layers that decides the property, if
    /// a bounded explicit exploration finds it. This makes evidence independent of the engine and of the
    /// moment at which it found the verdict.
    pub(super) fn fewest_layers(&self, position: usize, engine: &str, outcome: Outcome) -> Outcome {
        let (system, property) = (self.system, &self.system.properties[position]);
        let is_wanted = self.evidence.wanted(outcome.verdict).is_some();
        // Evidence that is a single path is the same from all engines.
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
        let scout =
            Scout { evidence: self.evidence, jobs: NonZeroUsize::new(1), most_states: MAX_EVIDENCE_STATES };
        // A stop is expected here: quick mode stops after the verdict.
        _ = scout.explore(system, &mut early, self.budget);
        shown.filter(|found| found.verdict == outcome.verdict).unwrap_or(outcome)
    }

    /// Explores and reports early verdicts.
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
            let (remarks, engine, time) = (Vec::new(), Some(engine.into()), start.elapsed());
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
