//! The states of a worker: packed rows, stored consecutively, with a hash table of their indices.
//!
//! The worker that keeps a state is computed from hash bits that are independent of those of the table: if
//! both came from one hash, all states of a worker would agree on some bits, and its table would have a
//! few long chains. (Measured: 484 s became 12.9 s by changing only the routing.)

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_explicit::parts::hash;
use masque_verdict::{Stop, Why};

/// Number of rows in a segment, the unit of allocation. Rows never move.
const SEGMENT_ROWS: usize = 1 << 14;

/// Returns the worker, of `peers` workers, that keeps a row.
#[inline]
pub(crate) fn owner(row: &[u64], peers: usize) -> usize {
    let mixed = row.iter().fold(0x6a09_e667_f3bc_c909, |h: u64, &word| {
        // The finalizer of SplitMix64, whose constants differ from those of the table's hash function.
        let mut z = h ^ word;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    });
    ((u128::from(mixed) * peers as u128) >> 64) as usize
}

/// A set of rows of words, indexed in the order of their insertion.
#[derive(Debug)]
pub(crate) struct Store {
    segments: Vec<Vec<u64>>,
    /// Words per row, at least one.
    width: usize,
    len: u32,
    table: HashTable<u32>,
}

impl Store {
    pub(crate) fn new(width: usize) -> Store {
        Store { segments: Vec::new(), width, len: 0, table: HashTable::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    #[inline]
    pub(crate) fn row(&self, index: usize) -> &[u64] {
        row(&self.segments, self.width, index)
    }

    /// Inserts a row unless it is stored already; returns its index.
    #[inline]
    pub(crate) fn insert(&mut self, new: &[u64]) -> Result<u32, Stop> {
        let (segments, width) = (&mut self.segments, self.width);
        let stored = |index: u32| row(segments, width, index as usize);
        match self.table.entry(hash(new), |&i| stored(i) == new, |&i| hash(stored(i))) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let index = self.len;
                self.len = index.checked_add(1).ok_or(Stop::from(Why::States))?;
                entry.insert(index);
                if (index as usize).is_multiple_of(SEGMENT_ROWS) {
                    // The first segment starts with few rows, because most systems have few states.
                    let rows = if index == 0 { 16 } else { SEGMENT_ROWS };
                    segments.push(Vec::with_capacity(rows * width));
                }
                if let Some(last) = segments.last_mut() {
                    last.extend_from_slice(new);
                }
                Ok(index)
            }
        }
    }

    /// Returns the index of a row, if it is stored.
    pub(crate) fn find(&self, wanted: &[u64]) -> Option<u32> {
        self.table.find(hash(wanted), |&index| self.row(index as usize) == wanted).copied()
    }

    /// Returns all rows from the index `first` on, in order, in slices of several rows.
    pub(crate) fn rows_from(&self, first: usize) -> impl Iterator<Item = &[u64]> {
        self.segments.iter().enumerate().map(move |(segment_index, segment)| {
            let skip = first.saturating_sub(segment_index * SEGMENT_ROWS) * self.width;
            &segment[skip.min(segment.len())..]
        })
    }

    /// Returns the number of bytes needed for some thousand rows more: a table that is about to grow is
    /// copied into one of twice its size, and both exist at the same time.
    pub(crate) fn bytes_soon(&self) -> u64 {
        let table = self.table.allocation_size() as u64;
        let grows = self.table.len() + SEGMENT_ROWS > self.table.capacity();
        self.row_bytes() + table * if grows { 3 } else { 1 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.row_bytes() + self.table.allocation_size() as u64
    }

    fn row_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.capacity() as u64 * 8).sum()
    }
}

#[inline]
fn row(segments: &[Vec<u64>], width: usize, index: usize) -> &[u64] {
    &segments[index / SEGMENT_ROWS][index % SEGMENT_ROWS * width..][..width]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_indexed_in_order_across_segments() {
        let mut store = Store::new(2);
        for round in 0..2 {
            for i in 0..40_000_u64 {
                assert_eq!(store.insert(&[i << 40, i % 7]), Ok(i as u32), "round {round}");
            }
        }
        assert_eq!((store.len(), store.row(34_321)), (40_000, &[34_321 << 40, 34_321 % 7][..]));
        assert_eq!((store.find(&[3 << 40, 3]), store.find(&[3, 3])), (Some(3), None));
        for first in [0, 5, SEGMENT_ROWS, SEGMENT_ROWS + 1, 39_999, 40_000] {
            let rows: Vec<u64> = store.rows_from(first).flatten().copied().collect();
            assert_eq!(rows.len(), 2 * (40_000 - first), "{first}");
            assert_eq!(rows.first(), store.rows_from(0).flatten().nth(2 * first), "{first}");
        }
    }

    /// Rows that differ in adjacent bits, or in bits of several words, as real ones do.
    #[test]
    fn shares_are_even_and_independent_of_the_bits_of_the_table() {
        for (peers, shift) in [(2, 0), (3, 0), (3, 40), (7, 20), (16, 52)] {
            let mut shares = vec![0_u64; peers];
            let mut high_bits = vec![std::collections::HashSet::new(); peers];
            for i in 0..100_000_u64 {
                let row = [(i & 0xfff) << shift, i >> 12];
                let to = owner(&row, peers);
                shares[to] += 1;
                high_bits[to].insert(hash(&row) >> 54);
            }
            let even = 100_000 / peers as u64;
            assert!(shares.iter().all(|&n| n.abs_diff(even) * 20 < even), "{peers}: {shares:?}");
            // The rows of each worker have nearly every pattern of the table's high bits.
            assert!(high_bits.iter().all(|bits| bits.len() > 1000), "{peers}");
        }
    }
}
