//! Sets of bit vectors as decision diagrams: the one module that names the library behind them.
//!
//! A [`Space`] has a fixed number of boolean variables, a [`Set`] is a set of their valuations.
//! Every operation that may create nodes answers `Err(Stop)` when memory or time has run out, so
//! that a limit travels up by `?` and becomes an `unknown`.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use masque_model::Count;
use masque_verdict::{Budget, Stop, Why};
use oxidd_core::function::{BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst};
use oxidd_core::util::{AllocResult, SatCountCache, Subst};
use oxidd_core::{HasLevel, Manager, ManagerRef, Node};
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::kernel::{self, Diagram, Store, Watch};

mod codes;
mod parcel;
mod table;

pub use parcel::Parcel;
pub(crate) use table::{FALSE, TRUE, Table};

pub use oxidd_core::util::num::Natural;

/// The number of members of a set, as the contract with callers has it.
pub(crate) fn exact(count: &Natural) -> Count {
    // A natural number is written in decimal digits, which are read back.
    count.to_string().parse().unwrap_or_else(|_| Count::from(0_u64))
}

/// A variable of a [`Space`].
pub type Bit = u32;

/// A place in the order of the bits, from the top. Not a [`Bit`]: the order may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(pub u32);

/// The outcome of whatever may run out of memory or time.
pub type Limited<T> = Result<T, Stop>;

/// A set of valuations of a space's bits; equal sets are equal in constant time.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Set(Diagram);

/// A conjunction of bits to quantify over.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cube(Diagram);

/// A renaming of bits, made once and kept: the library caches results by its identity.
pub struct Renaming(Subst<Diagram>);

/// The bytes a space may take if nobody says otherwise.
pub(crate) const MEMORY: u64 = 16 << 30;
/// The bytes one node takes, its place in the unique table included.
const NODE_BYTES: u64 = 36;
/// The bytes one entry of the apply cache takes.
const CACHE_BYTES: u64 = 24;
/// Entries of the apply cache at first. A cache is written when it is made, so it grows with need,
/// and in leaps: one operation may make a great many nodes, and with too small a cache it does the
/// same work again and again.
const FIRST_CACHE: usize = 1 << 17;
/// Entries at most.
const LAST_CACHE: usize = 1 << 23;
/// The cache grows when it has fewer entries than this for each node.
const FEWEST_RESULTS: usize = 3;
/// How many times as many entries it has then.
const LEAP: usize = 4;
/// Before the cache becomes as large as this, dead nodes are collected, and it grows only if at least
/// half of the nodes were live.
const LARGE_CACHE: usize = 1 << 22;
/// Dead nodes are collected when this many nodes exist, and then when they have doubled.
const FIRST_COLLECTION: usize = 1 << 20;
/// A path common to two sets is looked for in this many steps for each bit, and some more, before
/// their intersection is computed.
const PATH_STEPS_PER_BIT: u32 = 2;
const FEWEST_PATH_STEPS: u32 = 64;
/// The budget is looked at once in so many operations.
const CHECK_EVERY: u32 = 64;

/// Threads on one operation at most.
const MOST_THREADS: usize = 8;
/// Steps that make an operation large: fewer are over before a second thread has woken up. In tests
/// all but the first of a kind are large.
const LARGE: u64 = if cfg!(test) { 1 } else { 1 << 14 };

/// Operations of a kind tend to be of a size, as long as the same loop asks for them.
#[derive(Clone, Copy)]
enum Kind {
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
    Rename,
}

const N_KINDS: usize = Kind::Rename as usize + 1;

/// Boolean variables and the diagrams over them.
pub struct Space {
    store: Store,
    n_bits: u32,
    watch: Arc<Watch>,
    operations: Cell<u32>,
    collect_at: Cell<usize>,
    peak: Cell<usize>,
    capacity: usize,
    /// Entries of the apply cache, now and at most, and the number of nodes at which it grows.
    cache: Cell<usize>,
    last_cache: usize,
    grow_cache_at: Cell<usize>,
    /// Threads that may work on one operation.
    n_threads: u32,
    /// By kind of operation, the steps that the last one took.
    last_steps: [Cell<u64>; N_KINDS],
    n_spread: Cell<u64>,
    /// Where each bit stands, once the order has changed.
    levels: RefCell<Vec<u32>>,
    /// Which bit stands where, once the order has changed.
    bits: RefCell<Vec<Bit>>,
}

