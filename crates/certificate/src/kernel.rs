//! Decision diagrams: the only data structure of the checker.
//!
//! A diagram is a graph of nodes; each tests one level and has a successor for 0 and one for 1. An edge may be
//! complemented, so a set and its complement share their nodes; the edge for 1 never is, which makes the form
//! unique [BRB90]. Children always have smaller numbers than their parents, so collecting garbage is one pass
//! that moves the nodes still in use to the front.
//!
//! Operations do not fail. Once a limit is exceeded, every further result is the empty set, and
//! [`Diagrams::exceeded`] says so for good: no answer may be given without asking it last.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::{Rc, Weak};
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

/// The number of a node, shifted left by one; the lowest bit says that the edge is complemented.
type Edge = u32;

const ALL: Edge = 0;
const NONE: Edge = 1;
/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u32 = 1 << 14;
/// Number of nodes below which garbage is not collected; in tests so small that it happens all the time.
const MIN_NODES: usize = if cfg!(test) { 1 << 7 } else { 1 << 18 };
/// Minimum size of the tables.
const MIN_TABLE: usize = 1 << 12;
/// Bytes per node, with its share of the tables.
const NODE_BYTES: u64 = 64;
/// Maximum number of entries of the table of results.
const MAX_RESULTS: usize = 1 << 23;

/// A limit that ended the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The time is over.
    Time,
    /// The diagrams need more memory than allowed.
    Memory,
    /// An expression has too many values to list.
    Values,
}

/// A set of valuations of the levels. Its nodes are kept as long as the set.
#[derive(Clone)]
pub(crate) struct Set {
    diagrams: Diagrams,
    edge: Rc<Cell<Edge>>,
}

/// All diagrams of one check.
#[derive(Clone)]
pub(crate) struct Diagrams(Rc<RefCell<Kernel>>);

impl Diagrams {
    /// Creates diagrams over levels `0..moves.len()`, where `moves` says which levels have a copy right below.
    pub(crate) fn new(moves: Vec<bool>, max_bytes: u64, deadline: Option<Instant>) -> Diagrams {
        let max_nodes = usize::try_from(max_bytes / NODE_BYTES).unwrap_or(usize::MAX).clamp(1 << 10, 1 << 30);
        Diagrams(Rc::new(RefCell::new(Kernel {
            nodes: vec![Node { level: u32::MAX, low: ALL, high: ALL }],
            unique: vec![0; MIN_TABLE],
            results: vec![Known::default(); MIN_TABLE],
            kept: Vec::new(),
            max_kept: MIN_TABLE,
            collect_at: MIN_NODES,
            max_nodes,
            deadline,
            steps: 0,
            moves,
            exceeded: None,
        })))
    }

    /// Returns the set of all valuations, or the empty set.
    pub(crate) fn constant(&self, value: bool) -> Set {
        self.compute(|_| Ok(if value { ALL } else { NONE }))
    }

    /// Returns the valuations in which levels have given values.
    pub(crate) fn literals(&self, literals: impl IntoIterator<Item = (u32, bool)>) -> Set {
        self.compute(|kernel| kernel.literals(literals.into_iter().collect()))
    }

    /// Returns the set that tests a level above those that the operands test.
    pub(crate) fn branch(&self, level: u32, low: &Set, high: &Set) -> Set {
        self.compute(|kernel| kernel.node(level, low.edge.get(), high.edge.get()))
    }

    /// Unites sets pairwise.
    pub(crate) fn union(&self, sets: impl IntoIterator<Item = Set>) -> Set {
        let mut sets: Vec<Set> = sets.into_iter().collect();
        while sets.len() > 1 {
            sets = sets.chunks(2).map(|pair| pair[0].or(&pair[pair.len() - 1])).collect();
        }
        sets.pop().unwrap_or_else(|| self.constant(false))
    }

    /// Returns the limit that was exceeded, if any was. The sets made since then mean nothing.
    pub(crate) fn exceeded(&self) -> Option<Limit> {
        self.0.borrow().exceeded
    }

    /// Notes that a limit is exceeded.
    pub(crate) fn exceed(&self, limit: Limit) {
        self.0.borrow_mut().exceeded.get_or_insert(limit);
    }

    fn compute(&self, operation: impl FnOnce(&mut Kernel) -> Limited<Edge>) -> Set {
        let kernel = &mut *self.0.borrow_mut();
        let may_go_on = kernel.exceeded.map_or(Ok(()), Err).and_then(|()| kernel.step());
        kernel.collect_if_large();
        let edge = may_go_on.and_then(|()| operation(kernel)).unwrap_or_else(|limit| {
            kernel.exceeded = Some(limit);
            NONE
        });
        Set { diagrams: self.clone(), edge: kernel.keep(edge) }
    }
}

