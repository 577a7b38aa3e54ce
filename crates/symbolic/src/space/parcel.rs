//! Sets on their way from one space to another, and several spaces on one store of nodes.
//!
//! Between stores a set travels as plain nodes: neither side touches the other's store, so the two
//! may be at work, and sifted to different orders. On one store it travels as it is.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::{Limited, Set, Space, Table};

/// A set on its way to another space with the same bits.
pub struct Parcel(Content);

enum Content {
    /// For spaces on any store.
    Nodes(Table),
    /// For spaces on the same store.
    Shared(Set),
}

impl Space {
    /// The set, to be sent to other spaces with the same bits: to any, unless this space
    /// [shares](Space::share) its store; then to those on the same store.
    pub fn pack(&self, a: &Set) -> Parcel {
        Parcel(match self.watch.is_shared() {
            true => Content::Shared(a.clone()),
            false => Content::Nodes(Table::new(a)),
        })
    }

    /// The set that was sent.
    pub fn unpack(&self, parcel: &Parcel) -> Limited<Set> {
        match &parcel.0 {
            Content::Nodes(table) => self.read(table),
            Content::Shared(set) => Ok(set.clone()),
        }
    }

    /// Another space on the same store: the same bits in the same order, for another thread. An
    /// operation is then done by the thread that asks for it: the store was made for one. Steps
    /// are counted for all together, and less exactly; one that is stopped stops all.
    pub fn share(&self) -> Space {
        self.watch.share();
        Space {
            store: self.store.clone(),
            n_bits: self.n_bits,
            watch: Arc::clone(&self.watch),
            operations: Cell::new(0),
            collect_at: self.collect_at.clone(),
            peak: Cell::new(0),
            capacity: self.capacity,
            cache: self.cache.clone(),
            last_cache: self.last_cache,
            grow_cache_at: self.grow_cache_at.clone(),
            n_threads: 1,
            last_steps: Default::default(),
            n_spread: Cell::new(0),
            levels: RefCell::clone(&self.levels),
            bits: RefCell::clone(&self.bits),
        }
    }
}
