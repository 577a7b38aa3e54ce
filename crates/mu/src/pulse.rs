//! Looking at the clock now and then in a long loop.

use masque_verdict::{Budget, Stop};

/// The clock is looked at once in so many rounds.
const ROUNDS: u32 = 4096;

/// Counts the rounds of a loop.
#[derive(Debug)]
pub(crate) struct Pulse<'b> {
    budget: &'b Budget,
    left: u32,
}

impl<'b> Pulse<'b> {
    pub(crate) fn new(budget: &'b Budget) -> Self {
        Pulse { budget, left: ROUNDS }
    }

    /// Whether the loop may go on.
    #[inline]
    pub(crate) fn beat(&mut self) -> Result<(), Stop> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.left = ROUNDS;
        self.budget.check()
    }
}
