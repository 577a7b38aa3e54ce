//! Expansion of states by several threads, with the same result as with one thread.
//!
//! A *round* expands some consecutive states, batch by batch. First each thread finds the successors
//! of the batches that it takes, and only reads the store. Then one thread per shard of the store finds
//! the rows that occur in several batches. Then the new rows are
//! numbered in the order of the batches, and within a batch in the order in which they were found;
//! that is the order in which a single thread finds them, so the indices of states depend neither on the
//! number of threads nor on the division into batches and rounds. At last each shard
//! is filled with the indices, while the transitions are stored.
//!
//! No thread waits for a lock: in each of these steps a thread writes only its own data, or an entry
//! that no other thread writes. A store with a lock for each shard, or one that is filled by
//! atomic exchange [LvdPW10], needs no rounds, but the indices of states depend on the schedule: layers
//! would have to be kept apart, and rows sorted afterwards. Rounds cost little: on `dc 14 sum` a round is
//! some ten thousand states, and the sequential part is the copying of their rows.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Budget, Stop, Why};
use rayon::ThreadPool;
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};

use crate::batch::{Batch, BatchFiller, Wanted};
use crate::graph::Edges;
use crate::jobs::{Grain, Jobs};
use crate::steps::Steps;
use crate::store::{Store, hash};
use crate::successors::Stepper;

/// Expands states with several threads.
pub(crate) struct ParallelExpander<'a> {
    pool: &'a ThreadPool,
    grain: Grain,
    budget: &'a Budget,
    /// One per thread.
    fillers: Vec<BatchFiller<'a>>,
    /// New rows of a round, by shard, each as a batch and an index in it. Empty between rounds.
    fresh: Vec<HashTable<(u32, u32)>>,
}

/// Special states that an expansion has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The states without successors.
    pub(crate) dead: Vec<u32>,
    /// The states where some choice overflows.
    pub(crate) overflowing: Vec<u32>,
}

