//! Hash-consed nodes: equal nodes are stored once, operands before the nodes that use them.
//!
//! Because an operand's id is always smaller than its user's, a loop over the ids is a bottom-up
//! walk, and no algorithm on expressions or formulas needs to recurse.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The operands of an n-ary node, in the pool's list store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct List {
    start: u32,
    len: u32,
}

/// A store of nodes `N` that refer to each other by ids `I`.
#[derive(Clone, Debug)]
pub(crate) struct Pool<N, I> {
    nodes: Vec<N>,
    index: HashTable<u32>,
    operands: Vec<I>,
    lists: HashTable<List>,
}

impl<N, I> Default for Pool<N, I> {
    fn default() -> Self {
        Self { nodes: Vec::new(), index: HashTable::new(), operands: Vec::new(), lists: HashTable::new() }
    }
}

impl<N: Copy + Eq + Hash, I: Copy + Eq + Hash> Pool<N, I> {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn get(&self, id: u32) -> N {
        self.nodes[id as usize]
    }

    pub(crate) fn operands(&self, list: List) -> &[I] {
        &self.operands[list.start as usize..(list.start + list.len) as usize]
    }

    /// Returns the id of `node`; adds it if it is new.
    pub(crate) fn intern(&mut self, node: N) -> u32 {
        let hash = |node: &N| FxBuildHasher.hash_one(node);
        let nodes = &mut self.nodes;
        let found =
            self.index.entry(hash(&node), |&i| nodes[i as usize] == node, |&i| hash(&nodes[i as usize]));
        match found {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let id = u32::try_from(nodes.len()).expect("fewer than 2^32 nodes");
                nodes.push(node);
                entry.insert(id);
                id
            }
        }
    }

    /// Returns the list of these operands; adds it if it is new. Equal lists have equal [`List`]s.
    pub(crate) fn list(&mut self, items: &[I]) -> List {
        let hash = |items: &[I]| FxBuildHasher.hash_one(items);
        let operands = &mut self.operands;
        let slice = |l: &List| l.start as usize..(l.start + l.len) as usize;
        let found =
            self.lists.entry(hash(items), |l| operands[slice(l)] == *items, |l| hash(&operands[slice(l)]));
        match found {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let start = u32::try_from(operands.len()).expect("fewer than 2^32 operands");
                let list = List { start, len: items.len() as u32 };
                operands.extend_from_slice(items);
                entry.insert(list);
                list
            }
        }
    }
}
