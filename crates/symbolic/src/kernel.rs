//! The library's decision diagrams, put together from its parts for the sake of one of them: the
//! cache of results.
//!
//! Its hash is ours. The library's own assembly hashes so that the lowest bits, which choose the
//! place in the cache, never see whether the last operand is complemented: `f ∧ g` and `f ∧ ¬g` then
//! throw each other out, and on parities, where an operation on few nodes asks for both at every
//! level, its time doubles from level to level (15 dining cryptographers: 1.8 s, with this hash
//! 0.01 s).
//!
//! And it can stop an operation, which the library cannot. Every recursive step asks the cache
//! first. When it is time to stop, the cache answers `true` to everything: the operation is over at
//! once, and its result, which is worthless, is thrown away by [`Watch::run`].
#![allow(unsafe_code)]

use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use masque_verdict::{Budget, Stop, Why};

use oxidd_cache::direct::DMApplyCache;
use oxidd_core::util::{DropWith, Own, Ref};
use oxidd_core::{ApplyCache, HasApplyCache, Manager as _, ManagerEventSubscriber, ManagerRef};
use oxidd_manager_index::manager::{self, DiagramRulesCons, ManagerDataCons};
use oxidd_manager_index::node::fixed_arity::{NodeWithLevel, NodeWithLevelCons};
use oxidd_manager_index::terminal_manager::{StaticTerminalManager, StaticTerminalManagerCons};
use oxidd_rules_bdd::complement_edge::{BCDDFunction, BCDDOp, BCDDRules, BCDDTerminal, EdgeTag};

/// A function of the bits: a node, and whether it is complemented.
pub(crate) type Diagram = BCDDFunction<manager::Function<Nodes, EdgeTag, Terminals, RulesCons, DataCons, 1>>;
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
type Results<'id> = DMApplyCache<Manager<'id>, BCDDOp, Mix, 4>;

/// A store for at most `n_nodes` nodes that remembers about `n_results` results.
pub(crate) fn store(n_nodes: u32, n_results: usize, watch: &Arc<Watch>) -> Store {
    // SAFETY: this manager removes nodes only between `pre_gc` and `post_gc`.
    let results = unsafe { Results::with_capacity(n_results) };
    manager::new_manager(n_nodes, 1, 1, Data { cache: Cache { results, watch: watch.clone() } })
}

/// Gives the store a new, empty memory for results.
pub(crate) fn remember(store: &Store, n_results: usize) {
    store.with_manager_exclusive(|manager| {
        // SAFETY: as in `store`.
        manager.apply_cache_mut().results = unsafe { Results::with_capacity(n_results) };
    });
}

/// Counts the steps of operations, and stops them.
#[derive(Default)]
pub(crate) struct Watch {
    /// Questions to the cache so far: the unit of work, the same on every machine.
    steps: AtomicU64,
    /// When to think of stopping.
    look_at: AtomicU64,
    /// When to stop at the latest.
    most_steps: AtomicU64,
    /// Whether the operation under way is being stopped.
    stopping: AtomicBool,
    budget: Mutex<Budget>,
}

/// Steps between two looks at the clock: some milliseconds.
const LOOK_EVERY: u64 = 1 << 16;

impl Watch {
    pub(crate) fn new(budget: &Budget, most_steps: u64) -> Arc<Watch> {
        Arc::new(Watch {
            most_steps: AtomicU64::new(most_steps),
            budget: Mutex::new(budget.clone()),
            ..Watch::default()
        })
    }

    pub(crate) fn set_budget(&self, budget: &Budget) {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = budget.clone();
    }

    pub(crate) fn take_your_time(&self) {
        self.most_steps.store(u64::MAX, Relaxed);
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }

    /// Whether the run may go on.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.steps() >= self.most_steps.load(Relaxed) {
            return Err(Why::Memory.into());
        }
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).check()
    }

    /// What an operation answers, unless it was stopped.
    pub(crate) fn run<T>(&self, operation: impl FnOnce() -> T) -> Result<T, Stop> {
        let result = operation();
        if !self.stopping.swap(false, Relaxed) {
            return Ok(result);
        }
        self.look_at.store(0, Relaxed);
        // A flag that was taken back meanwhile does not make the result any better.
        Err(self.check().err().unwrap_or_else(|| Why::Interrupted.into()))
    }

    /// One more step; says whether to stop.
    #[inline]
    fn step(&self) -> bool {
        // One thread works on a store, so nothing is lost between the two.
        let steps = self.steps.load(Relaxed) + 1;
        self.steps.store(steps, Relaxed);
        steps >= self.look_at.load(Relaxed) && self.look(steps)
    }

    #[cold]
    fn look(&self, steps: u64) -> bool {
        let stops = self.stopping.load(Relaxed) || self.check().is_err();
        self.stopping.store(stops, Relaxed);
        let next = steps.saturating_add(LOOK_EVERY).min(self.most_steps.load(Relaxed));
        self.look_at.store(if stops { 0 } else { next }, Relaxed);
        stops
    }
}

/// Results by operator and operands, and the watch on the operations that ask for them.
pub(crate) struct Cache<'id> {
    results: Results<'id>,
    watch: Arc<Watch>,
}

impl<'id> ApplyCache<Manager<'id>, BCDDOp> for Cache<'id> {
    #[inline(always)]
    fn get_extended<const E: usize, const N: usize>(
        &self,
        manager: &Manager<'id>,
        operator: BCDDOp,
        operands: (&[Ref<'_, Edge<'id>>], &[u32]),
    ) -> Option<([Own<Edge<'id>>; E], [u32; N])> {
        if self.watch.step() {
            return worthless(manager);
        }
        self.results.get_extended(manager, operator, operands)
    }

    #[inline(always)]
    fn add_extended(
        &self,
        manager: &Manager<'id>,
        operator: BCDDOp,
        operands: (&[Ref<'_, Edge<'id>>], &[u32]),
        values: (&[Ref<'_, Edge<'id>>], &[u32]),
    ) {
        if !self.watch.stopping.load(Relaxed) {
            self.results.add_extended(manager, operator, operands, values);
        }
    }

    fn clear(&self, manager: &Manager<'id>) {
        self.results.clear(manager);
    }
}

/// Results that end an operation: constants, which may stand anywhere.
#[cold]
fn worthless<'id, const E: usize, const N: usize>(
    manager: &Manager<'id>,
) -> Option<([Own<Edge<'id>>; E], [u32; N])> {
    let constants: Vec<_> = (0..E).map_while(|_| manager.get_terminal(BCDDTerminal).ok()).collect();
    Some((constants.try_into().ok()?, [0; N]))
}

impl<'id> DropWith<Edge<'id>> for Cache<'id> {
    fn drop_with(self, drop_edge: impl Fn(Own<Edge<'id>>)) {
        self.results.drop_with(drop_edge);
    }
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
        self.cache.results.pre_gc(manager);
    }

    unsafe fn post_gc(&self, manager: &Manager<'id>) {
        // SAFETY: the caller pairs this with `pre_gc`, which was passed on too.
        unsafe { self.cache.results.post_gc(manager) };
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
