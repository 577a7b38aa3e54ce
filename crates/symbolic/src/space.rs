//! Sets of bit vectors as decision diagrams.
//!
//! A [`Space`] has a fixed number of boolean variables, a [`Set`] is a set of their valuations.
//! Every operation that may create nodes returns `Err(Stop)` when memory or time has run out, so
//! that callers pass it on by `?` and the verdict becomes `unknown`. The library behind the sets, OxiDD,
//! is named here, in `kernel.rs`, `rename.rs`, `simplify.rs` and `sift.rs` only.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use masque_model::Count;
use masque_verdict::{Budget, Stop, Why};
use oxidd_core::function::{BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function};
use oxidd_core::util::{AllocResult, SatCountCache};
use oxidd_core::{HasLevel, Manager, ManagerRef, Node};
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::kernel::{self, Diagram, Store, Watch};
use crate::simplify::simplify;

mod codes;
mod parcel;
mod support;
mod table;

pub use parcel::Parcel;
pub(crate) use table::{FALSE, TRUE, Table};

pub use crate::rename::Renaming;
pub use oxidd_core::util::num::Natural;

/// Converts the library's number of valuations into a [`Count`], by way of decimal digits.
pub(crate) fn exact(count: &Natural) -> Count {
    count.to_string().parse().unwrap_or_else(|_| Count::from(0_u64))
}

/// A variable of a [`Space`].
pub type Bit = u32;

/// A level in the order of the bits; 0 is the top. Not a [`Bit`]: the order may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(pub u32);

/// The result of an operation that may run out of memory or time.
pub type Limited<T> = Result<T, Stop>;

/// Does work on `n_spaces` spaces with a part of the memory first, and again with all of it if the part does not
/// suffice.
///
/// The store of a space has a fixed size, which is reserved in the address space when it is made. The part of
/// the first attempt suffices for nearly all models.
pub fn in_growing_stores<T>(
    n_spaces: usize,
    budget: &Budget,
    is_out_of_memory: impl Fn(&T) -> bool,
    mut work: impl FnMut(&Budget) -> T,
) -> T {
    let memory = FIRST_MEMORY * n_spaces.max(1) as u64;
    if budget.memory().unwrap_or(DEFAULT_MEMORY) > memory {
        let result = work(&budget.clone().with_memory(memory));
        if !is_out_of_memory(&result) {
            return result;
        }
    }
    work(budget)
}

/// A set of valuations of a space's bits; equal sets are equal in constant time.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Set(Diagram);

/// A conjunction of bits to quantify over.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cube(Diagram);

/// Default memory limit of a space, in bytes.
pub(crate) const DEFAULT_MEMORY: u64 = 16 << 30;
/// Memory limit of a space in a first attempt, in bytes. Few models need more.
const FIRST_MEMORY: u64 = 1 << 30;
/// Bytes per node, including its entry in the unique table.
pub(crate) const NODE_BYTES: u64 = 36;
/// Minimum and maximum number of nodes for which a store has room.
const MIN_NODES: usize = 1 << 16;
const MAX_NODES: usize = 1 << 29;
/// Bytes per entry of the apply cache.
const CACHE_ENTRY_BYTES: u64 = 24;
/// Initial number of entries of the apply cache. A new cache is written in full, so it starts with few
/// entries and grows with the number of nodes. It grows by a factor, because one operation may make
/// millions of nodes, and with too few entries it repeats the same work.
const MIN_CACHE_ENTRIES: usize = 1 << 17;
/// Maximum number of entries of the apply cache.
const MAX_CACHE_ENTRIES: usize = 1 << 23;
/// The cache grows when it has fewer entries than this per node.
const CACHE_ENTRIES_PER_NODE: usize = 3;
/// Factor by which the cache grows.
const CACHE_GROWTH_FACTOR: usize = 4;
/// Number of entries from which on the cache grows only after dead nodes have been collected, and only
/// if at least half of the nodes were live.
const CACHE_ENTRIES_TO_COLLECT_FIRST: usize = 1 << 21;
/// Number of nodes at which dead nodes are first collected; later whenever the live nodes have doubled.
const NODES_AT_FIRST_COLLECTION: usize = 1 << 20;
/// Steps per bit, and in any case, in which a path common to two sets is searched before their
/// intersection is computed.
const PATH_STEPS_PER_BIT: u32 = 2;
const MIN_PATH_STEPS: u32 = 64;
/// Number of operations between two checks of the budget.
const OPERATIONS_BETWEEN_CHECKS: u32 = 64;