impl Set {
    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.edge.get() == NONE
    }

    /// Complement.
    pub(crate) fn not(&self) -> Set {
        self.diagrams.compute(|_| Ok(self.edge.get() ^ 1))
    }

    /// Intersection.
    pub(crate) fn and(&self, other: &Set) -> Set {
        self.diagrams.compute(|kernel| kernel.and(self.edge.get(), other.edge.get()))
    }

    /// Union.
    pub(crate) fn or(&self, other: &Set) -> Set {
        self.diagrams.compute(|kernel| kernel.or(self.edge.get(), other.edge.get()))
    }

    /// Difference.
    pub(crate) fn minus(&self, other: &Set) -> Set {
        self.diagrams.compute(|kernel| kernel.and(self.edge.get(), other.edge.get() ^ 1))
    }

    /// Quantifies levels existentially.
    pub(crate) fn exists(&self, levels: impl IntoIterator<Item = u32>) -> Set {
        self.and_exists(&self.diagrams.constant(true), levels)
    }

    /// Quantifies levels existentially in the intersection of two sets.
    pub(crate) fn and_exists(&self, other: &Set, levels: impl IntoIterator<Item = u32>) -> Set {
        self.diagrams.compute(|kernel| {
            let cube = kernel.literals(levels.into_iter().map(|level| (level, true)).collect())?;
            kernel.and_exists(self.edge.get(), other.edge.get(), cube)
        })
    }

    /// Replaces each level that moves by the one below it, which must not occur.
    pub(crate) fn up(&self) -> Set {
        self.diagrams.compute(|kernel| kernel.moved(self.edge.get(), UP))
    }

    /// The inverse of [`Set::up`].
    pub(crate) fn down(&self) -> Set {
        self.diagrams.compute(|kernel| kernel.moved(self.edge.get(), DOWN))
    }

    /// Returns the levels that the set depends on, in order, and the number of its nodes.
    pub(crate) fn support(&self) -> (Vec<u32>, usize) {
        let kernel = self.diagrams.0.borrow();
        let (mut seen, mut levels) = (FxHashSet::default(), BTreeSet::new());
        let mut open = vec![self.edge.get() >> 1];
        while let Some(node) = open.pop() {
            if node != 0 && seen.insert(node) {
                let Node { level, low, high } = kernel.nodes[node as usize];
                levels.insert(level);
                open.extend([low >> 1, high >> 1]);
            }
        }
        (levels.into_iter().collect(), seen.len())
    }

    /// Returns the topmost level of the set; the largest number if it depends on none.
    pub(crate) fn top(&self) -> u32 {
        self.diagrams.0.borrow().level(self.edge.get())
    }

    /// Returns the values of some levels for which any valuation is in the set; `None` if it is empty.
    pub(crate) fn some_valuation(&self) -> Option<FxHashMap<u32, bool>> {
        let kernel = self.diagrams.0.borrow();
        let (mut edge, mut values) = (self.edge.get(), FxHashMap::default());
        while edge >> 1 != 0 {
            let level = kernel.level(edge);
            let (low, high) = kernel.children(edge, level);
            values.insert(level, low == NONE);
            edge = if low == NONE { high } else { low };
        }
        (edge == ALL).then_some(values)
    }

    /// Returns whether a valuation is in the set.
    #[cfg(test)]
    pub(crate) fn contains(&self, value: impl Fn(u32) -> bool) -> bool {
        let kernel = self.diagrams.0.borrow();
        let mut edge = self.edge.get();
        while edge >> 1 != 0 {
            let level = kernel.level(edge);
            let (low, high) = kernel.children(edge, level);
            edge = if value(level) { high } else { low };
        }
        edge == ALL
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.edge.get() == other.edge.get()
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Node {
    level: u32,
    low: Edge,
    high: Edge,
}

/// Operands and result of an operation; all 0 if there is none.
///
/// The third operand is the cube of an intersection with quantifiers, or 0. The first two differ in an
/// intersection; a set that is moved is both, and the third is [`UP`] or [`DOWN`].
type Known = ([u32; 3], Edge);

const UP: u32 = 0;
const DOWN: u32 = 1;

/// The result of an operation that may exceed a limit.
type Limited<T> = Result<T, Limit>;

struct Kernel {
    nodes: Vec<Node>,
    /// Numbers of nodes by the hash of their content; 0 is a free place.
    unique: Vec<u32>,
    results: Vec<Known>,
    /// The sets in use.
    kept: Vec<Weak<Cell<Edge>>>,
    max_kept: usize,
    collect_at: usize,
    max_nodes: usize,
    deadline: Option<Instant>,
    steps: u32,
    /// For each level, whether [`Set::up`] moves it to the next one.
    moves: Vec<bool>,
    exceeded: Option<Limit>,
}

impl Kernel {
    fn keep(&mut self, edge: Edge) -> Rc<Cell<Edge>> {
        if self.kept.len() >= self.max_kept {
            self.kept.retain(|kept| kept.strong_count() > 0);
            self.max_kept = (2 * self.kept.len()).max(MIN_TABLE);
        }
        let kept = Rc::new(Cell::new(edge));
        self.kept.push(Rc::downgrade(&kept));
        kept
    }

    fn level(&self, edge: Edge) -> u32 {
        self.nodes[edge as usize >> 1].level
    }

    /// Returns the children for 0 and 1 at a level, which is not below the top of the edge.
    fn children(&self, edge: Edge, level: u32) -> (Edge, Edge) {
        let node = self.nodes[edge as usize >> 1];
        if node.level == level { (node.low ^ edge & 1, node.high ^ edge & 1) } else { (edge, edge) }
    }

    fn node(&mut self, level: u32, low: Edge, high: Edge) -> Limited<Edge> {
        if low == high {
            return Ok(low);
        }
        debug_assert!(level < self.level(low) && level < self.level(high), "levels grow downwards");
        let sign = high & 1;
        let node = Node { level, low: low ^ sign, high: high ^ sign };
        let place = self.place(node);
        if self.unique[place] != 0 {
            return Ok(self.unique[place] << 1 | sign);
        }
        if self.nodes.len() >= self.max_nodes {
            return Err(Limit::Memory);
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        self.unique[place] = number;
        if self.nodes.len() * 2 > self.unique.len() {
            self.rebuild(self.unique.len() * 2);
        }
        Ok(number << 1 | sign)
    }

    /// Returns the place of a node in the table, or the free place where it belongs.
    fn place(&self, node: Node) -> usize {
        let mask = self.unique.len() - 1;
        let mut place = hash([node.level, node.low, node.high]) & mask;
        while self.unique[place] != 0 && self.nodes[self.unique[place] as usize] != node {
            place = (place + 1) & mask;
        }
        place
    }

    /// Fills the table of nodes again, and enlarges that of the results with it.
    fn rebuild(&mut self, size: usize) {
        self.unique = vec![0; size];
        for number in 1..self.nodes.len() {
            let place = self.place(self.nodes[number]);
            self.unique[place] = number as u32;
        }
        let n_results = (size / 2).min(MAX_RESULTS);
        if n_results > self.results.len() {
            let old = std::mem::replace(&mut self.results, vec![Known::default(); n_results]);
            old.into_iter().filter(|known| known.0 != [0; 3]).for_each(|(operands, result)| {
                self.learn(operands, result);
            });
        }
    }

    /// Drops the nodes that no set in use needs, if there are many new ones.
    fn collect_if_large(&mut self) {
        if self.nodes.len() < self.collect_at {
            return;
        }
        let live: Vec<Rc<Cell<Edge>>> = self.kept.iter().filter_map(Weak::upgrade).collect();
        let mut is_used = vec![false; self.nodes.len()];
        is_used[0] = true;
        live.iter().for_each(|set| is_used[set.get() as usize >> 1] = true);
        for number in (1..self.nodes.len()).rev() {
            if is_used[number] {
                let node = self.nodes[number];
                is_used[node.low as usize >> 1] = true;
                is_used[node.high as usize >> 1] = true;
            }
        }
        let (mut new_number, mut n_used) = (vec![0_u32; self.nodes.len()], 0);
        for number in (0..self.nodes.len()).filter(|number| is_used[*number]) {
            let Node { level, low, high } = self.nodes[number];
            let moved = |edge: Edge| new_number[edge as usize >> 1] << 1 | edge & 1;
            self.nodes[n_used] = Node { level, low: moved(low), high: moved(high) };
            new_number[number] = n_used as u32;
            n_used += 1;
        }
        self.nodes.truncate(n_used);
        live.iter().for_each(|set| set.set(new_number[set.get() as usize >> 1] << 1 | set.get() & 1));
        self.results.fill(Known::default());
        self.rebuild(self.unique.len());
        let room = (self.max_nodes - n_used) / 2;
        self.collect_at = n_used + n_used.max(MIN_NODES).min(room);
    }

    /// Counts a step, and stops if the time is over.
    fn step(&mut self) -> Limited<()> {
        self.steps = self.steps.wrapping_add(1);
        match self.deadline {
            Some(end) if self.steps.is_multiple_of(STEPS_PER_LOOK) && Instant::now() >= end => {
                Err(Limit::Time)
            }
            _ => Ok(()),
        }
    }

    fn known(&mut self, operands: [u32; 3]) -> Limited<Option<Edge>> {
        self.step()?;
        let (found, result) = self.results[hash(operands) & (self.results.len() - 1)];
        Ok((found == operands).then_some(result))
    }

    fn learn(&mut self, operands: [u32; 3], result: Edge) -> Edge {
        let place = hash(operands) & (self.results.len() - 1);
        self.results[place] = (operands, result);
        result
    }

    fn literals(&mut self, mut literals: Vec<(u32, bool)>) -> Limited<Edge> {
        literals.sort_unstable_by_key(|(level, _)| std::cmp::Reverse(*level));
        literals.dedup();
        literals.into_iter().try_fold(ALL, |edge, (level, value)| match value {
            true => self.node(level, NONE, edge),
            false => self.node(level, edge, NONE),
        })
    }

    fn or(&mut self, a: Edge, b: Edge) -> Limited<Edge> {
        Ok(self.and(a ^ 1, b ^ 1)? ^ 1)
    }

    fn and(&mut self, a: Edge, b: Edge) -> Limited<Edge> {
        let (a, b) = (a.min(b), a.max(b));
        if a == ALL || a == b {
            return Ok(b);
        }
        if a == NONE || a == b ^ 1 {
            return Ok(NONE);
        }
        if let Some(known) = self.known([a, b, ALL])? {
            return Ok(known);
        }
        let level = self.level(a).min(self.level(b));
        let ((a0, a1), (b0, b1)) = (self.children(a, level), self.children(b, level));
        let (low, high) = (self.and(a0, b0)?, self.and(a1, b1)?);
        let result = self.node(level, low, high)?;
        Ok(self.learn([a, b, ALL], result))
    }

    fn and_exists(&mut self, a: Edge, b: Edge, mut cube: Edge) -> Limited<Edge> {
        let (a, b) = (a.min(b), a.max(b));
        if a == NONE || a == b ^ 1 {
            return Ok(NONE);
        }
        if b == ALL {
            return Ok(ALL);
        }
        let a = if a == b { ALL } else { a };
        let level = self.level(a).min(self.level(b));
        while self.level(cube) < level {
            cube = self.nodes[cube as usize >> 1].high;
        }
        if cube == ALL {
            return self.and(a, b);
        }
        if let Some(known) = self.known([a, b, cube])? {
            return Ok(known);
        }
        let ((a0, a1), (b0, b1)) = (self.children(a, level), self.children(b, level));
        let is_gone = self.level(cube) == level;
        let low = self.and_exists(a0, b0, cube)?;
        let result = if is_gone && low == ALL {
            ALL
        } else {
            let high = self.and_exists(a1, b1, cube)?;
            if is_gone { self.or(low, high)? } else { self.node(level, low, high)? }
        };
        Ok(self.learn([a, b, cube], result))
    }

    fn moved(&mut self, a: Edge, direction: u32) -> Limited<Edge> {
        if a <= NONE {
            return Ok(a);
        }
        let (sign, a) = (a & 1, a & !1);
        if let Some(known) = self.known([a, a, direction])? {
            return Ok(known ^ sign);
        }
        let Node { level, low, high } = self.nodes[a as usize >> 1];
        let (low, high) = (self.moved(low, direction)?, self.moved(high, direction)?);
        let level = match direction {
            UP if self.moves[level as usize] => level + 1,
            DOWN if level > 0 && self.moves[level as usize - 1] => level - 1,
            _ => level,
        };
        let result = self.node(level, low, high)?;
        Ok(self.learn([a, a, direction], result) ^ sign)
    }
}

fn hash(key: [u32; 3]) -> usize {
    let [a, b, c] = key.map(u64::from);
    let mixed = (a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ c;
    let mixed = mixed.wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 32 ^ mixed) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of levels; every other one moves to the next.
    const LEVELS: u32 = 10;

    /// A set with its truth table, which has a bit for each valuation.
    type Pair = (Set, Vec<bool>);

    fn table(test: impl Fn(u32) -> bool) -> Vec<bool> {
        (0..1 << LEVELS).map(test).collect()
    }

    fn is_same((set, table): &Pair) -> bool {
        (0..1 << LEVELS).all(|v: u32| set.contains(|level| v >> level & 1 == 1) == table[v as usize])
    }

    /// Random operations on sets, compared with truth tables. Garbage is collected many times.
    #[test]
    fn operations_are_those_of_truth_tables() {
        let mut random = fastrand::Rng::with_seed(7);
        let moves: Vec<bool> = (0..LEVELS).map(|level| level % 2 == 0).collect();
        let diagrams = Diagrams::new(moves, 1 << 26, None);
        let mut pairs: Vec<Pair> = Vec::new();
        for level in 0..LEVELS {
            let literal = diagrams.literals([(level, true)]);
            pairs.push((literal, table(|v| v >> level & 1 == 1)));
        }
        let (mut n_moved, mut n_branches) = (0, 0);
        for _ in 0..4000 {
            let (a, b) = (random.choice(&pairs).unwrap().clone(), random.choice(&pairs).unwrap().clone());
            let level = random.u32(0..LEVELS);
            let new = match random.u8(0..7) {
                0 => (a.0.and(&b.0), table(|v| a.1[v as usize] && b.1[v as usize])),
                1 => (a.0.or(&b.0), table(|v| a.1[v as usize] || b.1[v as usize])),
                2 => (a.0.minus(&b.0), table(|v| a.1[v as usize] && !b.1[v as usize])),
                3 => (a.0.not(), table(|v| !a.1[v as usize])),
                4 => {
                    let other = random.u32(0..LEVELS);
                    let set = a.0.and_exists(&b.0, [level, other]);
                    let both = |v: u32| a.1[v as usize] && b.1[v as usize];
                    let some = |v: u32| both(v) || both(v ^ 1 << level);
                    (set, table(|v| some(v) || some(v ^ 1 << other)))
                }
                5 => {
                    // Only sets that depend on levels that move can be moved.
                    if a.0.support().0.iter().any(|level| level % 2 == 1) {
                        continue;
                    }
                    n_moved += 1;
                    let up = a.0.up();
                    assert!(up.down() == a.0);
                    (up, table(|v| a.1[(v >> 1 & 0x155) as usize]))
                }
                _ if a.0.top().min(b.0.top()) <= level => continue,
                _ => {
                    n_branches += 1;
                    let chosen = |v: u32| if v >> level & 1 == 1 { b.1[v as usize] } else { a.1[v as usize] };
                    (diagrams.branch(level, &a.0, &b.0), table(chosen))
                }
            };
            assert!(is_same(&new));
            let place = random.usize(LEVELS as usize..100);
            if place < pairs.len() { pairs[place] = new } else { pairs.push(new) }
        }
        assert!(pairs.iter().all(is_same), "garbage collection keeps sets");
        assert!(n_moved > 20 && n_branches > 50, "{n_moved} {n_branches}");
        for (a, _) in &pairs {
            for (b, _) in &pairs {
                let is_same = a.minus(b).is_empty() && b.minus(a).is_empty();
                assert_eq!(a == b, is_same, "equal sets are one diagram");
            }
        }
        assert_eq!(diagrams.exceeded(), None);
    }

    /// After a limit every result is the empty set, and the limit stays.
    #[test]
    fn limits_are_noted_for_good() {
        let diagrams = Diagrams::new(vec![false; 40], 1, None);
        let pairs = (0..20).map(|level| {
            let [a, b] = [level, level + 20].map(|level| diagrams.literals([(level, true)]));
            a.and(&b).or(&a.not().and(&b.not()))
        });
        let same = pairs.fold(diagrams.constant(true), |all, pair| all.and(&pair));
        assert_eq!(diagrams.exceeded(), Some(Limit::Memory));
        assert!(same.is_empty() && same.not().is_empty() && diagrams.constant(true).is_empty());
        let diagrams = Diagrams::new(vec![false; 40], 1 << 26, Some(Instant::now()));
        for _ in 0..STEPS_PER_LOOK {
            diagrams.constant(true);
        }
        assert_eq!(diagrams.exceeded(), Some(Limit::Time));
        diagrams.exceed(Limit::Values);
        assert_eq!(diagrams.exceeded(), Some(Limit::Time));
    }
}
