//! Receiver of verdicts that an engine finds during exploration.

use masque_model::{Deadlock, Overflow, System};

use crate::{Outcome, Stop, Why};

/// Factor by which the number of states must grow before formulas are evaluated again.
const GROWTH_FACTOR: usize = 8;

/// Receives verdicts during exploration.
///
/// Such a verdict is final: states found later cannot change it. [`Early::enough`] stops an exploration
/// that only needs verdicts.
pub struct Early<'e> {
    /// For each property, whether its verdict is wanted and still unknown.
    open: Vec<bool>,
    /// Whether the exploration stops once all wanted verdicts are known.
    is_quick: bool,
    report: Option<Report<'e>>,
}

/// Callback with the index of a property, the engine's name and the outcome.
type Report<'e> = &'e mut dyn FnMut(usize, &'static str, Outcome);

impl<'e> Early<'e> {
    /// Ignores early verdicts; the engine explores all states.
    pub fn deaf() -> Early<'static> {
        Early { open: Vec::new(), is_quick: false, report: None }
    }

    /// Receives the verdicts of these properties.
    ///
    /// If a deadlock or an overflow would make the model an error, no verdict is valid before all states
    /// are known, so none is accepted.
    pub fn new(
        system: &System,
        properties: impl IntoIterator<Item = usize>,
        report: Report<'e>,
    ) -> Early<'e> {
        let mut open = vec![false; system.properties.len()];
        let is_strict =
            system.meaning.deadlock == Deadlock::Error || system.meaning.overflow == Overflow::Error;
        if !is_strict {
            properties.into_iter().for_each(|index| open[index] = true);
        }
        Early { open, is_quick: false, report: Some(report) }
    }

    /// Stops the exploration once all verdicts are known.
    pub fn quick(mut self) -> Early<'e> {
        self.is_quick = true;
        self
    }

    /// Whether the exploration stops once all verdicts are known.
    pub fn is_quick(&self) -> bool {
        self.is_quick
    }

    /// Indices of the properties whose verdicts are wanted and still unknown.
    pub fn open(&self) -> impl Iterator<Item = usize> + use<> {
        let open: Vec<usize> = (0..self.open.len()).filter(|&index| self.open[index]).collect();
        open.into_iter()
    }

    /// Whether some verdict is still wanted.
    pub fn is_listening(&self) -> bool {
        self.open.iter().any(|&is_open| is_open)
    }

    /// Growth factor between two evaluations, which keeps their cost below that of exploring.
    pub fn growth(&self) -> usize {
        if self.is_quick { 2 } else { GROWTH_FACTOR }
    }

    /// Reports a verdict.
    pub fn decided(&mut self, index: usize, engine: &'static str, outcome: Outcome) {
        self.open[index] = false;
        if let Some(report) = &mut self.report {
            report(index, engine, outcome);
        }
    }

    /// Returns an error if the exploration may stop because all wanted verdicts are known.
    pub fn enough(&self) -> Result<(), Stop> {
        if self.is_quick && !self.is_listening() { Err(Why::Interrupted.into()) } else { Ok(()) }
    }
}
