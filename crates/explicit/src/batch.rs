//! The successors of some consecutive states, found by one thread while the store does not change.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Budget, Stop, Why};

use crate::store::{Store, hash};
use crate::successors::Stepper;

/// The successors of some states with consecutive indices.
///
/// Rows that are not in the store have no index yet. Here they get provisional indices, from the length of
/// the store on, in the order in which they were found; the end of the round assigns the final ones.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The rows that are not in the store, each once.
    words: Vec<u64>,
    width: usize,
    pub(crate) hashes: Vec<u64>,
    /// Indices of these rows within the batch, sorted by shard, then in order.
    by_shard: Vec<u32>,
    /// Start of each shard in `by_shard`, then the number of rows.
    begins: Vec<u32>,
    /// The successors of all states, each once per state.
    pub(crate) targets: Vec<u32>,
    /// End of each state's successors in `targets`.
    pub(crate) ends: Vec<u32>,
    /// The states without successors.
    pub(crate) dead: Vec<u32>,
    /// The states where some choice overflows.
    pub(crate) overflowing: Vec<u32>,
    /// Number of successors found, counting repetitions.
    pub(crate) n_found: usize,
}

/// The transitions that an expansion stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Whether transitions are kept.
    pub(crate) transitions: bool,
    /// Whether a state without successors has a transition to itself.
    pub(crate) stutter: bool,
}

impl Batch {
    /// Returns the number of rows that are not in the store.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    #[inline]
    pub(crate) fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.width..][..self.width]
    }

    /// Returns the indices of the rows that belong to a shard, in order.
    pub(crate) fn of_shard(&self, shard: usize) -> &[u32] {
        &self.by_shard[self.begins[shard] as usize..self.begins[shard + 1] as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let long = self.words.capacity() + self.hashes.capacity();
        let short = self.by_shard.capacity() + self.targets.capacity() + self.ends.capacity();
        (long * 8 + short * 4) as u64
    }

    /// Sorts the new rows by shard, by counting.
    fn route(&mut self, store: &Store) {
        self.begins = vec![0; store.n_shards() + 1];
        for &hash in &self.hashes {
            self.begins[store.shard(hash) + 1] += 1;
        }
        for shard in 0..store.n_shards() {
            self.begins[shard + 1] += self.begins[shard];
        }
        let mut nexts = self.begins.clone();
        self.by_shard = vec![0; self.hashes.len()];
        for (index, &hash) in (0..).zip(&self.hashes) {
            let next = &mut nexts[store.shard(hash)];
            self.by_shard[*next as usize] = index;
            *next += 1;
        }
    }
}

/// Fills batches. One thread uses it for many batches, so that its buffers are reused.
pub(crate) struct BatchFiller<'a> {
    stepper: Stepper<'a>,
    budget: &'a Budget,
    wanted: Wanted,
    /// Indices of the batch's new rows, by hash.
    index: HashTable<u32>,
    found: Vec<u32>,
}

/// Number of successors found between two checks of the memory limit.
const SUCCESSORS_BETWEEN_CHECKS: usize = 4096;

impl<'a> BatchFiller<'a> {
    pub(crate) fn new(stepper: Stepper<'a>, budget: &'a Budget, wanted: Wanted) -> BatchFiller<'a> {
        BatchFiller { stepper, budget, wanted, index: HashTable::new(), found: Vec::new() }
    }

    /// Finds the successors of some states. `held` returns the number of bytes that are held elsewhere.
    pub(crate) fn fill(
        &mut self,
        states: Range<u32>,
        store: &Store,
        held: impl Fn() -> u64,
    ) -> Result<Batch, Stop> {
        let BatchFiller { stepper, budget, wanted, index, found } = self;
        let mut batch = Batch { width: store.row_width(), ..Batch::default() };
        let n_known = store.len();
        index.clear();
        budget.check()?;
        for state in states {
            found.clear();
            let expansion = stepper.expand(store.row(state as usize), |row| {
                let target = match find_or_add(row, store, index, &mut batch) {
                    Ok(known) => known,
                    Err(new) => u32::try_from(n_known + new).map_err(|_| Stop::from(Why::States))?,
                };
                if wanted.transitions {
                    found.push(target);
                }
                batch.n_found += 1;
                if batch.n_found.is_multiple_of(SUCCESSORS_BETWEEN_CHECKS) {
                    let more = batch.bytes() + (index.allocation_size() + found.capacity() * 4) as u64;
                    budget.check_memory(held() + more)?;
                }
                Ok(())
            })?;
            if expansion.is_dead {
                batch.dead.push(state);
                if wanted.stutter {
                    found.push(state);
                }
            }
            if expansion.overflows {
                batch.overflowing.push(state);
            }
            if wanted.transitions {
                found.sort_unstable();
                found.dedup();
                batch.targets.extend_from_slice(found);
                batch.ends.push(u32::try_from(batch.targets.len()).map_err(|_| Stop::from(Why::Memory))?);
            }
        }
        batch.route(store);
        Ok(batch)
    }
}

/// Returns the index of a row in the store, or, as an error, its index among the new rows of the batch.
#[inline]
fn find_or_add(
    row: &[u64],
    store: &Store,
    index: &mut HashTable<u32>,
    batch: &mut Batch,
) -> Result<u32, usize> {
    let hash = hash(row);
    if let Some(known) = store.find_hashed(hash, row) {
        return Ok(known);
    }
    let is_same = |&other: &u32| batch.row(other as usize) == row;
    match index.entry(hash, is_same, |&other| batch.hashes[other as usize]) {
        Entry::Occupied(entry) => Err(*entry.get() as usize),
        Entry::Vacant(entry) => {
            let new = batch.hashes.len();
            entry.insert(new as u32);
            batch.words.extend_from_slice(row);
            batch.hashes.push(hash);
            Err(new)
        }
    }
}