impl<'a> ParallelExpander<'a> {
    /// Creates an expander with the threads of these jobs; `None` if there is only one thread.
    pub(crate) fn new(
        jobs: &'a Jobs,
        steps: &'a Steps<'a>,
        wanted: Wanted,
        budget: &'a Budget,
    ) -> Option<ParallelExpander<'a>> {
        let pool = jobs.pool()?;
        let filler = |_| BatchFiller::new(Stepper::new(steps, budget), budget, wanted);
        let fillers = (0..jobs.n_threads()).map(filler).collect();
        Some(ParallelExpander { pool, grain: jobs.grain, budget, fillers, fresh: Vec::new() })
    }

    /// Expands the first of these states, at least one batch; returns the first state that is left.
    pub(crate) fn expand(
        &mut self,
        states: Range<u32>,
        store: &mut Store,
        edges: &mut Option<Edges>,
        found: &mut Found,
    ) -> Result<u32, Stop> {
        let held = store.bytes_soon(0) + edges.as_ref().map_or(0, Edges::bytes);
        // At least four batches for each thread, so that none waits long for the last.
        let batch = self.grain.batch.min(states.len().div_ceil(self.fillers.len() * 4)).max(1);
        let batches = self.fill(states.clone(), batch, store, held)?;
        let n_new = batches.iter().map(Batch::len).sum();
        let bytes: u64 = batches.iter().map(Batch::bytes).sum();
        // In addition, for each new row its leader and its entry in a table.
        let soon = store.bytes_soon(n_new) + edges.as_ref().map_or(0, Edges::bytes);
        self.budget.check_memory(soon + bytes + n_new as u64 * 16)?;
        self.merge(&batches, store, edges)?;
        let n_taken = batches.len() * batch;
        for batch in batches {
            found.dead.extend(batch.dead);
            found.overflowing.extend(batch.overflowing);
        }
        Ok(states.end.min(states.start.saturating_add(n_taken as u32)))
    }

    /// Finds the successors of the first of these states, in batches of `batch` states. The store does not
    /// change.
    fn fill(
        &mut self,
        states: Range<u32>,
        batch: usize,
        store: &Store,
        held: u64,
    ) -> Result<Vec<Batch>, Stop> {
        let Grain { batches, most_found, .. } = self.grain;
        let n_batches = states.len().div_ceil(batch).min(batches * self.fillers.len());
        let (next, n_found, held) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(held));
        let is_over = AtomicBool::new(false);
        let take = |filler: &mut BatchFiller<'a>| {
            let mut done = Vec::new();
            // A thread that takes a batch also fills it, so the filled batches are consecutive.
            while !is_over.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= n_batches {
                    break;
                }
                let begin = states.start + (index * batch) as u32;
                let end = states.end.min(begin.saturating_add(batch as u32));
                let filled = filler.fill(begin..end, store, || held.load(Ordering::Relaxed));
                let is_enough = filled.as_ref().map_or(true, |filled| {
                    held.fetch_add(filled.bytes(), Ordering::Relaxed);
                    n_found.fetch_add(filled.n_found, Ordering::Relaxed) + filled.n_found > most_found
                });
                if is_enough {
                    is_over.store(true, Ordering::Relaxed);
                }
                done.push((index, filled));
            }
            done
        };
        let fillers = &mut self.fillers;
        let mut done: Vec<_> = self.pool.install(|| fillers.par_iter_mut().flat_map_iter(take).collect());
        done.sort_unstable_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, filled)| filled).collect()
    }

    /// Adds the new states of all batches to the store, and their transitions to `edges`.
    fn merge(&mut self, batches: &[Batch], store: &mut Store, edges: &mut Option<Edges>) -> Result<(), Stop> {
        let n_known = store.len() as u32;
        let mut firsts = Vec::with_capacity(batches.len());
        let mut n_new = 0_u32;
        for batch in batches {
            firsts.push(n_new);
            let n_more = u32::try_from(batch.len()).ok().and_then(|len| n_new.checked_add(len));
            n_new = n_more.ok_or(Stop::from(Why::Memory))?;
        }
        let indices = self.assign_indices(batches, &firsts, n_new, store)?;
        let (rows, shards) = store.parts_mut();
        let rows = &*rows;
        let fill_shard = |(shard, fresh): (&mut HashTable<u32>, &mut HashTable<(u32, u32)>)| {
            for (batch, row) in fresh.drain() {
                let row_hash = batches[batch as usize].hashes[row as usize];
                let state = indices[(firsts[batch as usize] + row) as usize];
                shard.insert_unique(row_hash, state, |&state| hash(rows.row(state as usize)));
            }
        };
        let keep_edges = || {
            let Some(edges) = edges else { return Ok(()) };
            for (batch, &first) in batches.iter().zip(&firsts) {
                // Indices from the length of the store on are indices in the batch.
                let final_index = |&target: &u32| match target.checked_sub(n_known) {
                    None => target,
                    Some(row) => indices[(first + row) as usize],
                };
                edges.add_sources(batch.targets.iter().map(final_index), &batch.ends)?;
            }
            Ok(())
        };
        let fresh = &mut self.fresh;
        let fill_shards = || shards.par_iter_mut().zip(fresh).for_each(fill_shard);
        self.pool.install(|| rayon::join(fill_shards, keep_edges)).1
    }

    /// Adds the new rows to the store, and returns the index of each.
    ///
    /// `firsts` has the index of each batch's first row among all `n_new` rows.
    fn assign_indices(
        &mut self,
        batches: &[Batch],
        firsts: &[u32],
        n_new: u32,
        store: &mut Store,
    ) -> Result<Vec<u32>, Stop> {
        self.fresh.resize_with(store.n_shards(), HashTable::new);
        // For each row the first equal row, initially itself. Only the thread of a shard writes the entries
        // of its rows.
        let leaders: Vec<AtomicU32> = (0..n_new).map(AtomicU32::new).collect();
        let lead = |(shard, fresh): (usize, &mut HashTable<(u32, u32)>)| {
            for (batch_index, batch) in (0_u32..).zip(batches) {
                for &index in batch.of_shard(shard) {
                    let row = batch.row(index as usize);
                    let entry = fresh.entry(
                        batch.hashes[index as usize],
                        |&(batch, other)| batches[batch as usize].row(other as usize) == row,
                        |&(batch, other)| batches[batch as usize].hashes[other as usize],
                    );
                    match entry {
                        Entry::Vacant(entry) => _ = entry.insert((batch_index, index)),
                        Entry::Occupied(entry) => {
                            let &(batch, first) = entry.get();
                            let leader = firsts[batch as usize] + first;
                            let own = firsts[batch_index as usize] + index;
                            leaders[own as usize].store(leader, Ordering::Relaxed);
                        }
                    }
                }
            }
        };
        let fresh = &mut self.fresh;
        self.pool.install(|| fresh.into_par_iter().enumerate().for_each(lead));
        let mut indices: Vec<u32> = leaders.into_iter().map(AtomicU32::into_inner).collect();
        let (rows, _) = store.parts_mut();
        let mut own = 0;
        for batch in batches {
            for row in 0..batch.len() {
                let leader = indices[own] as usize;
                indices[own] = if leader == own { rows.push(batch.row(row))? } else { indices[leader] };
                own += 1;
            }
        }
        Ok(indices)
    }
}
