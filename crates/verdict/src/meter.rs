//! Progress of an engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of an engine, written by the engine and read by another thread. A clone shares the same
/// counters.
///
/// An engine writes where it checks its limits anyway, so a meter that is never read costs almost nothing.
/// The numbers are shown to users who wait; they do not affect any verdict.
///
/// ```
/// use masque_verdict::{Budget, DiagramPhase, Found, Reached};
/// let budget = Budget::default();
/// let watched = budget.clone();
/// assert_eq!(watched.meter().read(), None);
/// let found = Found { states: 1000, layer: 7, workers: 1 };
/// budget.meter().found(found);
/// assert_eq!(watched.meter().read(), Some(Reached::States(found)));
/// budget.meter().begin(DiagramPhase::Exploring);
/// budget.meter().round();
/// let Some(Reached::Diagrams(diagrams)) = watched.meter().read() else { panic!() };
/// assert_eq!((diagrams.phase, diagrams.rounds), (DiagramPhase::Exploring, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Counters>);

/// What is read while other threads write it: the values need not belong together exactly.
#[derive(Debug, Default)]
struct Counters {
    states: AtomicU64,
    layer: AtomicU64,
    workers: AtomicU64,
    /// Index in [`DiagramPhase::ALL`] plus 1; 0 if an engine that stores states is at work.
    phase: AtomicU64,
    rounds: AtomicU64,
    nodes: AtomicU64,
    bytes: AtomicU64,
}

/// How far an engine has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// An engine that stores states one by one.
    States(Found),
    /// An engine on decision diagrams.
    Diagrams(DiagramProgress),
}

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

/// Progress of an engine on decision diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagramProgress {
    /// What the engine is doing.
    pub phase: DiagramPhase,
    /// Number of images computed in the search for reachable states.
    pub rounds: u64,
    /// Number of nodes in the store, including those that are no longer used.
    pub nodes: u64,
    /// Bytes of these nodes.
    pub bytes: u64,
}

/// A phase of an engine on decision diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagramPhase {
    /// The model becomes diagrams.
    Encoding,
    /// Several variable orders are tried.
    Ordering,
    /// The reachable states are found.
    Exploring,
    /// Properties are decided on the reachable states.
    Deciding,
}

impl DiagramPhase {
    const ALL: [DiagramPhase; 4] =
        [DiagramPhase::Encoding, DiagramPhase::Ordering, DiagramPhase::Exploring, DiagramPhase::Deciding];
}

impl Meter {
    /// Stores the progress of an engine that stores states.
    pub fn found(&self, found: Found) {
        store(&self.0.states, found.states);
        store(&self.0.layer, found.layer);
        store(&self.0.workers, found.workers);
        store(&self.0.phase, 0);
    }

    /// Begins a phase of an engine on decision diagrams.
    pub fn begin(&self, phase: DiagramPhase) {
        store(&self.0.phase, phase as u64 + 1);
        if phase != DiagramPhase::Deciding {
            store(&self.0.rounds, 0);
        }
    }

    /// Counts an image in the search for reachable states.
    pub fn round(&self) {
        self.0.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// Stores the number of nodes in the store of diagrams, and their size in bytes.
    pub fn diagrams(&self, nodes: u64, bytes: u64) {
        store(&self.0.nodes, nodes);
        store(&self.0.bytes, bytes);
    }

    /// Returns the progress stored last; `None` if there are no states yet, or no diagrams.
    pub fn read(&self) -> Option<Reached> {
        let Counters { states, layer, workers, phase, rounds, nodes, bytes } = &*self.0;
        match load(phase).checked_sub(1) {
            Some(index) => Some(Reached::Diagrams(DiagramProgress {
                phase: *DiagramPhase::ALL.get(index as usize)?,
                rounds: load(rounds),
                nodes: load(nodes),
                bytes: load(bytes),
            })),
            None if load(states) == 0 => None,
            None => Some(Reached::States(Found {
                states: load(states),
                layer: load(layer),
                workers: load(workers),
            })),
        }
    }
}

fn store(counter: &AtomicU64, value: u64) {
    counter.store(value, Ordering::Relaxed);
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
