//! Checks the budget at intervals in long loops.

use masque_verdict::{Budget, Stop};

/// Number of rounds between checks of the budget.
const ROUNDS_PER_CHECK: u32 = 4096;

/// Counts the rounds of a loop and checks the budget at intervals.
#[derive(Debug)]
pub(crate) struct Ticker<'b> {
    budget: &'b Budget,
    left: u32,
}

impl<'b> Ticker<'b> {
    pub(crate) fn new(budget: &'b Budget) -> Self {
        Ticker { budget, left: ROUNDS_PER_CHECK }
    }

    /// Counts a round; returns an error if the budget is exhausted.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Stop> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.left = ROUNDS_PER_CHECK;
        self.budget.check()
    }
}
