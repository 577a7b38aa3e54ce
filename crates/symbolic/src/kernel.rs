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

use std::cell::Cell;
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use masque_verdict::{Budget, Stop, Why};

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

/// A function of the bits: a node, and whether it is complemented.
pub(crate) type Diagram =
    BCDDFunctionMT<manager::Function<Nodes, EdgeTag, Terminals, RulesCons, DataCons, 1>>;
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

/// A store for at most `n_nodes` nodes that remembers about `n_results` results. Operations are done
/// by the thread that asks for them, unless they are [spread](spread) over so many.
pub(crate) fn store(n_nodes: u32, n_results: usize, n_threads: u32, watch: &Arc<Watch>) -> Store {
    // SAFETY: this manager removes nodes only between `pre_gc` and `post_gc`.
    let results = unsafe { Results::with_capacity(n_results) };
    let data = Data { cache: Cache { results, watch: watch.clone() } };
    let store = manager::new_manager(n_nodes, 1, n_threads, data);
    spread(&store, false);
    store
}

/// From now on operations are spread over the store's threads, or they are not.
pub(crate) fn spread(store: &Store, is_spread: bool) {
    let depth = if is_spread { None } else { Some(0) };
    store.with_manager_shared(|manager| manager.workers().set_split_depth(depth));
}

/// Gives the store a new, empty memory for results.
pub(crate) fn remember(store: &Store, n_results: usize) {
    store.with_manager_exclusive(|manager| {
        // SAFETY: as in `store`.
        manager.apply_cache_mut().results = unsafe { Results::with_capacity(n_results) };
    });
}

/// A conjunction of literals, those of the lowest levels first.
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

/// The function that is `high` where a bit is set and `low` elsewhere, which depend on lower bits only.
pub(crate) fn branch(store: &Store, bit: u32, high: &Diagram, low: &Diagram) -> AllocResult<Diagram> {
    store.with_manager_shared(|manager| {
        let level = manager.var_to_level(bit);
        let children = [high, low].map(|child| manager.clone_edge(child.as_edge(manager)));
        let edge = BCDDRules::reduce(manager, level, children).then_insert(manager, level)?;
        Ok(Diagram::from_edge(manager, edge))
    })
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
    /// Whether several spaces are on the store, each with a thread of its own.
    is_shared: AtomicBool,
    /// Whether several threads are at work on the store, so that each counts for itself.
    counts_apart: AtomicBool,
    budget: Mutex<Budget>,
    /// The steps that the budget was told of.
    told: AtomicU64,
}

/// Steps between two looks at the clock: some milliseconds.
const LOOK_EVERY: u64 = 1 << 16;

/// Steps that one of several threads takes before it tells the others.
const TELL_EVERY: u64 = 1 << 10;

thread_local! {
    /// Steps that this thread has taken as one of several and told nobody of.
    static OWN_STEPS: Cell<u64> = const { Cell::new(0) };
}

impl Watch {
    pub(crate) fn new(budget: &Budget, most_steps: u64) -> Arc<Watch> {
        Arc::new(Watch {
            most_steps: AtomicU64::new(most_steps),
            budget: Mutex::new(budget.clone()),
            ..Watch::default()
        })
    }

    /// From now on several spaces are on the store, each with a thread of its own.
    pub(crate) fn share(&self) {
        self.is_shared.store(true, Relaxed);
        self.count_apart(true);
    }

    /// From now on several threads are at work on the store, or one is.
    pub(crate) fn count_apart(&self, is_apart: bool) {
        self.counts_apart.store(is_apart, Relaxed);
    }

    /// Whether there is a limit on steps: then they are counted exactly.
    pub(crate) fn is_limited(&self) -> bool {
        self.most_steps.load(Relaxed) != u64::MAX
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared.load(Relaxed)
    }

    /// From now on this budget applies; nobody else is at work on the store.
    pub(crate) fn set_budget(&self, budget: &Budget) {
        self.go_on();
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = budget.clone();
    }

    pub(crate) fn take_your_time(&self) {
        self.most_steps.store(u64::MAX, Relaxed);
    }

    /// Lets some operations take so many steps from now on; says what the limit was before.
    pub(crate) fn limit(&self, steps: u64) -> u64 {
        let before = self.most_steps.load(Relaxed);
        let most = self.steps().saturating_add(steps).min(before);
        self.most_steps.store(most, Relaxed);
        self.look_at.fetch_min(most, Relaxed);
        before
    }

    /// Back to an earlier limit.
    pub(crate) fn unlimit(&self, most_steps: u64) {
        self.most_steps.store(most_steps, Relaxed);
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }

