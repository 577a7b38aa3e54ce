//! The decision diagrams of the library OxiDD, assembled from its parts with an apply cache of our own.
//!
//! The cache has its own hash. In the library's assembly, the lowest bits of the hash, which choose the
//! cache entry, do not depend on whether the last operand is complemented: `f ∧ g` and `f ∧ ¬g` then
//! evict each other, and on parities, where an operation on few nodes needs both at every level, the
//! time doubles from level to level (15 dining cryptographers: 1.8 s, with our hash 0.01 s).
//!
//! The cache can also stop an operation, which the library cannot. Every recursive step looks into the
//! cache first. To stop, the cache returns `true` for every lookup: the operation ends at once, and
//! [`Watch::run`] discards its meaningless result.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use masque_memory::{try_allocate, unless_refused};
use masque_verdict::{Budget, Stop, Why};

use crate::space::NODE_BYTES;

use oxidd_cache::direct::DMApplyCache;
use oxidd_core::function::Function as _;
use oxidd_core::util::{AllocResult, DropWith, Own, Ref};
use oxidd_core::{
    ApplyCache, DiagramRules as _, HasApplyCache, HasWorkers, Manager as _, ManagerEventSubscriber,
    ManagerRef, WorkerPool,
};
use oxidd_manager_index::manager::{self, DiagramRulesCons, ManagerDataCons};
use oxidd_manager_index::node::fixed_arity::{NodeWithLevel, NodeWithLevelCons};
use oxidd_manager_index::terminal_manager::{StaticTerminalManager, StaticTerminalManagerCons};
use oxidd_rules_bdd::complement_edge::{BCDDFunctionMT, BCDDOp, BCDDRules, BCDDTerminal, EdgeTag};

/// A boolean function of the bits: a node, and whether it is complemented.
pub(crate) type Diagram =
    BCDDFunctionMT<manager::Function<Nodes, EdgeTag, Terminals, RulesCons, DataCons, 1>>;
/// The store of all nodes.
pub(crate) type Store = manager::ManagerRef<Nodes, EdgeTag, Terminals, RulesCons, DataCons, 1>;

type Nodes = NodeWithLevelCons<2>;
type Terminals = StaticTerminalManagerCons<BCDDTerminal>;
pub(crate) type Node<'id> = NodeWithLevel<'id, EdgeTag, 2>;
pub(crate) type Edge<'id> = manager::Edge<'id, Node<'id>, EdgeTag>;
pub(crate) type Manager<'id> = manager::Manager<
    'id,
    Node<'id>,
    EdgeTag,
    StaticTerminalManager<'id, BCDDTerminal, Node<'id>, EdgeTag, 1>,
    BCDDRules,
    Data<'id>,
    1,
>;
/// The apply cache of the library; an entry holds up to three operands and a result.
type Results<'id> = DMApplyCache<Manager<'id>, BCDDOp, MixHasher, 4>;

/// Bytes that the store reserves per node.
const RESERVED_NODE_BYTES: usize = 16;
/// Bytes that a store takes before it has nodes: stacks of threads, caches and tables.
const FIRST_BYTES: usize = 16 << 20;

/// Makes a store for at most `n_nodes` nodes with about `n_results` entries in its apply cache.
/// Operations are done by the calling thread, unless they are [spread](spread) over `n_threads`.
/// Stops with [`Why::Memory`] if the system refuses the memory or the threads, instead of the panic of the
/// library.
pub(crate) fn store(
    n_nodes: u32,
    n_results: usize,
    n_threads: u32,
    watch: &Arc<Watch>,
) -> Result<Store, Stop> {
    let n_bytes = n_nodes as usize * RESERVED_NODE_BYTES + FIRST_BYTES;
    drop(try_allocate(n_bytes).ok_or(Why::Memory)?);
    // SAFETY: this manager removes nodes only between `pre_gc` and `post_gc`.
    let results = unsafe { Results::with_capacity(n_results) };
    let data = Data { cache: Cache { results, watch: watch.clone() } };
    let store = unless_refused(|| manager::new_manager(n_nodes, 1, n_threads, data)).ok_or(Why::Memory)?;
    spread(&store, false);
    Ok(store)
}

/// Sets whether operations are spread over the store's threads.
pub(crate) fn spread(store: &Store, is_spread: bool) {
    let depth = if is_spread { None } else { Some(0) };
    store.with_manager_shared(|manager| manager.workers().set_split_depth(depth));
}

