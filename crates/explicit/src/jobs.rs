//! A pool of threads for parallel work.
//!
//! The pool is created when there is enough work for the first time: most models are small,
//! and for these one thread finishes before a second has started. Results never
//! depend on the number of threads or on their schedule.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use masque_verdict::Stop;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The number of threads, and the pool if there are several.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// Number of threads if the user has set it.
    given: Option<NonZeroUsize>,
    /// Number of threads. Querying the number of processors takes longer than checking a model of few
    /// states, so it is done on first use.
    n_threads: OnceLock<usize>,
    pub(crate) grain: Grain,
    /// The pool, created on first use; `None` if the system refuses.
    pool: OnceLock<Option<ThreadPool>>,
}

/// Granularity of parallel work. It changes only speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// Maximum number of states in a batch, which one thread expands.
    pub(crate) batch: usize,
    /// Maximum number of batches per thread in a round, after which the results are merged.
    pub(crate) batches: usize,
    /// Minimum number of states that are expanded by several threads.
    pub(crate) least: usize,
    /// Minimum number of states that are labelled by several threads.
    pub(crate) least_labelled: usize,
    /// Number of successors found in a round after which no further batch is started.
    pub(crate) most_found: usize,
}

impl Default for Grain {
    fn default() -> Grain {
        Grain { batch: 256, batches: 32, least: 1024, least_labelled: 1 << 15, most_found: 1 << 20 }
    }
}

/// Stack size of a pool thread, in bytes. Successors are found by recursion over the agents that have a
/// choice, which may be thousands. Stack memory that is never touched costs nothing.
const STACK_BYTES: usize = 64 << 20;

impl Jobs {
    /// Creates jobs with this number of threads. `None` means one per processor.
    pub(crate) fn new(jobs: Option<NonZeroUsize>) -> Jobs {
        Jobs { given: jobs, n_threads: OnceLock::new(), grain: Grain::default(), pool: OnceLock::new() }
    }

    pub(crate) fn n_threads(&self) -> usize {
        let count = || self.given.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        *self.n_threads.get_or_init(count)
    }

    /// Returns the pool, if there are several threads.
    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        let n_threads = self.n_threads();
        if n_threads < 2 {
            return None;
        }
        let make = || ThreadPoolBuilder::new().num_threads(n_threads).stack_size(STACK_BYTES).build().ok();
        self.pool.get_or_init(make).as_ref()
    }

    /// Returns the pool, if there are several threads and enough states to label.
    pub(crate) fn labelling(&self, n_states: usize) -> Option<&ThreadPool> {
        if n_states < self.grain.least_labelled { None } else { self.pool() }
    }

    /// Calls `work` for each item with its index, by several threads if there are enough states. If it stops
    /// for some items, one of the reasons is returned.
    pub(crate) fn each<T: Send>(
        &self,
        n_states: usize,
        items: &mut [T],
        work: impl Fn(usize, &mut T) -> Result<(), Stop> + Sync,
    ) -> Result<(), Stop> {
        match self.labelling(n_states) {
            None => items.iter_mut().enumerate().try_for_each(|(index, item)| work(index, item)),
            Some(pool) => pool
                .install(|| items.par_iter_mut().enumerate().try_for_each(|(index, item)| work(index, item))),
        }
    }

    /// Returns the length of blocks into which `len` items are divided, several per thread because blocks
    /// may take different times.
    pub(crate) fn block(&self, len: usize) -> usize {
        len.div_ceil(self.n_threads() * 8).max(1)
    }

    /// Divides `0..len` into one part of about the same length per thread.
    pub(crate) fn parts(&self, len: usize) -> Vec<Range<usize>> {
        let n_parts = if self.labelling(len).is_some() { self.n_threads() } else { 1 };
        (0..n_parts).map(|part| len * part / n_parts..len * (part + 1) / n_parts).collect()
    }
}
