//! The budget of a running check, as the transition system observes it: listing the
//! transitions of one state may take too long or too much memory.

use masque_verdict::{Budget, Stop};

/// Number of steps between two checks of the budget.
const STEPS_PER_CHECK: usize = 4096;
/// Number of steps that computing one local situation counts as.
pub(crate) const STEPS_PER_SITUATION: usize = STEPS_PER_CHECK / 2;

/// A budget, and why it stopped the work. It remains stopped until it is replaced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    budget: Budget,
    /// Number of steps since the budget was checked.
    steps: usize,
    stopped: Option<Stop>,
}

impl Watch {
    /// Watches a budget.
    pub(crate) fn new(budget: &Budget) -> Watch {
        Watch { budget: budget.clone(), ..Watch::default() }
    }

    /// Counts steps. Returns whether the budget is to be checked now.
    #[inline]
    pub(crate) fn is_due(&mut self, steps: usize) -> bool {
        self.steps += steps;
        self.steps >= STEPS_PER_CHECK && self.stopped.is_none()
    }

    /// Checks the budget of a system that has this many bytes.
    pub(crate) fn check(&mut self, bytes: u64) {
        self.steps = 0;
        // The checks that a budget counts are those of the solver.
        let time = if self.budget.is_over() { self.budget.check() } else { Ok(()) };
        self.stopped = time.and_then(|()| self.budget.check_memory(bytes)).err();
    }

    /// Why the work was stopped, if it was.
    #[inline]
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }
}