impl Space {
    /// A space of `n_bits` variables, numbered from the top of the order.
    pub fn new(n_bits: u32, budget: &Budget) -> Space {
        Space::for_steps(n_bits, budget, u64::MAX)
    }

    /// A space in which operations may take so many steps in all; more is `memory`. A step is a look
    /// into the cache of results, some 50 ns.
    pub fn for_steps(n_bits: u32, budget: &Budget, most_steps: u64) -> Space {
        Space::on_threads(n_bits, budget, most_steps, 1)
    }

    /// The same, in which so many threads may work on one large operation; beyond a few there is
    /// nothing for them to do.
    pub fn on_threads(n_bits: u32, budget: &Budget, most_steps: u64, n_threads: usize) -> Space {
        let n_threads = n_threads.clamp(1, MOST_THREADS) as u32;
        let memory = budget.memory().unwrap_or(MEMORY);
        let last_cache = (memory / 4 / CACHE_BYTES).clamp(FIRST_CACHE as u64, LAST_CACHE as u64) as usize;
        let capacity = (memory / 4 * 3 / NODE_BYTES).clamp(1 << 16, 1 << 29) as usize;
        let watch = Watch::new(budget, most_steps);
        let store = kernel::store(capacity as u32, FIRST_CACHE, n_threads, &watch);
        store.with_manager_exclusive(|m| _ = m.add_vars(n_bits));
        Space {
            store,
            n_bits,
            watch,
            operations: Cell::new(0),
            collect_at: Cell::new(FIRST_COLLECTION.min(capacity / 10 * 9)),
            peak: Cell::new(0),
            capacity,
            cache: Cell::new(FIRST_CACHE),
            last_cache,
            grow_cache_at: Cell::new(FIRST_CACHE / FEWEST_RESULTS),
            n_threads,
            last_steps: Default::default(),
            n_spread: Cell::new(0),
            levels: RefCell::default(),
            bits: RefCell::default(),
        }
    }

    /// From now on this budget applies. Counting begins anew, so that how often the budget is looked at
    /// does not depend on what was asked before.
    pub fn set_budget(&self, budget: &Budget) {
        self.operations.set(0);
        // What the last budget was spent on may be dead by now. A full store is noticed by the next
        // operation.
        _ = self.collect_garbage();
        self.watch.set_budget(budget);
    }

    /// Whether there is time left, for work that is not done in diagrams.
    pub fn check(&self) -> Limited<()> {
        self.watch.check()
    }

    /// How many variables there are.
    pub fn n_bits(&self) -> u32 {
        self.n_bits
    }

