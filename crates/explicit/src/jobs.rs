//! Threads for work that can be shared.
//!
//! They are made when there is first enough to do, and wait between times: most models are small,
//! and for these one thread is done before a second has started. What threads find together never
//! depends on how many they are or on who was faster.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use masque_verdict::Stop;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads that share the work, if they are more than one.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// Number of threads if the user has set it.
    given: Option<NonZeroUsize>,
    /// Number of threads. To ask the system how many processors there are takes longer than to check
    /// a small model, so it is asked on first use.
    n_threads: OnceLock<usize>,
    pub(crate) grain: Grain,
    /// Made on first use; none if the system refuses.
    pool: OnceLock<Option<ThreadPool>>,
}

/// How finely work is cut. It changes speed only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// At most so many states are expanded by one thread before it asks for more.
    pub(crate) batch: usize,
    /// So many batches for each thread, then all results are put together.
    pub(crate) batches: usize,
    /// Fewer states than this are expanded by one thread.
    pub(crate) least: usize,
    /// Fewer states than this are labelled by one thread.
    pub(crate) least_labelled: usize,
    /// A batch that has found so many successors is the last one of its round.
    pub(crate) most_found: usize,
}

impl Default for Grain {
    fn default() -> Grain {
        Grain { batch: 256, batches: 32, least: 1024, least_labelled: 1 << 15, most_found: 1 << 20 }
    }
}

/// Successors are found by recursion over the agents that have a choice, of which there may be
/// thousands. Memory that is not touched costs nothing.
const STACK: usize = 64 << 20;

impl Jobs {
    /// So many threads; if nothing is said, as many as there are processors.
    pub(crate) fn new(jobs: Option<NonZeroUsize>) -> Jobs {
        Jobs { given: jobs, n_threads: OnceLock::new(), grain: Grain::default(), pool: OnceLock::new() }
    }

    pub(crate) fn n_threads(&self) -> usize {
        let count = || self.given.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        *self.n_threads.get_or_init(count)
    }

    /// The threads, if there are several.
    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        let n_threads = self.n_threads();
        if n_threads < 2 {
            return None;
        }
        let make = || ThreadPoolBuilder::new().num_threads(n_threads).stack_size(STACK).build().ok();
        self.pool.get_or_init(make).as_ref()
    }

    /// The threads, if there are several and so many states to label.
    pub(crate) fn labelling(&self, n_states: usize) -> Option<&ThreadPool> {
        if n_states < self.grain.least_labelled { None } else { self.pool() }
    }

    /// Calls `work` for each of the items with its position: by one thread, or by several if so many
    /// states are worth it. If it stops for some items, one of the reasons is told.
    pub(crate) fn each<T: Send>(
        &self,
        n_states: usize,
        items: &mut [T],
        work: impl Fn(usize, &mut T) -> Result<(), Stop> + Sync,
    ) -> Result<(), Stop> {
        match self.labelling(n_states) {
            None => items.iter_mut().enumerate().try_for_each(|(position, item)| work(position, item)),
            Some(pool) => pool.install(|| {
                items.par_iter_mut().enumerate().try_for_each(|(position, item)| work(position, item))
            }),
        }
    }

    /// How long a piece of so many things should be, where pieces may take different times.
    pub(crate) fn block(&self, len: usize) -> usize {
        len.div_ceil(self.n_threads() * 8).max(1)
    }

    /// Cuts `0..len` into as many parts of about the same length as there are threads for it.
    pub(crate) fn parts(&self, len: usize) -> Vec<Range<usize>> {
        let n_parts = if self.labelling(len).is_some() { self.n_threads() } else { 1 };
        (0..n_parts).map(|part| len * part / n_parts..len * (part + 1) / n_parts).collect()
    }
}
