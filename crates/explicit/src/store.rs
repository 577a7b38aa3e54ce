//! The reachable states: packed rows in one dense vector, found again by a hash index of numbers.
//!
//! The index is cut into shards by bits of the hash, so that several threads can fill it, each its
//! own shards. These bits are none of those that a table uses to place an entry (the low ones) or to
//! tell entries apart (the highest seven): else the entries of a shard would crowd in one place.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Stop, Why};

/// Rows that may come before anybody asks again.
const SOON: usize = 1 << 14;

/// The first of the bits of a hash that name a shard.
const ROUTE: u32 = 44;
/// There are at most so many shards: the bits up to the highest seven.
pub(crate) const MOST_SHARDS: usize = 1 << 12;

/// Different rows of words, numbered in the order of their insertion.
///
/// Beside the words themselves a state costs five bytes per bucket of the index, of which 7/8 at
/// most are used.
#[derive(Debug)]
pub(crate) struct Store {
    rows: Rows,
    /// Numbers of rows, by shard; a power of two of them.
    shards: Box<[HashTable<u32>]>,
}

/// Rows of words, one after the other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    words: Vec<u64>,
    /// Words per row, at least one.
    width: usize,
    len: u32,
}

impl Rows {
    #[inline]
    pub(crate) fn row(&self, number: usize) -> &[u64] {
        &self.words[number * self.width..][..self.width]
    }

    /// Adds a row and tells its number. There are at most `u32::MAX` of them.
    #[inline]
    pub(crate) fn push(&mut self, row: &[u64]) -> Result<u32, Stop> {
        let number = self.len;
        self.len = number.checked_add(1).ok_or(Stop::from(Why::States))?;
        self.words.extend_from_slice(row);
        Ok(number)
    }
}

impl Store {
    /// An empty store for rows of `width` words, with one shard.
    pub(crate) fn new(width: usize) -> Store {
        let rows = Rows { words: Vec::new(), width, len: 0 };
        Store { rows, shards: Box::new([HashTable::new()]) }
    }

    /// Cuts the index into shards for so many threads, if it has fewer.
    pub(crate) fn split(&mut self, n_threads: usize) {
        // A few shards for each thread: they are not filled at the same speed.
        let n_shards = (n_threads * 4).next_power_of_two().min(MOST_SHARDS);
        if n_threads < 2 || n_shards <= self.shards.len() {
            return;
        }
        let capacity = self.len() / n_shards;
        self.shards = (0..n_shards).map(|_| HashTable::with_capacity(capacity)).collect();
        for number in 0..self.rows.len {
            let hash = hash(self.rows.row(number as usize));
            let shard = self.shard(hash);
            let rows = &self.rows;
            self.shards[shard].insert_unique(hash, number, |&n| self::hash(rows.row(n as usize)));
        }
    }

    /// The first so many rows, in a store of their own.
    pub(crate) fn prefix(&self, n_rows: usize) -> Result<Store, Stop> {
        let mut prefix = Store::new(self.rows.width);
        prefix.rows.words.reserve_exact(n_rows * self.rows.width);
        (0..n_rows).try_for_each(|number| prefix.insert(self.row(number)).map(|_| ()))?;
        Ok(prefix)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len as usize
    }

    #[inline]
    pub(crate) fn row(&self, number: usize) -> &[u64] {
        self.rows.row(number)
    }

    /// Words per row.
    pub(crate) fn row_width(&self) -> usize {
        self.rows.width
    }

    /// The rows, and the shards to be filled with the numbers of new ones.
    pub(crate) fn parts_mut(&mut self) -> (&mut Rows, &mut [HashTable<u32>]) {
        (&mut self.rows, &mut self.shards)
    }

    pub(crate) fn n_shards(&self) -> usize {
        self.shards.len()
    }

    /// The shard of a hash.
    #[inline]
    pub(crate) fn shard(&self, hash: u64) -> usize {
        (hash >> ROUTE) as usize & (self.shards.len() - 1)
    }

    /// The number of a row, new or not.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64]) -> Result<u32, Stop> {
        let hash = hash(row);
        let shard = self.shard(hash);
        let rows = &mut self.rows;
        let is_same = |&n: &u32| rows.row(n as usize) == row;
        match self.shards[shard].entry(hash, is_same, |&n| self::hash(rows.row(n as usize))) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let number = rows.push(row)?;
                entry.insert(number);
                Ok(number)
            }
        }
    }

    /// The number of a row, if it is here.
    pub(crate) fn find(&self, row: &[u64]) -> Option<u32> {
        self.find_hashed(hash(row), row)
    }

    /// The number of a row with this hash, if it is here.
    #[inline]
    pub(crate) fn find_hashed(&self, hash: u64, row: &[u64]) -> Option<u32> {
        self.shards[self.shard(hash)].find(hash, |&number| self.row(number as usize) == row).copied()
    }

    /// Frees what growing has left over.
    pub(crate) fn shrink(&mut self) {
        self.rows.words.shrink_to_fit();
    }

    /// What it takes to hold so many rows more, and some thousand: a vector or index that is about
    /// to grow is copied into one of twice its size, and for that moment both exist.
    pub(crate) fn bytes_soon(&self, n_more: usize) -> u64 {
        let Rows { words, width, .. } = &self.rows;
        let soon = SOON + n_more;
        let words_grow = words.len() + soon * width > words.capacity();
        let soon = soon / self.shards.len();
        let index = |shard: &HashTable<u32>| {
            let grows = shard.len() + soon > shard.capacity();
            shard.allocation_size() as u64 * if grows { 3 } else { 1 }
        };
        let words = words.capacity() as u64 * 8 * if words_grow { 3 } else { 1 };
        words + self.shards.iter().map(index).sum::<u64>()
    }

    pub(crate) fn bytes(&self) -> u64 {
        let index: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        self.rows.words.capacity() as u64 * 8 + index as u64
    }
}

/// A hash of a row, good in its high and its low bits.
#[inline]
pub fn hash(row: &[u64]) -> u64 {
    row.iter().fold(0x243f_6a88_85a3_08d3, |h, &word| mix(h ^ word))
}

/// A hash of the bits of a row that are in the mask.
#[inline]
pub fn hash_masked(row: &[u64], mask: &[u64]) -> u64 {
    row.iter().zip(mask).fold(0x243f_6a88_85a3_08d3, |h, (&word, &mask)| mix(h ^ word & mask))
}

/// Which of so many shares a hash falls into, by the bits that name a shard.
#[inline]
pub(crate) fn share(hash: u64, n_shares: usize) -> usize {
    (hash >> ROUTE) as usize % MOST_SHARDS * n_shares / MOST_SHARDS
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
    fn rows_are_numbered_in_order() {
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

    /// Each shard gets its share, whether rows differ in high, in low or in many bits.
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
