//! What some neighbouring states lead to, found by one thread while nobody changes the store.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Budget, Stop, Why};

use crate::store::{Store, hash};
use crate::successors::Stepper;

/// The successors of some states with consecutive numbers.
///
/// Rows that are not in the store have no number yet. Here they are numbered from the length of the
/// store on, in the order in which they were found; the round gives them their true numbers.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The rows that are not in the store, each once.
    words: Vec<u64>,
    width: usize,
    pub(crate) hashes: Vec<u64>,
    /// The positions of these rows, those of the first shard first, each shard's in order.
    by_shard: Vec<u32>,
    /// Where each shard's begin, and at last the number of rows.
    begins: Vec<u32>,
    /// The successors of all states, each once for each state; and for each state where they end.
    pub(crate) targets: Vec<u32>,
    pub(crate) ends: Vec<u32>,
    /// The states without successors, and those where some choice overflows.
    pub(crate) dead: Vec<u32>,
    pub(crate) overflowing: Vec<u32>,
    /// How many successors were found, the same ones counted again.
    pub(crate) n_found: usize,
}

/// What to find out about successors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Whether transitions are kept.
    pub(crate) transitions: bool,
    /// Whether a state without successors has a transition to itself.
    pub(crate) stutter: bool,
}

impl Batch {
    /// How many rows are not in the store.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    #[inline]
    pub(crate) fn row(&self, position: usize) -> &[u64] {
        &self.words[position * self.width..][..self.width]
    }

    /// The positions of the rows that belong to a shard, in order.
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
        let mut places = self.begins.clone();
        self.by_shard = vec![0; self.hashes.len()];
        for (position, &hash) in (0..).zip(&self.hashes) {
            let place = &mut places[store.shard(hash)];
            self.by_shard[*place as usize] = position;
            *place += 1;
        }
    }
}

/// Fills batches; holds what is needed from batch to batch.
pub(crate) struct Worker<'a> {
    stepper: Stepper<'a>,
    budget: &'a Budget,
    wanted: Wanted,
    /// The positions of the batch's new rows.
    index: HashTable<u32>,
    found: Vec<u32>,
}

/// Successors that may come before anybody looks at memory.
const SOON: usize = 4096;

impl<'a> Worker<'a> {
    pub(crate) fn new(stepper: Stepper<'a>, budget: &'a Budget, wanted: Wanted) -> Worker<'a> {
        Worker { stepper, budget, wanted, index: HashTable::new(), found: Vec::new() }
    }

    /// Finds the successors of some states; `held` tells the bytes that are held besides.
    pub(crate) fn fill(
        &mut self,
        states: Range<u32>,
        store: &Store,
        held: impl Fn() -> u64,
    ) -> Result<Batch, Stop> {
        let Worker { stepper, budget, wanted, index, found } = self;
        let mut batch = Batch { width: store.row_width(), ..Batch::default() };
        let n_known = store.len();
        index.clear();
        budget.check()?;
        for state in states {
            found.clear();
            let expansion = stepper.expand(store.row(state as usize), |row| {
                let number = match number_of(row, store, index, &mut batch) {
                    Ok(known) => known,
                    Err(position) => {
                        u32::try_from(n_known + position).map_err(|_| Stop::from(Why::States))?
                    }
                };
                if wanted.transitions {
                    found.push(number);
                }
                batch.n_found += 1;
                if batch.n_found.is_multiple_of(SOON) {
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

/// The number of a row that is in the store, or its position among the new ones.
#[inline]
fn number_of(
    row: &[u64],
    store: &Store,
    index: &mut HashTable<u32>,
    batch: &mut Batch,
) -> Result<u32, usize> {
    let hash = hash(row);
    if let Some(known) = store.find_hashed(hash, row) {
        return Ok(known);
    }
    let is_same = |&position: &u32| batch.row(position as usize) == row;
    match index.entry(hash, is_same, |&position| batch.hashes[position as usize]) {
        Entry::Occupied(entry) => Err(*entry.get() as usize),
        Entry::Vacant(entry) => {
            let position = batch.hashes.len();
            entry.insert(position as u32);
            batch.words.extend_from_slice(row);
            batch.hashes.push(hash);
            Err(position)
        }
    }
}