/// Gives the store a new, empty apply cache.
pub(crate) fn replace_cache(store: &Store, n_results: usize) {
    store.with_manager_exclusive(|manager| {
        // SAFETY: as in `store`.
        manager.apply_cache_mut().results = unsafe { Results::with_capacity(n_results) };
    });
}

/// Makes a conjunction of literals, given from the bottom of the order up.
pub(crate) fn literals(
    store: &Store,
    literals: impl IntoIterator<Item = (u32, bool)>,
) -> AllocResult<Diagram> {
    store.with_manager_shared(|manager| {
        let mut edge = manager.get_terminal(BCDDTerminal)?;
        for (bit, value) in literals {
            let never = manager.get_terminal(BCDDTerminal)?.with_tag(EdgeTag::Complemented);
            let level = manager.var_to_level(bit);
            let children = if value { [edge, never] } else { [never, edge] };
            edge = BCDDRules::reduce(manager, level, children).then_insert(manager, level)?;
        }
        Ok(Diagram::from_edge(manager, edge))
    })
}

/// Makes the function that equals `high` where a bit is 1 and `low` where it is 0; both depend on lower
/// bits only.
pub(crate) fn branch(store: &Store, bit: u32, high: &Diagram, low: &Diagram) -> AllocResult<Diagram> {
    store.with_manager_shared(|manager| {
        let level = manager.var_to_level(bit);
        let children = [high, low].map(|child| manager.clone_edge(child.as_edge(manager)));
        let edge = BCDDRules::reduce(manager, level, children).then_insert(manager, level)?;
        Ok(Diagram::from_edge(manager, edge))
    })
}

/// Counts the steps of operations, and stops operations.
#[derive(Default)]
pub(crate) struct Watch {
    /// Cache lookups so far: the unit of work, the same on every machine.
    steps: AtomicU64,
    /// Step count at which the budget is checked next.
    check_at: AtomicU64,
    /// Step count at which operations stop.
    max_steps: AtomicU64,
    /// Whether the current operation is being stopped.
    stopping: AtomicBool,
    /// Whether several spaces share the store, each with a thread of its own.
    is_shared: AtomicBool,
    /// Whether several threads use the store, so that each counts its own steps.
    counts_per_thread: AtomicBool,
    budget: Mutex<Budget>,
    /// Steps that have been charged to the budget.
    charged_steps: AtomicU64,
}

/// Steps between two checks of the budget: about a millisecond.
const STEPS_BETWEEN_CHECKS: u64 = 1 << 13;

/// Steps that one of several threads takes before it adds them to the common count.
const STEPS_BETWEEN_REPORTS: u64 = 1 << 10;

thread_local! {
    /// Steps that this thread has taken as one of several and not yet added to the common count.
    static OWN_STEPS: Cell<u64> = const { Cell::new(0) };
}

impl Watch {
    pub(crate) fn new(budget: &Budget, max_steps: u64) -> Arc<Watch> {
        Arc::new(Watch {
            max_steps: AtomicU64::new(max_steps),
            budget: Mutex::new(budget.clone()),
            ..Watch::default()
        })
    }

    /// Notes that several spaces share the store from now on, each with a thread of its own.
    pub(crate) fn share(&self) {
        self.is_shared.store(true, Relaxed);
        self.count_per_thread(true);
    }

    /// Sets whether several threads use the store from now on, so that each counts its own steps.
    pub(crate) fn count_per_thread(&self, is_per_thread: bool) {
        self.counts_per_thread.store(is_per_thread, Relaxed);
    }

    /// Returns whether there is a step limit. Steps are then counted exactly.
    pub(crate) fn is_limited(&self) -> bool {
        self.max_steps.load(Relaxed) != u64::MAX
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared.load(Relaxed)
    }

    /// Replaces the budget; no other thread may be using the store.
    pub(crate) fn set_budget(&self, budget: &Budget) {
        self.resume();
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = budget.clone();
    }

    /// Removes the step limit.
    pub(crate) fn lift_step_limit(&self) {
        self.max_steps.store(u64::MAX, Relaxed);
    }

    /// Limits the steps from now on, unless the limit is lower already. Returns the limit before.
    pub(crate) fn limit_steps(&self, steps: u64) -> u64 {
        let before = self.max_steps.load(Relaxed);
        let max_steps = self.steps().saturating_add(steps).min(before);
        self.max_steps.store(max_steps, Relaxed);
        self.check_at.fetch_min(max_steps, Relaxed);
        before
    }

    /// Restores an earlier step limit.
    pub(crate) fn restore_step_limit(&self, max_steps: u64) {
        self.max_steps.store(max_steps, Relaxed);
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }

