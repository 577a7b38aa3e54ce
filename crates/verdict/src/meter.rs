//! Progress of the search for reachable states.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of an engine, written by the engine and read by another thread. A clone shares the same
/// counters.
///
/// An engine writes where it checks its limits anyway, so a meter that is never read costs almost nothing.
/// The numbers are shown to users who wait; they do not affect any verdict.
///
/// ```
/// use masque_verdict::{Budget, Found};
/// let budget = Budget::default();
/// let watched = budget.clone();
/// assert_eq!(watched.meter().read(), None);
/// budget.meter().found(Found { states: 1000, layer: 7, workers: 1 });
/// assert_eq!(watched.meter().read().map(|found| found.states), Some(1000));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<[AtomicU64; 3]>);

/// Progress of the search for reachable states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Number of reachable states found so far.
    pub states: u64,
    /// Greatest distance from an initial state among the explored states, in steps.
    pub layer: u64,
    /// Number of workers of the distributed engine; 1 for an engine in one process, with any number of
    /// threads.
    pub workers: u64,
}

impl Meter {
    /// Stores the progress.
    pub fn found(&self, found: Found) {
        // The three stores are not atomic together: a reader that shows progress does not need that.
        for (counter, value) in self.0.iter().zip([found.states, found.layer, found.workers]) {
            counter.store(value, Ordering::Relaxed);
        }
    }

    /// Returns the progress stored last; `None` if there are no states yet.
    pub fn read(&self) -> Option<Found> {
        let [states, layer, workers] = [0, 1, 2].map(|n: usize| self.0[n].load(Ordering::Relaxed));
        (states > 0).then_some(Found { states, layer, workers })
    }
}
