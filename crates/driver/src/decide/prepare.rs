//! Exploration of the system, with verdicts reported as soon as they are known.

use std::num::NonZeroUsize;
use std::time::Instant;

use masque_explicit::BoundedExplicit;
use masque_verdict::{Early, Outcome, Stop, deciding_states, is_decided_by_one_path};

use super::{Decided, EngineInUse, EnginesInUse, Message, ReplayedOutcome, replayed};
use crate::check::Certified;
use crate::engines::EXPLICIT;
use crate::portfolio::{Explored, Portfolio};

/// Maximum number of stored states in the search for canonical evidence.
const MAX_EVIDENCE_STATES: u64 = 100_000;

impl EnginesInUse<'_, '_> {
    /// Explores the system and returns the index of the engine that did: the leader, or the portfolio's choice,
    /// which then decides all properties.
    pub(super) fn prepare(
        &mut self,
        portfolio: Option<&Portfolio>,
        leader: usize,
        chosen: &mut [Option<usize>],
        send: &dyn Fn(Message),
    ) -> Result<usize, Stop> {
        let (system, budget, candidates) = (self.system, self.budget, self.candidates);
        let (engine, encoded) = match portfolio {
            None => {
                (leader, self.with_early(send, |early| candidates[leader].explore(system, early, budget))?)
            }
            Some(portfolio) => {
                let supported: Vec<usize> =
                    (0..chosen.len()).filter(|&index| chosen[index].is_some()).collect();
                let Explored { engine, encoded, reason } =
                    self.with_early(send, |early| portfolio.explore(system, &supported, early, budget))?;
                send(Message::Chosen(reason));
                let engine = candidates.iter().position(|one| one.name() == engine).unwrap_or(leader);
                chosen.iter_mut().flatten().for_each(|chosen| *chosen = engine);
                (engine, encoded)
            }
        };
        self.encoded.push(EngineInUse { engine, encoded, has_decided: false });
        Ok(engine)
    }

    /// Replaces the evidence by the one from the smallest number of layers that decides the property, if
    /// a bounded explicit exploration finds it. This makes evidence independent of the engine and of the
    /// moment at which it found the verdict.
    pub(super) fn fewest_layers(&self, index: usize, engine: &str, outcome: Outcome) -> Outcome {
        let (system, property) = (self.system, &self.system.properties[index]);
        let is_wanted = self.evidence.wanted(outcome.verdict).is_some();
        // Evidence that is a single path is the same from all engines.
        let formulas = &system.formulas;
        let is_path = system.fairness.is_empty()
            && is_decided_by_one_path(formulas, property.formula)
            && deciding_states(formulas, property.formula).iter().all(|hunt| formulas.is_local(hunt.formula));
        let is_shown = outcome.evidence.is_some() && (engine == EXPLICIT || is_path);
        if is_shown || !is_wanted {
            return outcome;
        }
        let mut shown = None;
        let mut on_verdict = |_, _: &str, found: Outcome| shown = Some(found);
        let mut early = Early::new(system, [index], &mut on_verdict).quick();
        let scout = BoundedExplicit {
            evidence: self.evidence,
            jobs: NonZeroUsize::new(1),
            max_states: MAX_EVIDENCE_STATES,
        };
        // A stop is expected here: quick mode stops after the verdict.
        _ = scout.explore(system, &mut early, self.budget);
        shown.filter(|found| found.verdict == outcome.verdict).unwrap_or(outcome)
    }

    /// Explores and sends verdicts that are known early.
    fn with_early<T>(
        &mut self,
        send: &dyn Fn(Message),
        explore: impl FnOnce(&mut Early<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (system, start) = (self.system, Instant::now());
        let mut sent = Vec::new();
        let mut on_verdict = |index: usize, engine, outcome| {
            let outcome = if self.is_quick { self.fewest_layers(index, engine, outcome) } else { outcome };
            let ReplayedOutcome { outcome, withheld } = replayed(system, &system.properties[index], outcome);
            let (remarks, engine, time) = (Vec::new(), Some(engine.into()), start.elapsed());
            send(Message::Decided(
                index,
                Decided { outcome, withheld, certified: Certified::default(), remarks, engine, time },
            ));
            sent.push(index);
        };
        let mut early = Early::new(system, self.undecided.iter().copied(), &mut on_verdict);
        if self.is_quick {
            early = early.quick();
        }
        let explored = explore(&mut early);
        self.undecided.retain(|index| !sent.contains(index));
        explored
    }
}