    /// Checks the step limit and the budget, and charges the budget with the steps since the last check.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.steps() >= self.max_steps.load(Relaxed) {
            return Err(Why::Memory.into());
        }
        let steps = self.steps();
        let charged = self.charged_steps.fetch_max(steps, Relaxed);
        let budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.spend(steps.saturating_sub(charged))?;
        budget.check()
    }

    /// Reports the number of nodes in the store to users who wait.
    pub(crate) fn meter(&self, nodes: usize) {
        let budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.meter().diagrams(nodes as u64, nodes as u64 * NODE_BYTES);
    }

    /// Allows operations again after one was stopped.
    fn resume(&self) {
        self.stopping.store(false, Relaxed);
        self.check_at.store(0, Relaxed);
    }

    /// Returns the result of an operation, unless it was stopped.
    pub(crate) fn run<T>(&self, operation: impl FnOnce() -> T) -> Result<T, Stop> {
        let result = operation();
        if !self.stopping.load(Relaxed) {
            return Ok(result);
        }
        // With a shared store, operations of other threads may have meaningless results too: all stop
        // until there is a new budget.
        if !self.is_shared() {
            self.resume();
        }
        // Even if the reason to stop has gone meanwhile, the result is meaningless.
        Err(self.check().err().unwrap_or_else(|| Why::Interrupted.into()))
    }

    /// Counts one step. Returns whether to stop. `nodes` returns the number of nodes in the store.
    #[inline]
    fn step(&self, nodes: impl FnOnce() -> usize) -> bool {
        if self.counts_per_thread.load(Relaxed) {
            return self.step_of_thread(nodes);
        }
        // Only one thread uses the store, so no step is lost between load and store.
        let steps = self.steps.load(Relaxed) + 1;
        self.steps.store(steps, Relaxed);
        steps >= self.check_at.load(Relaxed) && self.check_budget(steps, nodes)
    }

    /// Counts one step while several threads use the store. Each thread counts its own steps and adds
    /// them to the common count now and then: contention on a counter that all threads write at every
    /// step would dominate their time.
    fn step_of_thread(&self, nodes: impl FnOnce() -> usize) -> bool {
        let steps = OWN_STEPS.get() + 1;
        if steps < STEPS_BETWEEN_REPORTS {
            OWN_STEPS.set(steps);
            return self.stopping.load(Relaxed);
        }
        OWN_STEPS.set(0);
        let steps = self.steps.fetch_add(STEPS_BETWEEN_REPORTS, Relaxed) + STEPS_BETWEEN_REPORTS;
        steps >= self.check_at.load(Relaxed) && self.check_budget(steps, nodes)
    }

    /// Checks whether to stop, and sets the step count of the next check.
    #[cold]
    fn check_budget(&self, steps: u64, nodes: impl FnOnce() -> usize) -> bool {
        self.meter(nodes());
        let stops = self.stopping.load(Relaxed) || self.check().is_err();
        // A thread without a reason to stop must not overwrite `stopping` that another thread has set.
        if stops {
            self.stopping.store(true, Relaxed);
            self.check_at.store(0, Relaxed);
        } else {
            let next = steps.saturating_add(STEPS_BETWEEN_CHECKS).min(self.max_steps.load(Relaxed));
            self.check_at.store(next, Relaxed);
        }
        stops
    }
}