/// Maximum number of threads per operation.
const MAX_THREADS: usize = 8;
/// Minimum number of steps of an operation for which several threads pay: a shorter one is over before a
/// second thread has woken up. In tests all operations but the first of each kind count as long.
const MIN_PARALLEL_STEPS: u64 = if cfg!(test) { 1 } else { 1 << 14 };

/// The kinds of operations. Operations of one kind tend to take a similar number of steps as long as the
/// same loop calls them.
#[derive(Clone, Copy)]
enum OperationKind {
    Bit,
    Not,
    And,
    Or,
    Xor,
    Iff,
    Minus,
    Ite,
    Exists,
    AndExists,
    Restrict,
    Simplify,
    Rename,
}

const N_OPERATION_KINDS: usize = OperationKind::Rename as usize + 1;

/// Boolean variables and the diagrams over them.
pub struct Space {
    store: Store,
    n_bits: u32,
    watch: Arc<Watch>,
    /// Operations since the budget was set.
    n_operations: Cell<u32>,
    /// Number of nodes at which dead nodes are collected next.
    collect_at: Cell<usize>,
    /// Largest number of nodes seen so far.
    peak: Cell<usize>,
    /// Maximum number of nodes.
    capacity: usize,
    /// Entries of the apply cache.
    cache_entries: Cell<usize>,
    max_cache_entries: usize,
    /// Number of nodes at which the apply cache grows.
    grow_cache_at: Cell<usize>,
    /// Threads that may work on one operation.
    n_threads: u32,
    /// For each kind of operation, the steps that the last one took.
    last_steps: [Cell<u64>; N_OPERATION_KINDS],
    n_spread: Cell<u64>,
    /// Level of each bit; empty as long as the order has not changed.
    levels: RefCell<Vec<u32>>,
    /// Bit at each level; empty as long as the order has not changed.
    bits: RefCell<Vec<Bit>>,
}

impl Space {
    /// Makes a space of `n_bits` variables, numbered from the top of the order.
    pub fn new(n_bits: u32, budget: &Budget) -> Limited<Space> {
        Space::with_step_limit(n_bits, budget, u64::MAX)
    }

    /// Makes a space in which all operations together may take at most `max_steps` steps, and then stop
    /// with [`Why::Memory`]. A step is one lookup in the apply cache, about 50 ns.
    pub fn with_step_limit(n_bits: u32, budget: &Budget, max_steps: u64) -> Limited<Space> {
        Space::with_threads(n_bits, budget, max_steps, 1)
    }

    /// Makes a space with a step limit in which up to `n_threads` threads work on one large operation,
    /// but never more than 8: further threads would be idle. Stops with [`Why::Memory`] if the system refuses
    /// the memory or the threads.
    pub fn with_threads(n_bits: u32, budget: &Budget, max_steps: u64, n_threads: usize) -> Limited<Space> {
        let n_threads = n_threads.clamp(1, MAX_THREADS) as u32;
        let memory = budget.memory().unwrap_or(DEFAULT_MEMORY);
        let max_cache_entries = (memory / 4 / CACHE_ENTRY_BYTES)
            .clamp(MIN_CACHE_ENTRIES as u64, MAX_CACHE_ENTRIES as u64)
            as usize;
        let mut capacity = (memory / 4 * 3 / NODE_BYTES).clamp(MIN_NODES as u64, MAX_NODES as u64) as usize;
        let watch = Watch::new(budget, max_steps);
        let store = loop {
            match kernel::store(capacity as u32, MIN_CACHE_ENTRIES, n_threads, &watch) {
                // The system may still give less.
                Err(_) if capacity > MIN_NODES => capacity = (capacity / 2).max(MIN_NODES),
                store => break store?,
            }
        };
        store.with_manager_exclusive(|m| _ = m.add_vars(n_bits));
        Ok(Space {
            store,
            n_bits,
            watch,
            n_operations: Cell::new(0),
            collect_at: Cell::new(NODES_AT_FIRST_COLLECTION.min(capacity / 10 * 9)),
            peak: Cell::new(0),
            capacity,
            cache_entries: Cell::new(MIN_CACHE_ENTRIES),
            max_cache_entries,
            grow_cache_at: Cell::new(MIN_CACHE_ENTRIES / CACHE_ENTRIES_PER_NODE),
            n_threads,
            last_steps: Default::default(),
            n_spread: Cell::new(0),
            levels: RefCell::default(),
            bits: RefCell::default(),
        })
    }

