//! The reachable states: packed rows in one dense vector, with a hash table of their indices.
//!
//! The table is divided into shards by bits of the hash, so that several threads can fill it, each its
//! own shards. These bits differ from those that a table uses to place an entry (the low ones) and to
//! distinguish entries (the highest seven): otherwise the entries of a shard would cluster.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Stop, Why};

/// Number of rows that may be added between two checks of the memory limit.
const ROWS_BETWEEN_CHECKS: usize = 1 << 14;

/// Lowest bit of a hash that selects a shard.
const SHARD_SHIFT: u32 = 44;
/// Maximum number of shards: the bits from [`SHARD_SHIFT`] up to the highest seven.
pub(crate) const MAX_SHARDS: usize = 1 << 12;

/// A set of rows of words, indexed in the order of their insertion.
///
/// In addition to its words, a state takes five bytes per bucket of the table; at most 7/8 of the buckets
/// are used.
#[derive(Debug)]
pub(crate) struct Store {
    rows: Rows,
    /// Indices of rows, by shard. The number of shards is a power of two.
    shards: Box<[HashTable<u32>]>,
}

/// Rows of words, concatenated.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    words: Vec<u64>,
    /// Words per row, at least one.
    width: usize,
    len: u32,
}

impl Rows {
    #[inline]
    pub(crate) fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.width..][..self.width]
    }

    /// Adds a row and returns its index. There are at most `u32::MAX` rows.
    #[inline]
    pub(crate) fn push(&mut self, row: &[u64]) -> Result<u32, Stop> {
        let index = self.len;
        self.len = index.checked_add(1).ok_or(Stop::from(Why::States))?;
        self.words.extend_from_slice(row);
        Ok(index)
    }
}

impl Store {
    /// Creates an empty store for rows of `width` words, with one shard.
    pub(crate) fn new(width: usize) -> Store {
        let rows = Rows { words: Vec::new(), width, len: 0 };
        Store { rows, shards: Box::new([HashTable::new()]) }
    }

    /// Divides the table into shards for this number of threads, unless it has enough.
    pub(crate) fn split(&mut self, n_threads: usize) {
        // At least four shards for each thread, because they are not filled at the same speed.
        let n_shards = (n_threads * 4).next_power_of_two().min(MAX_SHARDS);
        if n_threads < 2 || n_shards <= self.shards.len() {
            return;
        }
        let capacity = self.len() / n_shards;
        self.shards = (0..n_shards).map(|_| HashTable::with_capacity(capacity)).collect();
        for index in 0..self.rows.len {
            let hash = hash(self.rows.row(index as usize));
            let shard = self.shard(hash);
            let rows = &self.rows;
            self.shards[shard].insert_unique(hash, index, |&i| self::hash(rows.row(i as usize)));
        }
    }

    /// Returns a store with copies of the first `n_rows` rows.
    pub(crate) fn prefix(&self, n_rows: usize) -> Result<Store, Stop> {
        let mut prefix = Store::new(self.rows.width);
        prefix.rows.words.reserve_exact(n_rows * self.rows.width);
        (0..n_rows).try_for_each(|index| prefix.insert(self.row(index)).map(|_| ()))?;
        Ok(prefix)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len as usize
    }

    #[inline]
    pub(crate) fn row(&self, index: usize) -> &[u64] {
        self.rows.row(index)
    }

    /// Returns the number of words per row.
    pub(crate) fn row_width(&self) -> usize {
        self.rows.width
    }

    /// Returns the rows, and the shards that the caller must fill with the indices of new rows.
    pub(crate) fn parts_mut(&mut self) -> (&mut Rows, &mut [HashTable<u32>]) {
        (&mut self.rows, &mut self.shards)
    }

    pub(crate) fn n_shards(&self) -> usize {
        self.shards.len()
    }

    /// Returns the shard of a hash.
    #[inline]
    pub(crate) fn shard(&self, hash: u64) -> usize {
        (hash >> SHARD_SHIFT) as usize & (self.shards.len() - 1)
    }