    /// Whether the run may go on.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.steps() >= self.most_steps.load(Relaxed) {
            return Err(Why::Memory.into());
        }
        let steps = self.steps();
        let told = self.told.fetch_max(steps, Relaxed);
        let budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.spend(steps.saturating_sub(told))?;
        budget.check()
    }

    /// Whatever was stopped is over.
    fn go_on(&self) {
        self.stopping.store(false, Relaxed);
        self.look_at.store(0, Relaxed);
    }

    /// What an operation answers, unless it was stopped.
    pub(crate) fn run<T>(&self, operation: impl FnOnce() -> T) -> Result<T, Stop> {
        let result = operation();
        if !self.stopping.load(Relaxed) {
            return Ok(result);
        }
        // Others' operations may have worthless answers too: they stop until there is a new budget.
        if !self.is_shared() {
            self.go_on();
        }
        // A flag that was taken back meanwhile does not make the result any better.
        Err(self.check().err().unwrap_or_else(|| Why::Interrupted.into()))
    }

    /// One more step; says whether to stop.
    #[inline]
    fn step(&self) -> bool {
        if self.counts_apart.load(Relaxed) {
            return self.step_apart();
        }
        // One thread works on the store, so nothing is lost between the two.
        let steps = self.steps.load(Relaxed) + 1;
        self.steps.store(steps, Relaxed);
        steps >= self.look_at.load(Relaxed) && self.look(steps)
    }

    /// As `step`, where several threads are at work on the store. Each counts for itself and tells the
    /// others now and then: a number that all write at every step would be what they spend their
    /// time on.
    fn step_apart(&self) -> bool {
        let steps = OWN_STEPS.get() + 1;
        if steps < TELL_EVERY {
            OWN_STEPS.set(steps);
            return self.stopping.load(Relaxed);
        }
        OWN_STEPS.set(0);
        let steps = self.steps.fetch_add(TELL_EVERY, Relaxed) + TELL_EVERY;
        steps >= self.look_at.load(Relaxed) && self.look(steps)
    }

    #[cold]
    fn look(&self, steps: u64) -> bool {
        let stops = self.stopping.load(Relaxed) || self.check().is_err();
        // Whoever has not seen a reason to stop must not take back what another thread has seen.
        if stops {
            self.stopping.store(true, Relaxed);
            self.look_at.store(0, Relaxed);
        } else {
            let next = steps.saturating_add(LOOK_EVERY).min(self.most_steps.load(Relaxed));
            self.look_at.store(next, Relaxed);
        }
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::space::{Set, Space};

    /// Where an odd number of the bits is set.
    fn parity(space: &Space, bits: impl Iterator<Item = u32>) -> Set {
        bits.fold(space.none(), |set, bit| space.xor(&set, &space.bit(bit, true).unwrap()).unwrap())
    }

    /// A conjunction that asks for complements at every level: two parities of overlapping bits
    /// have diagrams of a node or two for each level, and so has each of their four combinations.
    #[test]
    fn parities_take_few_steps() {
        let n = 60;
        let space = Space::new(n, &Budget::unlimited());
        let (one, other) = (parity(&space, 0..n), parity(&space, (0..n).step_by(2)));
        let before = space.steps();
        let both = space.and(&one, &other).unwrap();
        let steps = space.steps() - before;
        assert_eq!(space.count(&both, n).to_string(), (1_u64 << (n - 2)).to_string());
        assert!(steps <= 8 * u64::from(n), "{steps} steps");
    }

    /// Where every even bit, and where every odd bit, of the first `n` equals the one `n` levels below.
    /// The diagram of both has to remember all `n` bits, so it has more than `2^n` nodes.
    fn equalities(space: &Space, n: u32) -> [Set; 2] {
        [0, 1].map(|rest| {
            let pairs = (0..n).filter(|i| i % 2 == rest);
            pairs.fold(space.all(), |set, i| {
                let [a, b] = [i, n + i].map(|bit| space.bit(bit, true).unwrap());
                space.and(&set, &space.iff(&a, &b).unwrap()).unwrap()
            })
        })
    }

    /// The conjunction, given time, in a space where it was stopped once.
    fn check_again(space: &Space, [even, odd]: &[Set; 2], n: u32) {
        let both = space.and(even, odd).unwrap();
        assert_eq!(space.count(&both, 2 * n).to_string(), (1_u64 << n).to_string());
        assert!(space.is_subset(&both, even).unwrap() && space.is_subset(&both, odd).unwrap());
        let quick = Space::new(2 * n, &Budget::unlimited());
        let copy = quick.unpack(&space.pack(&both)).unwrap();
        let [even, odd] = equalities(&quick, n);
        assert!(copy == quick.and(&even, &odd).unwrap(), "nothing worthless was remembered");
    }

    #[test]
    fn an_operation_ends_at_its_last_step() {
        let n = 14;
        let whole = Space::new(2 * n, &Budget::unlimited());
        let sets = equalities(&whole, n);
        let before = whole.steps();
        whole.and(&sets[0], &sets[1]).unwrap();
        let needed = whole.steps() - before;
        assert!(needed > 1 << n, "{needed} steps");
        // Wherever it is stopped, at the first step or at the last.
        for most in [1, 2, 100, needed / 7, needed / 2, needed] {
            let space = Space::for_steps(2 * n, &Budget::unlimited(), before + most);
            let sets = equalities(&space, n);
            assert_eq!(space.steps(), before, "equal work");
            let stop = space.and(&sets[0], &sets[1]).err().map(|stop| stop.why);
            assert_eq!(stop, Some(Why::Memory), "after {most} steps");
            assert!(space.steps() - before < most + 200, "what is left of the recursion ends at once");
            space.take_your_time();
            check_again(&space, &sets, n);
        }
    }

    /// An operation that would take minutes is stopped within the budget, and another one after it
    /// is as good as ever.
    fn stopped(budget: &Budget) -> Option<Why> {
        const N: u32 = 30;
        let space = Space::new(2 * N, &Budget::unlimited());
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