    /// Replaces the budget. Operations are counted from 0 again, so that the times at which the budget is
    /// checked do not depend on earlier questions.
    pub fn set_budget(&self, budget: &Budget) {
        self.n_operations.set(0);
        // Nodes made under the last budget may be dead by now. If the store is full, the next operation
        // reports it.
        _ = self.collect_garbage();
        self.watch.set_budget(budget);
    }

    /// Checks the budget and the step limit, for work outside diagrams.
    pub fn check(&self) -> Limited<()> {
        self.watch.check()
    }

    /// Returns the number of variables.
    pub fn n_bits(&self) -> u32 {
        self.n_bits
    }

    /// Runs one operation of the library within the budget. The library reports a full store even
    /// while dead nodes remain, so the operation is repeated once after a collection.
    fn run(&self, kind: OperationKind, operation: impl Fn() -> AllocResult<Diagram>) -> Limited<Diagram> {
        let count = self.n_operations.get().wrapping_add(1);
        self.n_operations.set(count);
        if count.is_multiple_of(OPERATIONS_BETWEEN_CHECKS) {
            self.watch.check()?;
            self.collect_garbage()?;
        }
        self.grow_cache();
        self.measured(kind, || {
            if let Ok(result) = self.watch.run(&operation)? {
                return Ok(result);
            }
            self.store.with_manager_shared(|m| m.gc());
            self.watch.run(&operation)?.map_err(|_| Stop::from(Why::Memory))
        })
    }

    /// Runs an operation and records its steps; on several threads, if the space has them and the last
    /// operation of its kind was long. With a step limit one thread is used: the count of several
    /// threads depends on their timing, so an operation would not always stop at the same step.
    fn measured<T>(&self, kind: OperationKind, operation: impl FnOnce() -> T) -> T {
        let last = &self.last_steps[kind as usize];
        let is_spread = self.n_threads > 1 && last.get() >= MIN_PARALLEL_STEPS && !self.watch.is_limited();
        if is_spread {
            kernel::spread(&self.store, true);
            self.watch.count_per_thread(true);
        }
        let before = self.watch.steps();
        let result = operation();
        last.set(self.watch.steps() - before);
        if is_spread {
            self.watch.count_per_thread(false);
            kernel::spread(&self.store, false);
            self.n_spread.set(self.n_spread.get() + 1);
        }
        result
    }

    /// Returns the number of operations done by several threads.
    pub fn n_spread(&self) -> u64 {
        self.n_spread.get()
    }

    /// Removes the step limit.
    pub fn lift_step_limit(&self) {
        self.watch.lift_step_limit();
    }

    /// Limits the steps that operations may take from now on, unless the limit is lower already.
    pub fn limit_steps(&self, steps: u64) {
        self.watch.limit_steps(steps);
    }

    /// Returns whether several spaces share one store.
    pub fn is_shared(&self) -> bool {
        self.watch.is_shared()
    }

    /// Returns the result of some operations, or `None` if they take more than `steps` steps. If several
    /// spaces share one store, steps are not limited: a stop would stop all of them.
    pub fn within_steps<T>(&self, steps: u64, operations: impl FnOnce() -> Limited<T>) -> Limited<Option<T>> {
        if self.is_shared() {
            return operations().map(Some);
        }
        let before = self.watch.limit_steps(steps);
        let result = operations();
        self.watch.restore_step_limit(before);
        match result {
            Ok(result) => Ok(Some(result)),
            Err(stop) if stop.why == Why::Memory => self.watch.check().map(|()| None),
            Err(stop) => Err(stop),
        }
    }

    /// Returns the number of steps that operations have taken so far.
    pub fn steps(&self) -> u64 {
        self.watch.steps()
    }

    /// Replaces the apply cache by a larger one if it has too few entries for the number of nodes: an
    /// operation would repeat the same work.
    fn grow_cache(&self) {
        let (nodes, entries) = (self.nodes(), self.cache_entries.get());
        if nodes < self.grow_cache_at.get() || entries >= self.max_cache_entries {
            return;
        }
        let larger = (entries * CACHE_GROWTH_FACTOR).min(self.max_cache_entries);
        if larger >= CACHE_ENTRIES_TO_COLLECT_FIRST {
            // Making such a cache takes longer than collecting dead nodes.
            self.store.with_manager_shared(|m| m.gc());
            let live = self.nodes();
            if live * CACHE_ENTRIES_PER_NODE * 2 <= entries {
                self.grow_cache_at.set(live + entries / CACHE_ENTRIES_PER_NODE);
                return;
            }
        }
        kernel::replace_cache(&self.store, larger);
        self.cache_entries.set(larger);
        self.grow_cache_at.set(larger / CACHE_ENTRIES_PER_NODE);
    }

