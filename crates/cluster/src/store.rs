//! A worker's states: packed rows, numbered, and found again by a hash index of numbers.
//!
//! Which worker keeps a state is told by bits that are independent of those of the index: if both
//! came from one hash, all states of a worker would agree on some bits, and its index would be a few
//! long chains. (Measured: 484 s became 12.9 s by changing only the routing.)

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_explicit::parts::hash;
use masque_verdict::{Stop, Why};

/// Rows in a segment: what is allocated at a time. Rows never move.
const SEGMENT: usize = 1 << 14;

/// The worker, of so many, that keeps a row.
#[inline]
pub(crate) fn owner(row: &[u64], peers: usize) -> usize {
    let mixed = row.iter().fold(0x6a09_e667_f3bc_c909, |h: u64, &word| {
        // The finalizer of SplitMix64, whose constants have nothing in common with the index's.
        let mut z = h ^ word;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    });
    ((u128::from(mixed) * peers as u128) >> 64) as usize
}

/// Different rows of words, numbered in the order of their insertion.
#[derive(Debug)]
pub(crate) struct Store {
    segments: Vec<Vec<u64>>,
    /// Words per row, at least one.
    width: usize,
    len: u32,
    index: HashTable<u32>,
}

impl Store {
    pub(crate) fn new(width: usize) -> Store {
        Store { segments: Vec::new(), width, len: 0, index: HashTable::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    #[inline]
    pub(crate) fn row(&self, number: usize) -> &[u64] {
        row(&self.segments, self.width, number)
    }

    /// The number of a row, new or not.
    #[inline]
    pub(crate) fn insert(&mut self, new: &[u64]) -> Result<u32, Stop> {
        let (segments, width) = (&mut self.segments, self.width);
        let at = |number: u32| row(segments, width, number as usize);
        match self.index.entry(hash(new), |&n| at(n) == new, |&n| hash(at(n))) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let number = self.len;
                self.len = number.checked_add(1).ok_or(Stop::from(Why::States))?;
                entry.insert(number);
                if (number as usize).is_multiple_of(SEGMENT) {
                    // The first segment grows with small systems, of which there are many.
                    let rows = if number == 0 { 16 } else { SEGMENT };
                    segments.push(Vec::with_capacity(rows * width));
                }
                if let Some(last) = segments.last_mut() {
                    last.extend_from_slice(new);
                }
                Ok(number)
            }
        }
    }

    /// The number of a row, if it is here.
    pub(crate) fn find(&self, wanted: &[u64]) -> Option<u32> {
        self.index.find(hash(wanted), |&number| self.row(number as usize) == wanted).copied()
    }

    /// All rows from `first` on, in order, in pieces.
    pub(crate) fn rows_from(&self, first: usize) -> impl Iterator<Item = &[u64]> {
        self.segments.iter().enumerate().map(move |(number, segment)| {
            let skip = first.saturating_sub(number * SEGMENT) * self.width;
            &segment[skip.min(segment.len())..]
        })
    }

    /// What it takes to hold some thousand rows more: an index that is about to grow is copied into
    /// one of twice its size, and for that moment both exist.
    pub(crate) fn bytes_soon(&self) -> u64 {
        let index = self.index.allocation_size() as u64;
        let grows = self.index.len() + SEGMENT > self.index.capacity();
        self.row_bytes() + index * if grows { 3 } else { 1 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.row_bytes() + self.index.allocation_size() as u64
    }

    fn row_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.capacity() as u64 * 8).sum()
    }
}

#[inline]
fn row(segments: &[Vec<u64>], width: usize, number: usize) -> &[u64] {
    &segments[number / SEGMENT][number % SEGMENT * width..][..width]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_in_order_across_segments() {
        let mut store = Store::new(2);
        for round in 0..2 {
            for i in 0..40_000_u64 {
                assert_eq!(store.insert(&[i << 40, i % 7]), Ok(i as u32), "round {round}");
            }
        }
        assert_eq!((store.len(), store.row(34_321)), (40_000, &[34_321 << 40, 34_321 % 7][..]));
        assert_eq!((store.find(&[3 << 40, 3]), store.find(&[3, 3])), (Some(3), None));
        for first in [0, 5, SEGMENT, SEGMENT + 1, 39_999, 40_000] {
            let rows: Vec<u64> = store.rows_from(first).flatten().copied().collect();
            assert_eq!(rows.len(), 2 * (40_000 - first), "{first}");
            assert_eq!(rows.first(), store.rows_from(0).flatten().nth(2 * first), "{first}");
        }
    }

    /// Rows as they are: dense in few bits, or spread.
    #[test]
    fn shares_are_even_and_leave_the_index_its_bits() {
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
            // A worker's rows have nearly every pattern of the index's high bits, not a share of them.
            assert!(high_bits.iter().all(|bits| bits.len() > 1000), "{peers}");
        }
    }
}
