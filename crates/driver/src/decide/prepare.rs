//! Exploring, while verdicts that show on the way are told at once.

use std::time::Instant;

use masque_verdict::{Early, Stop};

use super::{Answer, Decided, Event, InUse, Used, replayed};
use crate::portfolio::{Ended, Portfolio};

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

    /// Explores, and tells the verdicts that show.
    fn listening<T>(
        &mut self,
        tell: &dyn Fn(Event),
        explore: impl FnOnce(&mut Early<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (system, start) = (self.system, Instant::now());
        let mut told = Vec::new();
        let mut on_verdict = |position: usize, engine, outcome| {
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