    /// Inserts a row unless it is stored already; returns its index.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64]) -> Result<u32, Stop> {
        let hash = hash(row);
        let shard = self.shard(hash);
        let rows = &mut self.rows;
        let is_same = |&n: &u32| rows.row(n as usize) == row;
        match self.shards[shard].entry(hash, is_same, |&n| self::hash(rows.row(n as usize))) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let index = rows.push(row)?;
                entry.insert(index);
                Ok(index)
            }
        }
    }

    /// Returns the index of a row, if it is stored.
    pub(crate) fn find(&self, row: &[u64]) -> Option<u32> {
        self.find_hashed(hash(row), row)
    }

    /// Returns the index of a row with this hash, if it is stored.
    #[inline]
    pub(crate) fn find_hashed(&self, hash: u64, row: &[u64]) -> Option<u32> {
        self.shards[self.shard(hash)].find(hash, |&index| self.row(index as usize) == row).copied()
    }

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
        self.rows.words.shrink_to_fit();
    }

    /// Returns the number of bytes needed for `n_more` rows and [`ROWS_BETWEEN_CHECKS`] more: a vector or
    /// table that is about to grow is copied into one of twice its size, and both exist at the same time.
    pub(crate) fn bytes_soon(&self, n_more: usize) -> u64 {
        let Rows { words, width, .. } = &self.rows;
        let n_new = ROWS_BETWEEN_CHECKS + n_more;
        let words_grow = words.len() + n_new * width > words.capacity();
        let n_new_per_shard = n_new / self.shards.len();
        let table = |shard: &HashTable<u32>| {
            let grows = shard.len() + n_new_per_shard > shard.capacity();
            shard.allocation_size() as u64 * if grows { 3 } else { 1 }
        };
        let words = words.capacity() as u64 * 8 * if words_grow { 3 } else { 1 };
        words + self.shards.iter().map(table).sum::<u64>()
    }

    pub(crate) fn bytes(&self) -> u64 {
        let index: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        self.rows.words.capacity() as u64 * 8 + index as u64
    }
}

/// Returns a hash of a row whose high and low bits are both well distributed.
#[inline]
pub fn hash(row: &[u64]) -> u64 {
    hash_words(row.iter().copied())
}

/// Returns a hash of some words.
#[inline]
pub(crate) fn hash_words(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0x243f_6a88_85a3_08d3, |h, word| mix(h ^ word))
}

/// Returns a hash of the bits of a row that are in the mask.
#[inline]
pub fn hash_masked(row: &[u64], mask: &[u64]) -> u64 {
    hash_words(row.iter().zip(mask).map(|(word, mask)| word & mask))
}

/// Returns the share, of `n_shares`, into which a hash falls, by the bits that select a shard.
#[inline]
pub(crate) fn share(hash: u64, n_shares: usize) -> usize {
    (hash >> SHARD_SHIFT) as usize % MAX_SHARDS * n_shares / MAX_SHARDS
}

/// The two halves of a product with an odd constant, folded together.
#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word) * 0x9e37_79b9_7f4a_7c15;
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_indexed_in_order() {
        for n_threads in [1, 2, 5] {
            let mut store = Store::new(2);
            for round in 0..2 {
                for i in 0..10_000_u64 {
                    if (round, i) == (0, 1234) {
                        store.split(n_threads);
                    }
                    assert_eq!(store.insert(&[i << 40, i % 7]), Ok(i as u32), "round {round}");
                }
            }
            assert_eq!((store.len(), store.row(4321)), (10_000, &[4321 << 40, 4321 % 7][..]));
            assert_eq!(store.find(&[4321 << 40, 4321 % 7]), Some(4321));
            assert_eq!(store.find(&[4321 << 40, 4321 % 7 + 1]), None);
        }
    }

    /// All shards have about the same size, for rows that differ in high, in low or in many bits.
    #[test]
    fn shards_are_filled_evenly() {
        let patterns: [fn(u64) -> u64; 4] = [|i| i, |i| i << 44, |i| i << 20 | i >> 3, |i| i.reverse_bits()];
        for pattern in patterns {
            let mut store = Store::new(1);
            store.split(16);
            (0..1 << 16).for_each(|i| _ = store.insert(&[pattern(i)]));
            let sizes = || store.shards.iter().map(HashTable::len);
            let (least, most) = (sizes().min().unwrap(), sizes().max().unwrap());
            assert!(least > 700 && most < 1400, "{least} to {most} where 1024 is even");
        }
    }
}
