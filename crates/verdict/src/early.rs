//! Who wants to hear of verdicts while states are still being explored.

use masque_model::{Deadlock, Overflow, System};

use crate::{Outcome, Stop, Why};

/// How much must have been found since the last look at formulas that take a while to read.
const GROWTH: usize = 8;

/// Listens to verdicts while an engine explores.
///
/// A verdict told here stands, whatever is found later. An engine that is stopped need not explore on
/// when [`Early::enough`] says so.
pub struct Early<'e> {
    /// Of each property: whether its verdict is wanted and not yet known.
    open: Vec<bool>,
    is_quick: bool,
    tell: Option<Tell<'e>>,
}

/// Takes the position of a property, the engine's name, and what it found.
type Tell<'e> = &'e mut dyn FnMut(usize, &'static str, Outcome);

impl<'e> Early<'e> {
    /// Nobody listens: everything is explored.
    pub fn deaf() -> Early<'static> {
        Early { open: Vec::new(), is_quick: false, tell: None }
    }

    /// Listens to the verdicts of these properties.
    ///
    /// Where a deadlock or an overflow makes the model an error no verdict means anything before all
    /// states are known, so none is wanted.
    pub fn new(system: &System, properties: impl IntoIterator<Item = usize>, tell: Tell<'e>) -> Early<'e> {
        let mut open = vec![false; system.properties.len()];
        let is_strict =
            system.meaning.deadlock == Deadlock::Error || system.meaning.overflow == Overflow::Error;
        if !is_strict {
            properties.into_iter().for_each(|position| open[position] = true);
        }
        Early { open, is_quick: false, tell: Some(tell) }
    }

    /// The same, but nothing is explored for its own sake: it ends when all verdicts are known.
    pub fn quick(mut self) -> Early<'e> {
        self.is_quick = true;
        self
    }

    /// Whether only verdicts are wanted.
    pub fn is_quick(&self) -> bool {
        self.is_quick
    }

    /// The properties whose verdicts are wanted and not yet known.
    pub fn open(&self) -> impl Iterator<Item = usize> + use<> {
        let open: Vec<usize> = (0..self.open.len()).filter(|&position| self.open[position]).collect();
        open.into_iter()
    }

    /// Whether there is anything to look for.
    pub fn is_listening(&self) -> bool {
        self.open.iter().any(|&is_open| is_open)
    }

    /// After how much growth it pays to look again: looks must not cost more than exploring.
    pub fn growth(&self) -> usize {
        if self.is_quick { 2 } else { GROWTH }
    }

    /// Tells the verdict of an engine.
    pub fn decided(&mut self, position: usize, engine: &'static str, outcome: Outcome) {
        self.open[position] = false;
        if let Some(tell) = &mut self.tell {
            tell(position, engine, outcome);
        }
    }

    /// Stops an exploration that has told all that was asked.
    pub fn enough(&self) -> Result<(), Stop> {
        if self.is_quick && !self.is_listening() { Err(Why::Interrupted.into()) } else { Ok(()) }
    }
}
