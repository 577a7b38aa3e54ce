//! Several threads expand states together, and the result is as if one had done it.
//!
//! A *round* takes some neighbouring states, batch by batch. First each thread finds the successors
//! of the batches it takes, and only reads the store. Then each shard of the store is looked after
//! by one thread, which finds out which rows occur in several batches. Then the new rows are
//! numbered in the order of the batches, and within a batch in the order in which they were found;
//! that is the order in which one thread alone finds them, so states have the same numbers however
//! many threads there are, and however the states are cut into batches and rounds. At last each shard
//! is filled with the numbers, while the transitions are put in their place.
//!
//! No thread waits for a lock: in each of these steps a thread writes only what is its own, or a
//! number that nobody else writes. A store with a lock for each shard, or one that is filled by
//! atomic exchange [LvdPW10], needs no rounds, but numbers states by chance: layers would have to
//! be kept apart, and rows sorted afterwards. Rounds cost little: on `dc 14 sum` a round is some ten
//! thousand states, and the part done by one thread is the copying of their rows.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Budget, Stop, Why};
use rayon::ThreadPool;
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};

use crate::batch::{Batch, Wanted, Worker};
use crate::graph::Edges;
use crate::jobs::{Grain, Jobs};
use crate::steps::Steps;
use crate::store::{Store, hash};
use crate::successors::Stepper;

/// Threads that expand states together.
pub(crate) struct Crew<'a> {
    pool: &'a ThreadPool,
    grain: Grain,
    budget: &'a Budget,
    workers: Vec<Worker<'a>>,
    /// For each shard the new rows of a round, each as a batch and a position in it. Empty between
    /// rounds.
    fresh: Vec<HashTable<(u32, u32)>>,
}

/// What a round has found besides states and transitions.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The states without successors.
    pub(crate) dead: Vec<u32>,
    /// The states where some choice overflows.
    pub(crate) overflowing: Vec<u32>,
}

