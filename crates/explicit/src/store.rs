//! The reachable states: packed rows in one dense vector, found again by a hash index of numbers.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_verdict::{Stop, Why};

/// Rows that may come before anybody asks again.
const SOON: usize = 1 << 14;

/// Different rows of words, numbered in the order of their insertion.
///
/// Beside the words themselves a state costs five bytes per bucket of the index, of which 7/8 at
/// most are used.
#[derive(Debug)]
pub(crate) struct Store {
    words: Vec<u64>,
    /// Words per row, at least one.
    width: usize,
    len: u32,
    index: HashTable<u32>,
}

impl Store {
    pub(crate) fn new(width: usize) -> Store {
        Store { words: Vec::new(), width, len: 0, index: HashTable::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) fn row(&self, number: usize) -> &[u64] {
        &self.words[number * self.width..][..self.width]
    }

    /// The number of a row, new or not. There are at most `u32::MAX` of them.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64]) -> Result<u32, Stop> {
        let (words, width) = (&mut self.words, self.width);
        let at = |number: u32| number as usize * width..(number as usize + 1) * width;
        match self.index.entry(hash(row), |&n| words[at(n)] == *row, |&n| hash(&words[at(n)])) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let number = self.len;
                self.len = number.checked_add(1).ok_or(Stop::from(Why::States))?;
                words.extend_from_slice(row);
                entry.insert(number);
                Ok(number)
            }
        }
    }

    /// The number of a row, if it is here.
    pub(crate) fn find(&self, row: &[u64]) -> Option<u32> {
        self.index.find(hash(row), |&number| self.row(number as usize) == row).copied()
    }

    /// Frees what growing has left over.
    pub(crate) fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }

    /// What it takes to hold some thousand rows more: a vector or index that is about to grow is
    /// copied into one of twice its size, and for that moment both exist.
    pub(crate) fn bytes_soon(&self) -> u64 {
        let words = self.words.capacity() as u64 * 8;
        let index = self.index.allocation_size() as u64;
        let words_grow = self.words.len() + SOON * self.width > self.words.capacity();
        let index_grows = self.index.len() + SOON > self.index.capacity();
        words * if words_grow { 3 } else { 1 } + index * if index_grows { 3 } else { 1 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.words.capacity() as u64 * 8 + self.index.allocation_size() as u64
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
        let mut store = Store::new(2);
        for round in 0..2 {
            for i in 0..10_000_u64 {
                assert_eq!(store.insert(&[i << 40, i % 7]), Ok(i as u32), "round {round}");
            }
        }
        assert_eq!((store.len(), store.row(4321)), (10_000, &[4321 << 40, 4321 % 7][..]));
    }
}
