//! How far the search for reachable states has come, for whoever watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an engine has found so far, written by the engine and read by whoever watches it. A clone
/// looks at the same place.
///
/// An engine tells where it looks at its limits anyway; that nobody watches costs nothing. What is
/// told is for people who wait: it changes no answer.
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

/// What has been found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Reachable states.
    pub states: u64,
    /// The greatest distance from an initial state, as far as they are explored.
    pub layer: u64,
    /// How many workers they are spread over; 1 if one engine keeps them all, by however many threads.
    pub workers: u64,
}

impl Meter {
    /// Tells what has been found.
    pub fn found(&self, found: Found) {
        // The three belong together only roughly, as befits what is looked at ten times a second.
        for (place, value) in self.0.iter().zip([found.states, found.layer, found.workers]) {
            place.store(value, Ordering::Relaxed);
        }
    }

    /// What was told last; none if there are no states yet.
    pub fn read(&self) -> Option<Found> {
        let [states, layer, workers] = [0, 1, 2].map(|n: usize| self.0[n].load(Ordering::Relaxed));
        (states > 0).then_some(Found { states, layer, workers })
    }
}
