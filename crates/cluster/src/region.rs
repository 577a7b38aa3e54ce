//! Regions: the sets of states that evidence asks about.

use masque_explicit::parts::{Bitset, StoredStates, Successors};
use masque_model::Deadlock;
use masque_verdict::{Budget, State, Stop, Why};

use crate::net::{Outbox, STATES_PER_ROUND, STATES_PER_SHORT_STRIDE, Task};
use crate::shard::Shard;
use crate::store::{Store, owner};

impl Shard<'_> {
    /// Encodes a state as a row.
    pub(crate) fn pack(&self, state: &State) -> Result<Vec<u64>, Stop> {
        self.machine.pack(state).ok_or(Stop::from(Why::Unsupported))
    }

    /// Returns the index of a row, if it is kept here.
    pub(crate) fn state_index(&self, row: &[u64]) -> Option<usize> {
        self.space.store.find(row).map(|state| state as usize)
    }

    /// Computes `νZ. R ∩ post(Z)`: counts the predecessors of each state of `R` in `R`, and removes,
    /// repeatedly, the states that have none left.
    ///
    /// Successors are not stored, so each state is expanded once to count it as a predecessor, and once
    /// more if it is removed.
    pub(crate) fn recurrent_states(&mut self, inside: &Bitset) -> Result<Bitset, Stop> {
        self.check_bytes(self.n_states() as u64 * 9)?;
        let mut n_before = vec![0_u32; self.n_states()];
        let mut recurrent = inside.clone();
        let all = inside.iter().map(|state| state as u32).collect();
        self.forwards(all, |next| {
            n_before[next] += 1;
            false
        })?;
        let mut removed = Vec::new();
        for state in inside.iter().filter(|&state| n_before[state] == 0) {
            recurrent.remove(state);
            removed.push(state as u32);
        }
        self.forwards(removed, |next| {
            n_before[next] -= 1;
            let is_removed = n_before[next] == 0 && inside.contains(next);
            if is_removed {
                recurrent.remove(next);
            }
            is_removed
        })?;
        Ok(recurrent)
    }

    /// Searches forwards from the states `open`: `take` is called once for every step, at the worker that
    /// keeps the successor, and returns whether to visit the successor.
    fn forwards(&mut self, open: Vec<u32>, take: impl FnMut(usize) -> bool) -> Result<(), Stop> {
        let budget: Budget = self.net.budget.clone();
        let mut task = Forwards {
            me: self.net.index(),
            peers: self.net.peers(),
            store: &self.space.store,
            successors: self.machine.successors(&budget),
            stutters: self.system.meaning.deadlock == Deadlock::Stutter,
            open,
            take,
            rows: Vec::new(),
            n_looked: 0,
        };
        self.net.run_until_quiet(&mut task)
    }
}

/// A forward search among the known states.
struct Forwards<'a, F> {
    me: usize,
    peers: usize,
    store: &'a Store,
    successors: Successors<'a>,
    stutters: bool,
    open: Vec<u32>,
    take: F,
    /// The successors of one state.
    rows: Vec<Vec<u64>>,
    /// Number of states expanded in this round.
    n_looked: usize,
}

impl<F: FnMut(usize) -> bool> Task for Forwards<'_, F> {
    fn begin(&mut self) {
        self.n_looked = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        if self.n_looked >= STATES_PER_ROUND {
            return Ok(false);
        }
        for _ in 0..STATES_PER_SHORT_STRIDE {
            let Some(state) = self.open.pop() else { return Ok(false) };
            self.n_looked += 1;
            self.rows.clear();
            let row = self.store.row(state as usize);
            let expansion = self.successors.expand(row, |next| {
                self.rows.push(next.to_vec());
                Ok(())
            })?;
            if expansion.is_dead && self.stutters {
                self.rows.push(row.to_vec());
            }
            self.rows.sort_unstable();
            self.rows.dedup();
            for next in std::mem::take(&mut self.rows) {
                match owner(&next, self.peers) {
                    to if to != self.me => out.send(to, &next),
                    _ => self.find(&next),
                }
            }
        }
        Ok(!self.open.is_empty())
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.chunks_exact(self.store.width()).for_each(|row| self.find(row));
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![self.open.len() as u64]
    }
}

impl<F: FnMut(usize) -> bool> Forwards<'_, F> {
    fn find(&mut self, row: &[u64]) {
        if let Some(state) = self.store.find(row)
            && (self.take)(state as usize)
        {
            self.open.push(state);
        }
    }
}
