//! Sends sets from one space to another, and lets several spaces share one store of nodes.
//!
//! Between stores a set is sent as plain nodes: neither side touches the other's store, so both may be
//! in use, and sifted to different orders. Within one store the set itself is sent.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::{Limited, Set, Space, Table};

/// A set that is sent to another space with the same bits.
pub struct Parcel(Content);

enum Content {
    /// For spaces on any store.
    Nodes(Table),
    /// For spaces on the same store.
    Shared(Set),
}

impl Space {
    /// Packs a set for other spaces with the same bits: for any of them, unless this space
    /// [shares](Space::share) its store; then only for those on the same store.
    pub fn pack(&self, a: &Set) -> Parcel {
        let is_shared = self.watch.is_shared();
        Parcel(if is_shared { Content::Shared(a.clone()) } else { Content::Nodes(Table::new(a)) })
    }

    /// Returns the set that was packed.
    pub fn unpack(&self, parcel: &Parcel) -> Limited<Set> {
        match &parcel.0 {
            Content::Nodes(table) => self.read(table),
            Content::Shared(set) => Ok(set.clone()),
        }
    }

    /// Makes another space on the same store for another thread: the same bits in the same order. Each
    /// operation is then done by the thread that calls it, not by several. Steps are counted for all
    /// spaces together, and less exactly; when one of them is stopped, all are.
    pub fn share(&self) -> Space {
        self.watch.share();
        Space {
            store: self.store.clone(),
            n_bits: self.n_bits,
            watch: Arc::clone(&self.watch),
            n_operations: Cell::new(0),
            collect_at: self.collect_at.clone(),
            peak: Cell::new(0),
            capacity: self.capacity,
            cache_entries: self.cache_entries.clone(),
            max_cache_entries: self.max_cache_entries,
            grow_cache_at: self.grow_cache_at.clone(),
            n_threads: 1,
            last_steps: Default::default(),
            n_spread: Cell::new(0),
            levels: RefCell::clone(&self.levels),
            bits: RefCell::clone(&self.bits),
        }
    }
}