    /// Collects dead nodes when there may be enough of them. Stops if more than three quarters of the
    /// store are live nodes: it would be collected over and over without progress.
    fn collect_garbage(&self) -> Limited<()> {
        let nodes = self.nodes();
        self.watch.meter(nodes);
        self.peak.set(self.peak.get().max(nodes));
        if nodes < self.collect_at.get() {
            return Ok(());
        }
        self.store.with_manager_shared(|m| m.gc());
        let live = self.nodes();
        if live > self.capacity / 4 * 3 {
            return Err(Why::Memory.into());
        }
        self.collect_at.set((2 * live).max(NODES_AT_FIRST_COLLECTION).min(self.capacity / 10 * 9));
        Ok(())
    }

    /// Returns the current number of nodes, including dead ones.
    pub fn nodes(&self) -> usize {
        self.store.with_manager_shared(|m| m.approx_num_inner_nodes())
    }

    /// Returns the largest number of nodes that existed at once.
    pub fn peak_nodes(&self) -> usize {
        self.peak.get().max(self.nodes())
    }

    /// Returns the bytes of [`peak_nodes`](Space::peak_nodes).
    pub fn peak_bytes(&self) -> u64 {
        self.peak_nodes() as u64 * NODE_BYTES
    }

    /// Returns the set of all valuations.
    pub fn all(&self) -> Set {
        Set(self.store.with_manager_shared(|m| Diagram::t(m)))
    }

    /// Returns the empty set.
    pub fn none(&self) -> Set {
        Set(self.store.with_manager_shared(|m| Diagram::f(m)))
    }

    /// Returns the set of all valuations if `value` is true, else the empty set.
    pub fn constant(&self, value: bool) -> Set {
        if value { self.all() } else { self.none() }
    }

    /// Returns the set in which a bit has a value.
    pub fn bit(&self, bit: Bit, value: bool) -> Limited<Set> {
        let set = self.run(OperationKind::Bit, || {
            self.store
                .with_manager_shared(|m| if value { Diagram::var(m, bit) } else { Diagram::not_var(m, bit) })
        })?;
        Ok(Set(set))
    }

    /// Computes the complement in the whole space.
    pub fn not(&self, a: &Set) -> Limited<Set> {
        self.run(OperationKind::Not, || a.0.not()).map(Set)
    }

    /// Computes the intersection.
    pub fn and(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(OperationKind::And, || a.0.and(&b.0)).map(Set)
    }

    /// Computes the union.
    pub fn or(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(OperationKind::Or, || a.0.or(&b.0)).map(Set)
    }

    /// Computes the symmetric difference.
    pub fn xor(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(OperationKind::Xor, || a.0.xor(&b.0)).map(Set)
    }

    /// Computes the set of valuations that are in both sets or in neither.
    pub fn iff(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(OperationKind::Iff, || a.0.equiv(&b.0)).map(Set)
    }

    /// Computes the difference `a ∖ b`.
    pub fn minus(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(OperationKind::Minus, || b.0.imp_strict(&a.0)).map(Set)
    }

    /// Computes the set that equals `then` inside `condition` and `otherwise` outside.
    pub fn ite(&self, condition: &Set, then: &Set, otherwise: &Set) -> Limited<Set> {
        self.run(OperationKind::Ite, || condition.0.ite(&then.0, &otherwise.0)).map(Set)
    }

    /// Returns whether `a` is a subset of `b`.
    pub fn is_subset(&self, a: &Set, b: &Set) -> Limited<bool> {
        Ok(self.minus(a, b)?.is_empty())
    }

    /// Returns whether two sets have a common valuation.
    ///
    /// Usually the first path leads to a common valuation, in far fewer steps than the whole
    /// intersection takes.
    pub fn intersects(&self, a: &Set, b: &Set) -> Limited<bool> {
        let mut steps_left = self.n_bits * PATH_STEPS_PER_BIT + MIN_PATH_STEPS;
        match self.share_path(&a.0, &b.0, &mut steps_left, &mut FxHashSet::default()) {
            Some(found) => Ok(found),
            None => Ok(!self.and(a, b)?.is_empty()),
        }
    }

