//! The library's decision diagrams, put together from its parts for the sake of one of them.
//!
//! Nodes, rules and store are taken as they are; the apply cache gets a hash of ours. The library's
//! own assembly hashes so that the lowest bits, which choose the place in the cache, never see
//! whether the last operand is complemented: `f ∧ g` and `f ∧ ¬g` then throw each other out, and on
//! parities, where an operation on few nodes asks for both at every level, its time doubles from
//! level to level (15 dining cryptographers: 1.8 s, with this hash 0.01 s).
#![allow(unsafe_code)]

use std::hash::Hasher;

use oxidd_cache::direct::DMApplyCache;
use oxidd_core::util::{DropWith, Own};
use oxidd_core::{HasApplyCache, ManagerEventSubscriber, ManagerRef};
use oxidd_manager_index::manager::{self, DiagramRulesCons, ManagerDataCons};
use oxidd_manager_index::node::fixed_arity::{NodeWithLevel, NodeWithLevelCons};
use oxidd_manager_index::terminal_manager::{StaticTerminalManager, StaticTerminalManagerCons};
use oxidd_rules_bdd::complement_edge::{BCDDFunction, BCDDOp, BCDDRules, BCDDTerminal, EdgeTag};

/// A function of the bits: a node, and whether it is complemented.
pub(crate) type Diagram =
    BCDDFunction<manager::Function<Nodes, EdgeTag, Terminals, RulesCons, DataCons, 1>>;
/// Where the nodes live.
pub(crate) type Store = manager::ManagerRef<Nodes, EdgeTag, Terminals, RulesCons, DataCons, 1>;

type Nodes = NodeWithLevelCons<2>;
type Terminals = StaticTerminalManagerCons<BCDDTerminal>;
type Node<'id> = NodeWithLevel<'id, EdgeTag, 2>;
type Edge<'id> = manager::Edge<'id, Node<'id>, EdgeTag>;
type Manager<'id> = manager::Manager<
    'id,
    Node<'id>,
    EdgeTag,
    StaticTerminalManager<'id, BCDDTerminal, Node<'id>, EdgeTag, 1>,
    BCDDRules,
    Data<'id>,
    1,
>;
/// An entry holds up to three operands and a result.
type Cache<'id> = DMApplyCache<Manager<'id>, BCDDOp, Mix, 4>;

/// A store for at most `n_nodes` nodes that remembers about `n_results` results.
pub(crate) fn store(n_nodes: u32, n_results: usize) -> Store {
    // SAFETY: this manager removes nodes only between `pre_gc` and `post_gc`.
    let cache = unsafe { Cache::with_capacity(n_results) };
    manager::new_manager(n_nodes, 1, 1, Data { cache })
}

/// Gives the store a new, empty cache.
pub(crate) fn set_cache(store: &Store, n_results: usize) {
    store.with_manager_exclusive(|manager| {
        // SAFETY: as in `store`.
        *manager.apply_cache_mut() = unsafe { Cache::with_capacity(n_results) };
    });
}

/// Makes the rules of diagrams with complemented edges.
pub(crate) struct RulesCons;

impl DiagramRulesCons<Nodes, EdgeTag, Terminals, DataCons, 1> for RulesCons {
    type T<'id> = BCDDRules;
}

/// Makes what a store keeps besides nodes.
pub(crate) struct DataCons;

impl ManagerDataCons<Nodes, EdgeTag, Terminals, RulesCons, 1> for DataCons {
    type T<'id> = Data<'id>;
}

/// What a store keeps besides nodes.
pub(crate) struct Data<'id> {
    cache: Cache<'id>,
}

impl<'id> DropWith<Edge<'id>> for Data<'id> {
    fn drop_with(self, drop_edge: impl Fn(Own<Edge<'id>>)) {
        self.cache.drop_with(drop_edge);
    }
}

impl<'id> ManagerEventSubscriber<Manager<'id>> for Data<'id> {
    fn pre_gc(&self, manager: &Manager<'id>) {
        self.cache.pre_gc(manager);
    }

    unsafe fn post_gc(&self, manager: &Manager<'id>) {
        // SAFETY: the caller pairs this with `pre_gc`, which was passed on too.
        unsafe { self.cache.post_gc(manager) };
    }
}

impl<'id> HasApplyCache<Manager<'id>, BCDDOp> for Data<'id> {
    type ApplyCache = Cache<'id>;

    fn apply_cache(&self) -> &Cache<'id> {
        &self.cache
    }

    fn apply_cache_mut(&mut self) -> &mut Cache<'id> {
        &mut self.cache
    }
}

/// A multiplicative hash whose lowest bits depend on every bit of every word.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        // The golden ratio in 64 bits, odd. [Knuth98 §6.4]
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.add(byte.into()));
    }

    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        // A product's high bits depend on all bits of its factors.
        self.0 >> 32
    }
}
