//! Values that are stored once each and known by a number.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

/// Distinct values, numbered in the order in which they are found.
#[derive(Debug)]
pub(super) struct Interner<T> {
    items: Vec<T>,
    index: HashTable<u32>,
    /// Bytes of the items on the heap.
    heap_bytes: usize,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner { items: Vec::new(), index: HashTable::new(), heap_bytes: 0 }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// Returns the number of a value, which is added if it is new. `bytes` are those that it has on the heap.
    pub(super) fn number(&mut self, item: T, bytes: usize) -> u32 {
        let items = &self.items;
        let hash = |item: &T| FxBuildHasher.hash_one(item);
        let entry = self.index.entry(
            hash(&item),
            |&number| items[number as usize] == item,
            |&number| hash(&items[number as usize]),
        );
        match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let number = items.len() as u32;
                entry.insert(number);
                self.items.push(item);
                self.heap_bytes += bytes;
                number
            }
        }
    }

    pub(super) fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.index.capacity() * 5 + self.heap_bytes
    }
}