    /// Returns whether a path to `true` is common to two diagrams; `None` if that takes too many steps.
    /// `disjoint` holds the pairs that are known to have no common path.
    fn share_path(
        &self,
        a: &Diagram,
        b: &Diagram,
        steps_left: &mut u32,
        disjoint: &mut FxHashSet<(Diagram, Diagram)>,
    ) -> Option<bool> {
        if !a.satisfiable() || !b.satisfiable() {
            return Some(false);
        }
        let (Some(top_a), Some(top_b)) = (top_bit(a), top_bit(b)) else { return Some(true) };
        if a == b {
            return Some(true);
        }
        *steps_left = steps_left.checked_sub(1)?;
        let pair = (a.clone(), b.clone());
        if disjoint.contains(&pair) {
            return Some(false);
        }
        let (top_a, top_b) = (self.level(top_a), self.level(top_b));
        let (a_high, a_low) = if top_a <= top_b { a.cofactors()? } else { (a.clone(), a.clone()) };
        let (b_high, b_low) = if top_b <= top_a { b.cofactors()? } else { (b.clone(), b.clone()) };
        for (a, b) in [(a_high, b_high), (a_low, b_low)] {
            if self.share_path(&a, &b, steps_left, disjoint)? {
                return Some(true);
            }
        }
        disjoint.insert(pair);
        Some(false)
    }

    /// Makes a cube of some bits.
    pub fn cube(&self, bits: impl IntoIterator<Item = Bit>) -> Limited<Cube> {
        let mut bits: Vec<Bit> = bits.into_iter().collect();
        bits.sort_unstable_by_key(|&bit| self.level(bit));
        bits.dedup();
        Ok(Cube(self.literals(bits.into_iter().map(|bit| (bit, true)))?.0))
    }

    /// Returns the set in which some bits have these values. Each bit occurs once, from the top of the
    /// order down.
    pub fn literals(
        &self,
        literals: impl IntoIterator<Item = (Bit, bool), IntoIter: DoubleEndedIterator + Clone>,
    ) -> Limited<Set> {
        let literals = literals.into_iter().rev();
        self.run(OperationKind::Bit, || kernel::literals(&self.store, literals.clone())).map(Set)
    }

    /// Computes the set that equals `high` where a bit is 1 and `low` where it is 0. Both must depend on
    /// lower bits only.
    pub(crate) fn branch(&self, bit: Bit, high: &Set, low: &Set) -> Limited<Set> {
        debug_assert!(self.level(bit) < self.top(high).min(self.top(low)));
        self.run(OperationKind::Bit, || kernel::branch(&self.store, bit, &high.0, &low.0)).map(Set)
    }

    /// Computes the valuations that agree with some valuation in `a` on all bits outside the cube.
    pub fn exists(&self, a: &Set, cube: &Cube) -> Limited<Set> {
        self.run(OperationKind::Exists, || a.0.exists(&cube.0)).map(Set)
    }

    /// Computes `exists(and(a, b), cube)` in one pass.
    pub fn and_exists(&self, a: &Set, b: &Set, cube: &Cube) -> Limited<Set> {
        self.run(OperationKind::AndExists, || a.0.apply_exists(BooleanOperator::And, &b.0, &cube.0)).map(Set)
    }

    /// Computes the cofactor: `a` with the bits of `literals` fixed to their values. The result does not
    /// depend on those bits.
    pub fn restrict(&self, a: &Set, literals: &Set) -> Limited<Set> {
        self.run(OperationKind::Restrict, || a.0.restrict(&literals.0)).map(Set)
    }

    /// Returns a set that has the same valuations as `a` inside `care`, and any outside, so that it has few
    /// nodes.
    pub fn simplify(&self, a: &Set, care: &Set) -> Limited<Set> {
        if care.is_empty() {
            return Ok(self.none());
        }
        self.run(OperationKind::Simplify, || simplify(&a.0, &care.0)).map(Set)
    }

    /// Makes a renaming of the first bit of each pair to the second.
    pub fn renaming(&self, pairs: impl IntoIterator<Item = (Bit, Bit)>) -> Renaming {
        Renaming::new(pairs.into_iter().collect())
    }

    /// Renames the bits of a set.
    pub fn rename(&self, a: &Set, renaming: &Renaming) -> Limited<Set> {
        self.run(OperationKind::Rename, || renaming.apply(&a.0)).map(Set)
    }

    /// Counts the valuations of `n_counted` bits that are in a set, which depends on no other bits.
    pub fn count(&self, a: &Set, n_counted: u32) -> Natural {
        let mut cache: SatCountCache<Natural, FxBuildHasher> = SatCountCache::default();
        a.0.sat_count(self.n_bits, &mut cache) >> (self.n_bits - n_counted)
    }