    /// Runs one operation of the library within the budget. The library reports a full store even
    /// while dead nodes remain, so it is tried again after a collection.
    fn run(&self, kind: Kind, operation: impl Fn() -> AllocResult<Diagram>) -> Limited<Diagram> {
        let count = self.operations.get().wrapping_add(1);
        self.operations.set(count);
        if count.is_multiple_of(CHECK_EVERY) {
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

    /// Runs an operation, on several threads if there are any to be had and if the last one of its
    /// kind was large. Where steps are limited, one thread counts them: with several, the count
    /// depends on their timing, and so would what is done about it.
    fn measured<T>(&self, kind: Kind, operation: impl FnOnce() -> T) -> T {
        let last = &self.last_steps[kind as usize];
        let is_spread = self.n_threads > 1 && last.get() >= LARGE && !self.watch.is_limited();
        if is_spread {
            kernel::spread(&self.store, true);
            self.watch.count_apart(true);
        }
        let before = self.watch.steps();
        let result = operation();
        last.set(self.watch.steps() - before);
        if is_spread {
            self.watch.count_apart(false);
            kernel::spread(&self.store, false);
            self.n_spread.set(self.n_spread.get() + 1);
        }
        result
    }

    /// Operations that were done by several threads.
    pub fn n_spread(&self) -> u64 {
        self.n_spread.get()
    }

    /// From now on operations may take any number of steps.
    pub fn take_your_time(&self) {
        self.watch.take_your_time();
    }

    /// From now on operations may take so many steps in all, unless the limit is lower already.
    pub fn limit(&self, steps: u64) {
        self.watch.limit(steps);
    }

    /// Whether several spaces are on one store.
    pub fn is_shared(&self) -> bool {
        self.watch.is_shared()
    }

    /// What operations answer, unless they take more steps than that. Where several spaces are on one
    /// store, steps are not limited: others would be stopped too.
    pub fn within<T>(&self, steps: u64, operations: impl FnOnce() -> Limited<T>) -> Limited<Option<T>> {
        if self.is_shared() {
            return operations().map(Some);
        }
        let before = self.watch.limit(steps);
        let result = operations();
        self.watch.unlimit(before);
        match result {
            Ok(result) => Ok(Some(result)),
            Err(stop) if stop.why == Why::Memory => self.watch.check().map(|()| None),
            Err(stop) => Err(stop),
        }
    }

    /// The steps that operations have taken so far.
    pub fn steps(&self) -> u64 {
        self.watch.steps()
    }

    /// Too small a cache makes one operation do the same work again and again: it keeps pace with
    /// the nodes.
    fn grow_cache(&self) {
        let (nodes, cache) = (self.nodes(), self.cache.get());
        if nodes < self.grow_cache_at.get() || cache >= self.last_cache {
            return;
        }
        let larger = (cache * LEAP).min(self.last_cache);
        if larger >= LARGE_CACHE {
            // It takes longer to make such a cache than to find out which nodes are dead.
            self.store.with_manager_shared(|m| m.gc());
            let live = self.nodes();
            if live * FEWEST_RESULTS * 2 <= cache {
                self.grow_cache_at.set(live + cache / FEWEST_RESULTS);
                return;
            }
        }
        kernel::remember(&self.store, larger);
        self.cache.set(larger);
        self.grow_cache_at.set(larger / FEWEST_RESULTS);
    }

    /// Collects dead nodes when enough may have gathered. A store that is nearly full of live ones
    /// is given up: collecting again and again would go on for ever.
    fn collect_garbage(&self) -> Limited<()> {
        let nodes = self.nodes();
        self.peak.set(self.peak.get().max(nodes));
        if nodes < self.collect_at.get() {
            return Ok(());
        }
        self.store.with_manager_shared(|m| m.gc());
        let live = self.nodes();
        if live > self.capacity / 4 * 3 {
            return Err(Why::Memory.into());
        }
        self.collect_at.set((2 * live).max(FIRST_COLLECTION).min(self.capacity / 10 * 9));
        Ok(())
    }

    /// Nodes that exist now, dead ones included.
    pub fn nodes(&self) -> usize {
        self.store.with_manager_shared(|m| m.approx_num_inner_nodes())
    }

    /// The most nodes that existed at a time.
    pub fn peak_nodes(&self) -> usize {
        self.peak.get().max(self.nodes())
    }

    /// The bytes that the nodes took at most.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_nodes() as u64 * NODE_BYTES
    }

    /// All valuations.
    pub fn all(&self) -> Set {
        Set(self.store.with_manager_shared(|m| Diagram::t(m)))
    }

    /// No valuation.
    pub fn none(&self) -> Set {
        Set(self.store.with_manager_shared(|m| Diagram::f(m)))
    }

    /// All or none.
    pub fn constant(&self, value: bool) -> Set {
        if value { self.all() } else { self.none() }
    }

    /// Where a bit has a value.
    pub fn bit(&self, bit: Bit, value: bool) -> Limited<Set> {
        let set = self.run(Kind::Bit, || {
            self.store.with_manager_shared(|m| match value {
                true => Diagram::var(m, bit),
                false => Diagram::not_var(m, bit),
            })
        })?;
        Ok(Set(set))
    }

    /// The complement in the whole space.
    pub fn not(&self, a: &Set) -> Limited<Set> {
        self.run(Kind::Not, || a.0.not()).map(Set)
    }

    /// Intersection.
    pub fn and(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(Kind::And, || a.0.and(&b.0)).map(Set)
    }

    /// Union.
    pub fn or(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(Kind::Or, || a.0.or(&b.0)).map(Set)
    }

    /// What is in exactly one of the two.
    pub fn xor(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(Kind::Xor, || a.0.xor(&b.0)).map(Set)
    }

    /// Where both agree.
    pub fn iff(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(Kind::Iff, || a.0.equiv(&b.0)).map(Set)
    }

    /// `a` without `b`.
    pub fn minus(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.run(Kind::Minus, || b.0.imp_strict(&a.0)).map(Set)
    }

    /// `then` inside `condition`, `otherwise` outside.
    pub fn ite(&self, condition: &Set, then: &Set, otherwise: &Set) -> Limited<Set> {
        self.run(Kind::Ite, || condition.0.ite(&then.0, &otherwise.0)).map(Set)
    }

    /// Whether `a` lies in `b`.
    pub fn is_subset(&self, a: &Set, b: &Set) -> Limited<bool> {
        Ok(self.minus(a, b)?.is_empty())
    }

    /// Whether the two have something in common.
    ///
    /// A common valuation is mostly found on the first path that is tried, in far fewer steps than
    /// the whole intersection takes.
    pub fn intersects(&self, a: &Set, b: &Set) -> Limited<bool> {
        let mut steps_left = self.n_bits * PATH_STEPS_PER_BIT + FEWEST_PATH_STEPS;
        match self.share_path(&a.0, &b.0, &mut steps_left, &mut FxHashSet::default()) {
            Some(found) => Ok(found),
            None => Ok(!self.and(a, b)?.is_empty()),
        }
    }

    /// Whether a path to `true` is common to two diagrams; none if that takes too many steps.
    /// `disjoint` has the pairs that were looked at in vain.
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

    /// The bits of a cube.
    pub fn cube(&self, bits: impl IntoIterator<Item = Bit>) -> Limited<Cube> {
        let mut bits: Vec<Bit> = bits.into_iter().collect();
        bits.sort_unstable_by_key(|&bit| self.level(bit));
        bits.dedup();
        Ok(Cube(self.literals(bits.into_iter().map(|bit| (bit, true)))?.0))
    }

    /// Where some bits, each once and from the top of the order down, have these values.
    pub fn literals(
        &self,
        literals: impl IntoIterator<Item = (Bit, bool), IntoIter: DoubleEndedIterator + Clone>,
    ) -> Limited<Set> {
        let literals = literals.into_iter().rev();
        self.run(Kind::Bit, || kernel::literals(&self.store, literals.clone())).map(Set)
    }

    /// `high` where a bit is set, `low` elsewhere. Both must depend on lower bits only.
    pub(crate) fn branch(&self, bit: Bit, high: &Set, low: &Set) -> Limited<Set> {
        debug_assert!(self.level(bit) < self.top(high).min(self.top(low)));
        self.run(Kind::Bit, || kernel::branch(&self.store, bit, &high.0, &low.0)).map(Set)
    }

    /// The valuations that agree with one of `a` outside the cube.
    pub fn exists(&self, a: &Set, cube: &Cube) -> Limited<Set> {
        self.run(Kind::Exists, || a.0.exists(&cube.0)).map(Set)
    }

    /// `exists(a and b)` in one pass.
    pub fn and_exists(&self, a: &Set, b: &Set, cube: &Cube) -> Limited<Set> {
        self.run(Kind::AndExists, || a.0.apply_exists(BooleanOperator::And, &b.0, &cube.0)).map(Set)
    }

    /// The set where the bits of `literals` have their values, with those bits forgotten.
    pub fn restrict(&self, a: &Set, literals: &Set) -> Limited<Set> {
        self.run(Kind::Restrict, || a.0.restrict(&literals.0)).map(Set)
    }

    /// A renaming of each first bit to the second.
    pub fn renaming(&self, pairs: impl IntoIterator<Item = (Bit, Bit)>) -> Limited<Renaming> {
        let mut from = Vec::new();
        let mut to = Vec::new();
        for (old, new) in pairs {
            from.push(old);
            to.push(self.bit(new, true)?.0);
        }
        Ok(Renaming(Subst::new(from, to)))
    }

    /// The set with its bits renamed.
    pub fn rename(&self, a: &Set, renaming: &Renaming) -> Limited<Set> {
        self.run(Kind::Rename, || a.0.substitute(&renaming.0)).map(Set)
    }

    /// How many valuations there are, over `n_counted` bits of which the set speaks.
    pub fn count(&self, a: &Set, n_counted: u32) -> Natural {
        let mut cache: SatCountCache<Natural, FxBuildHasher> = SatCountCache::default();
        a.0.sat_count(self.n_bits, &mut cache) >> (self.n_bits - n_counted)
    }

    /// Where a bit stands in the order, from the top.
    pub fn level(&self, bit: Bit) -> Level {
        Level(self.levels.borrow().get(bit as usize).copied().unwrap_or(bit))
    }

    /// The bit at a level of the order.
    pub fn bit_at(&self, level: Level) -> Bit {
        self.bits.borrow().get(level.0 as usize).copied().unwrap_or(level.0)
    }

    /// Improves the order by sifting, blocks of bits staying together. Each bit is in one block, and
    /// the bits of a block are neighbours now. The effort is in nodes moved, some 100 ns each. Says
    /// how many nodes there were and are.
    pub fn sift(&self, blocks: &[Vec<Bit>], effort: u64) -> (usize, usize) {
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
            crate::sift::sift(m, &widths, effort, &|| self.watch.check().is_ok())
        });
        self.store.with_manager_shared(|m| {
            *self.levels.borrow_mut() = (0..self.n_bits).map(|bit| m.var_to_level(bit)).collect();
            *self.bits.borrow_mut() = (0..self.n_bits).map(|level| m.level_to_var(level)).collect();
        });
        self.store.with_manager_shared(|m| m.gc());
        (before, self.nodes())
    }

    /// The nodes of a set's diagram.
    pub fn size(&self, a: &Set) -> usize {
        a.0.node_count()
    }

    /// The bits a set depends on.
    pub fn support(&self, a: &Set) -> Vec<Bit> {
        let mut seen: FxHashSet<Diagram> = FxHashSet::default();
        let mut bits: FxHashSet<Bit> = FxHashSet::default();
        let mut open = vec![a.0.clone()];
        while let Some(f) = open.pop() {
            if let Some((high, low)) = f.cofactors()
                && seen.insert(f.clone())
            {
                bits.extend(top_bit(&f));
                open.extend([high, low]);
            }
        }
        let mut bits: Vec<Bit> = bits.into_iter().collect();
        bits.sort_unstable();
        bits
    }

    /// The least valuation of a set that is not empty, bits compared in the given order: its values
    /// in that order.
    ///
    /// The diagram is copied into a plain table, in which one pass from the bottom up tells whether
    /// anything is left once some bits are fixed. Most bits are 0, so several are tried at once:
    /// twice as many after each success, half as many after a failure.
    pub fn least(&self, a: &Set, order: &[Bit]) -> Limited<Vec<bool>> {
        let table = Table::new(a);
        let mut fixed: Vec<Option<bool>> = vec![None; self.n_bits as usize];
        // Nothing depends on the other bits: they are 0.
        let open: Vec<Bit> = order.iter().copied().filter(|&bit| table.asks_for(bit)).collect();
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

    /// The level of the topmost bit a set depends on; past all levels for a constant.
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
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        !self.0.satisfiable()
    }

    /// Whether everything is in it.
    pub fn is_all(&self) -> bool {
        self.0.valid()
    }
}

#[cfg(test)]
mod tests;