/// The apply cache: results by operator and operands, and the watch on the operations.
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
        if self.watch.step(|| manager.approx_num_inner_nodes()) {
            return placeholder(manager);
        }
        #[cfg(feature = "planted-bugs")]
        if crate::planted::is_cache_wrong() {
            return placeholder(manager);
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

/// Returns meaningless results that end an operation: constants, which are valid at every level.
#[cold]
fn placeholder<'id, const E: usize, const N: usize>(
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

/// Constructor of the rules for diagrams with complemented edges.
pub(crate) struct RulesCons;

impl DiagramRulesCons<Nodes, EdgeTag, Terminals, DataCons, 1> for RulesCons {
    type T<'id> = BCDDRules;
}

/// Constructor of [`Data`].
pub(crate) struct DataCons;

impl ManagerDataCons<Nodes, EdgeTag, Terminals, RulesCons, 1> for DataCons {
    type T<'id> = Data<'id>;
}

/// The data of a store besides its nodes.
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
pub(crate) struct MixHasher(u64);

impl MixHasher {
    fn add(&mut self, word: u64) {
        // The golden ratio in 64 bits, odd. [Knuth98 §6.4]
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for MixHasher {
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::space::{Set, Space};

    /// Returns the set in which an odd number of the bits is 1.
    fn parity(space: &Space, bits: impl Iterator<Item = u32>) -> Set {
        bits.fold(space.none(), |set, bit| space.xor(&set, &space.bit(bit, true).unwrap()).unwrap())
    }

    /// A conjunction that needs complements at every level: two parities of overlapping bits have
    /// diagrams of one or two nodes per level, and so has each of their four combinations.
    #[test]
    fn parities_take_few_steps() {
        let n = 60;
        let space = Space::new(n, &Budget::unlimited()).unwrap();
        let (one, other) = (parity(&space, 0..n), parity(&space, (0..n).step_by(2)));
        let before = space.steps();
        let both = space.and(&one, &other).unwrap();
        let steps = space.steps() - before;
        assert_eq!(space.count(&both, n).to_string(), (1_u64 << (n - 2)).to_string());
        assert!(steps <= 8 * u64::from(n), "{steps} steps");
    }

    /// Returns the set in which every even bit, and the one in which every odd bit, of the first `n`
    /// equals the bit `n` levels below. The diagram of their intersection distinguishes all values of
    /// the first `n` bits, so it has more than `2^n` nodes.
    fn equalities(space: &Space, n: u32) -> [Set; 2] {
        [0, 1].map(|rest| {
            let pairs = (0..n).filter(|i| i % 2 == rest);
            pairs.fold(space.all(), |set, i| {
                let [a, b] = [i, n + i].map(|bit| space.bit(bit, true).unwrap());
                space.and(&set, &space.iff(&a, &b).unwrap()).unwrap()
            })
        })
    }

    /// Checks the conjunction, without limits, in a space where it was stopped once.
    fn check_again(space: &Space, [even, odd]: &[Set; 2], n: u32) {
        let both = space.and(even, odd).unwrap();
        assert_eq!(space.count(&both, 2 * n).to_string(), (1_u64 << n).to_string());
        assert!(space.is_subset(&both, even).unwrap() && space.is_subset(&both, odd).unwrap());
        let quick = Space::new(2 * n, &Budget::unlimited()).unwrap();
        let copy = quick.unpack(&space.pack(&both)).unwrap();
        let [even, odd] = equalities(&quick, n);
        assert!(copy == quick.and(&even, &odd).unwrap(), "no placeholder is in the cache");
    }

    #[test]
    fn an_operation_stops_at_the_step_limit() {
        let n = 14;
        let whole = Space::new(2 * n, &Budget::unlimited()).unwrap();
        let sets = equalities(&whole, n);
        let before = whole.steps();
        whole.and(&sets[0], &sets[1]).unwrap();
        let needed = whole.steps() - before;
        assert!(needed > 1 << n, "{needed} steps");
        for limit in [1, 2, 100, needed / 7, needed / 2, needed] {
            let space = Space::with_step_limit(2 * n, &Budget::unlimited(), before + limit).unwrap();
            let sets = equalities(&space, n);
            assert_eq!(space.steps(), before, "equal work");
            let stop = space.and(&sets[0], &sets[1]).err().map(|stop| stop.why);
            assert_eq!(stop, Some(Why::Memory), "after {limit} steps");
            assert!(space.steps() - before < limit + 200, "the rest of the recursion ends at once");
            space.lift_step_limit();
            check_again(&space, &sets, n);
        }
    }

    /// Checks that an operation that would take minutes is stopped by the budget, and that a later
    /// operation is correct. Returns why it was stopped.
    fn stopped(budget: &Budget) -> Option<Why> {
        const N: u32 = 30;
        let space = Space::new(2 * N, &Budget::unlimited()).unwrap();
        let [even, odd] = equalities(&space, N);
        space.set_budget(budget);
        let stop = space.and(&even, &odd).err();
        space.set_budget(&Budget::unlimited());
        let some = space.and(&even, &space.bit(0, true).unwrap()).unwrap();
        assert_eq!(space.count(&some, 2 * N).to_string(), (1_u64 << (2 * N - N / 2 - 1)).to_string());
        stop.map(|stop| stop.why)
    }

    #[test]
    fn an_operation_is_stopped_by_another_thread() {
        let budget = Budget::default();
        let flag = budget.clone();
        let user = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            flag.cancel();
        });
        assert_eq!(stopped(&budget), Some(Why::Interrupted));
        user.join().unwrap();
    }

    #[test]
    fn an_operation_is_stopped_by_the_clock() {
        let deadline = Instant::now() + Duration::from_millis(300);
        assert_eq!(stopped(&Budget::default().with_deadline(deadline)), Some(Why::Timeout));
    }
}