    /// Returns the level of a bit.
    pub fn level(&self, bit: Bit) -> Level {
        Level(self.levels.borrow().get(bit as usize).copied().unwrap_or(bit))
    }

    /// Returns the bit at a level.
    pub fn bit_at(&self, level: Level) -> Bit {
        self.bits.borrow().get(level.0 as usize).copied().unwrap_or(level.0)
    }

    /// Improves the order by sifting; the bits of a block stay together. Each bit is in one block, and
    /// the bits of a block are neighbours in the current order. Moves at most about `max_moves` nodes,
    /// each in about 100 ns. Returns the numbers of nodes before and after.
    pub fn sift(&self, blocks: &[Vec<Bit>], max_moves: u64) -> (usize, usize) {
        self.store.with_manager_shared(|m| m.gc());
        let before = self.nodes();
        // Running out of memory while levels are swapped would end the process.
        if before > self.capacity / 4 {
            return (before, before);
        }
        let mut widths: Vec<(Level, u32)> = blocks
            .iter()
            .filter_map(|bits| Some((bits.iter().map(|&bit| self.level(bit)).min()?, bits.len() as u32)))
            .collect();
        widths.sort_unstable();
        let widths: Vec<u32> = widths.into_iter().map(|(_, width)| width).collect();
        self.store.with_manager_exclusive(|m| {
            crate::sift::sift(m, &widths, max_moves, &|| self.watch.check().is_ok())
        });
        self.store.with_manager_shared(|m| {
            *self.levels.borrow_mut() = (0..self.n_bits).map(|bit| m.var_to_level(bit)).collect();
            *self.bits.borrow_mut() = (0..self.n_bits).map(|level| m.level_to_var(level)).collect();
        });
        self.store.with_manager_shared(|m| m.gc());
        (before, self.nodes())
    }

    /// Returns the number of nodes of a set's diagram.
    pub fn size(&self, a: &Set) -> usize {
        a.0.node_count()
    }

    /// Returns the bits a set depends on, in increasing order.
    pub fn support(&self, a: &Set) -> Vec<Bit> {
        support::bits_tested(&a.0)
    }

    /// Returns the lexicographically least valuation of a non-empty set, bits compared in the given
    /// order: the values of these bits.
    ///
    /// The diagram is copied into a plain table, in which one pass from the bottom up shows whether
    /// the set is non-empty once some bits are fixed. Most bits are 0, so several are fixed at once:
    /// twice as many after each success, half as many after a failure.
    pub fn least(&self, a: &Set, order: &[Bit]) -> Limited<Vec<bool>> {
        let table = Table::new(a);
        let mut fixed: Vec<Option<bool>> = vec![None; self.n_bits as usize];
        // The set does not depend on the other bits: they are 0.
        let open: Vec<Bit> = order.iter().copied().filter(|&bit| table.depends_on(bit)).collect();
        let (mut done, mut n_tried) = (0, 1);
        while done < open.len() {
            self.watch.check()?;
            n_tried = n_tried.min(open.len() - done);
            let tried = &open[done..done + n_tried];
            tried.iter().for_each(|&bit| fixed[bit as usize] = Some(false));
            if table.is_satisfiable(&fixed) {
                done += n_tried;
                n_tried *= 2;
                continue;
            }
            tried.iter().for_each(|&bit| fixed[bit as usize] = None);
            if n_tried == 1 {
                fixed[tried[0] as usize] = Some(true);
                done += 1;
            }
            n_tried = (n_tried / 2).max(1);
        }
        Ok(order.iter().map(|&bit| fixed[bit as usize] == Some(true)).collect())
    }

    /// Returns the level of the topmost bit a set depends on; `n_bits` for a constant.
    pub fn top(&self, a: &Set) -> Level {
        top_bit(&a.0).map_or(Level(self.n_bits), |bit| self.level(bit))
    }
}

fn top_bit(f: &Diagram) -> Option<Bit> {
    f.with_manager_shared(|manager, edge| match manager.get_node(edge) {
        Node::Inner(node) => Some(manager.level_to_var(node.level())),
        Node::Terminal(_) => None,
    })
}

impl Set {
    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        !self.0.satisfiable()
    }

    /// Returns whether all valuations are in the set.
    pub fn is_all(&self) -> bool {
        self.0.valid()
    }
}

#[cfg(test)]
mod tests;
