//! A set of rows of numbers: rows may have any length, and each is stored once.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;

/// Distinct rows, indexed in the order of insertion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    words: Vec<u32>,
    /// End of each row in `words`.
    ends: Vec<u32>,
    index: HashTable<u32>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn row(&self, index: u32) -> &[u32] {
        row(&self.words, &self.ends, index)
    }

    /// Returns the index of a row, which is added if it is new.
    pub(crate) fn insert(&mut self, words: &[u32]) -> u32 {
        let (all, ends) = (&mut self.words, &mut self.ends);
        let entry =
            self.index.entry(hash(words), |&n| row(all, ends, n) == words, |&n| hash(row(all, ends, n)));
        match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let index = ends.len() as u32;
                all.extend_from_slice(words);
                ends.push(all.len() as u32);
                entry.insert(index);
                index
            }
        }
    }

    /// Removes all rows, but keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
        self.index.clear();
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        ((self.words.capacity() + self.ends.capacity()) * 4 + self.index.capacity() * 5) as u64
    }
}

fn row<'w>(words: &'w [u32], ends: &[u32], index: u32) -> &'w [u32] {
    let start = match index {
        0 => 0,
        _ => ends[index as usize - 1],
    };
    &words[start as usize..ends[index as usize] as usize]
}

fn hash(words: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_length_are_distinguished() {
        let mut rows = Rows::default();
        let inputs: [&[u32]; 5] = [&[], &[1], &[1, 2], &[2, 1], &[1]];
        let numbers: Vec<u32> = inputs.iter().map(|row| rows.insert(row)).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 1]);
        assert_eq!((rows.row(0), rows.row(2), rows.len()), (&[][..], &[1, 2][..], 4));
    }
}