impl<'a> Crew<'a> {
    /// The crew of these jobs; none if one thread is all there is.
    pub(crate) fn new(
        jobs: &'a Jobs,
        steps: &'a Steps<'a>,
        wanted: Wanted,
        budget: &'a Budget,
    ) -> Option<Crew<'a>> {
        let pool = jobs.pool()?;
        let worker = |_| Worker::new(Stepper::new(steps, budget), budget, wanted);
        let workers = (0..jobs.n_threads()).map(worker).collect();
        Some(Crew { pool, grain: jobs.grain, budget, workers, fresh: Vec::new() })
    }

    /// Expands the first of these states, at least one batch; answers where the rest begins.
    pub(crate) fn expand(
        &mut self,
        states: Range<u32>,
        store: &mut Store,
        edges: &mut Option<Edges>,
        found: &mut Found,
    ) -> Result<u32, Stop> {
        let held = store.bytes_soon(0) + edges.as_ref().map_or(0, Edges::bytes);
        // A few batches for each thread, so that none waits long for the last.
        let batch = self.grain.batch.min(states.len().div_ceil(self.workers.len() * 4)).max(1);
        let batches = self.fill(states.clone(), batch, store, held)?;
        let n_new = batches.iter().map(Batch::len).sum();
        let bytes: u64 = batches.iter().map(Batch::bytes).sum();
        // Besides, for each new row its leader and its place in a table.
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

    /// Finds the successors of the first of these states, `batch` by `batch`. Nothing is changed yet.
    fn fill(
        &mut self,
        states: Range<u32>,
        batch: usize,
        store: &Store,
        held: u64,
    ) -> Result<Vec<Batch>, Stop> {
        let Grain { batches, most_found, .. } = self.grain;
        let n_batches = states.len().div_ceil(batch).min(batches * self.workers.len());
        let (next, n_found, held) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(held));
        let is_over = AtomicBool::new(false);
        let take = |worker: &mut Worker<'a>| {
            let mut done = Vec::new();
            // Who takes a batch fills it, so those that are taken have no gap.
            while !is_over.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= n_batches {
                    break;
                }
                let begin = states.start + (number * batch) as u32;
                let end = states.end.min(begin.saturating_add(batch as u32));
                let filled = worker.fill(begin..end, store, || held.load(Ordering::Relaxed));
                let is_enough = filled.as_ref().map_or(true, |filled| {
                    held.fetch_add(filled.bytes(), Ordering::Relaxed);
                    n_found.fetch_add(filled.n_found, Ordering::Relaxed) + filled.n_found > most_found
                });
                if is_enough {
                    is_over.store(true, Ordering::Relaxed);
                }
                done.push((number, filled));
            }
            done
        };
        let workers = &mut self.workers;
        let mut done: Vec<_> = self.pool.install(|| workers.par_iter_mut().flat_map_iter(take).collect());
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, filled)| filled).collect()
    }

    /// Puts together what the batches have found.
    fn merge(&mut self, batches: &[Batch], store: &mut Store, edges: &mut Option<Edges>) -> Result<(), Stop> {
        let n_known = store.len() as u32;
        let mut firsts = Vec::with_capacity(batches.len());
        let mut n_new = 0_u32;
        for batch in batches {
            firsts.push(n_new);
            let n_more = u32::try_from(batch.len()).ok().and_then(|len| n_new.checked_add(len));
            n_new = n_more.ok_or(Stop::from(Why::Memory))?;
        }
        let numbers = self.number(batches, &firsts, n_new, store)?;
        let (rows, shards) = store.parts_mut();
        let rows = &*rows;
        let fill_shard = |(shard, fresh): (&mut HashTable<u32>, &mut HashTable<(u32, u32)>)| {
            for (batch, position) in fresh.drain() {
                let row_hash = batches[batch as usize].hashes[position as usize];
                let number = numbers[(firsts[batch as usize] + position) as usize];
                shard.insert_unique(row_hash, number, |&number| hash(rows.row(number as usize)));
            }
        };
        let keep_edges = || {
            let Some(edges) = edges else { return Ok(()) };
            for (batch, &first) in batches.iter().zip(&firsts) {
                // Numbers from the length of the store on were positions in the batch.
                let number = |&target: &u32| match target.checked_sub(n_known) {
                    None => target,
                    Some(position) => numbers[(first + position) as usize],
                };
                edges.add_sources(batch.targets.iter().map(number), &batch.ends)?;
            }
            Ok(())
        };
        let fresh = &mut self.fresh;
        let fill_shards = || shards.par_iter_mut().zip(fresh).for_each(fill_shard);
        self.pool.install(|| rayon::join(fill_shards, keep_edges)).1
    }

    /// The number of each new row, and the rows themselves into the store.
    ///
    /// `firsts` tells where each batch's rows begin among all `n_new`.
    fn number(
        &mut self,
        batches: &[Batch],
        firsts: &[u32],
        n_new: u32,
        store: &mut Store,
    ) -> Result<Vec<u32>, Stop> {
        self.fresh.resize_with(store.n_shards(), HashTable::new);
        // For each row the first that is the same, at first itself. Of a shard's rows only the
        // thread that looks after the shard writes.
        let leaders: Vec<AtomicU32> = (0..n_new).map(AtomicU32::new).collect();
        let lead = |(shard, fresh): (usize, &mut HashTable<(u32, u32)>)| {
            for (number, batch) in (0_u32..).zip(batches) {
                for &position in batch.of_shard(shard) {
                    let row = batch.row(position as usize);
                    let entry = fresh.entry(
                        batch.hashes[position as usize],
                        |&(batch, position)| batches[batch as usize].row(position as usize) == row,
                        |&(batch, position)| batches[batch as usize].hashes[position as usize],
                    );
                    match entry {
                        Entry::Vacant(entry) => _ = entry.insert((number, position)),
                        Entry::Occupied(entry) => {
                            let &(batch, first) = entry.get();
                            let leader = firsts[batch as usize] + first;
                            let place = firsts[number as usize] + position;
                            leaders[place as usize].store(leader, Ordering::Relaxed);
                        }
                    }
                }
            }
        };
        let fresh = &mut self.fresh;
        self.pool.install(|| fresh.into_par_iter().enumerate().for_each(lead));
        let mut numbers: Vec<u32> = leaders.into_iter().map(AtomicU32::into_inner).collect();
        let (rows, _) = store.parts_mut();
        let mut place = 0;
        for batch in batches {
            for position in 0..batch.len() {
                let leader = numbers[place] as usize;
                numbers[place] =
                    if leader == place { rows.push(batch.row(position))? } else { numbers[leader] };
                place += 1;
            }
        }
        Ok(numbers)
    }
}
