//! Decision diagrams: the only data structure of the checker.
//!
//! A diagram is a graph of nodes; each tests one level and has a successor for 0 and one for 1. An edge may be
//! complemented, so a set and its complement share their nodes; the edge for 1 never is, which makes the form
//! unique [BRB90]. Children always have smaller numbers than their parents, so collecting garbage is one pass
//! that moves the nodes still in use to the front.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Instant;

/// The number of a node, shifted left by one; the lowest bit says that the edge is complemented.
type Edge = u32;

const ALL: Edge = 0;
const NONE: Edge = 1;
/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u32 = 1 << 14;
/// Number of nodes below which garbage is not collected; in tests so small that it happens all the time.
const MIN_NODES: usize = if cfg!(test) { 1 << 7 } else { 1 << 18 };
/// Bytes per node, with its share of the tables.
const NODE_BYTES: u64 = 48;
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

/// The result of an operation that may exceed a limit.
pub(crate) type Limited<T> = Result<T, Limit>;

/// A set of valuations of the levels. The nodes of a set are kept as long as the set.
#[derive(Clone, Debug)]
pub(crate) struct Set(Rc<Cell<Edge>>);

impl Set {
    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get() == NONE
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.0.get() == other.0.get()
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    level: u32,
    low: Edge,
    high: Edge,
}

/// A result: the operation with its operands, and the edge.
type Known = ([u32; 3], u32, Edge);

/// Operations with stored results.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Op {
    And = 1,
    AndExists,
    Up,
    Down,
}

/// All diagrams of one check.
#[derive(Debug)]
pub(crate) struct Diagrams {
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
    /// For each level, whether [`Diagrams::up`] moves it to the next one.
    moves: Vec<bool>,
}

impl Diagrams {
    /// Creates diagrams over levels `0..moves.len()`, where `moves` says which levels have a copy right below.
    pub(crate) fn new(moves: Vec<bool>, max_bytes: u64, deadline: Option<Instant>) -> Diagrams {
        let max_nodes = usize::try_from(max_bytes / NODE_BYTES).unwrap_or(usize::MAX).clamp(1 << 10, 1 << 30);
        Diagrams {
            nodes: vec![Node { level: u32::MAX, low: ALL, high: ALL }],
            unique: vec![0; 1 << 12],
            results: vec![([0; 3], 0, 0); 1 << 12],
            kept: Vec::new(),
            max_kept: 1 << 12,
            collect_at: MIN_NODES,
            max_nodes,
            deadline,
            steps: 0,
            moves,
        }
    }

    /// Returns the set of all valuations, or the empty set.
    pub(crate) fn constant(&mut self, value: bool) -> Set {
        self.keep(if value { ALL } else { NONE })
    }

    /// Returns the valuations in which levels have given values.
    pub(crate) fn literals(&mut self, literals: &[(u32, bool)]) -> Limited<Set> {
        let mut literals = literals.to_vec();
        literals.sort_unstable_by_key(|(level, _)| std::cmp::Reverse(*level));
        let mut edge = ALL;
        for (level, value) in literals {
            edge = if value { self.node(level, NONE, edge)? } else { self.node(level, edge, NONE)? };
        }
        Ok(self.keep(edge))
    }

    /// Returns the set that tests a level first; `None` if the operands test this level or one above it.
    pub(crate) fn branch(&mut self, level: u32, low: &Set, high: &Set) -> Limited<Option<Set>> {
        // Collecting garbage changes the numbers of nodes.
        self.collect_if_large();
        let (low, high) = (low.0.get(), high.0.get());
        if self.level(low) <= level || self.level(high) <= level {
            return Ok(None);
        }
        let edge = self.node(level, low, high)?;
        Ok(Some(self.keep(edge)))
    }

    /// Complement.
    pub(crate) fn not(&mut self, a: &Set) -> Set {
        self.keep(a.0.get() ^ 1)
    }

    /// Intersection.
    pub(crate) fn and(&mut self, a: &Set, b: &Set) -> Limited<Set> {
        self.collect_if_large();
        let edge = self.and_edges(a.0.get(), b.0.get())?;
        Ok(self.keep(edge))
    }

    /// Union.
    pub(crate) fn or(&mut self, a: &Set, b: &Set) -> Limited<Set> {
        self.collect_if_large();
        let edge = self.and_edges(a.0.get() ^ 1, b.0.get() ^ 1)?;
        Ok(self.keep(edge ^ 1))
    }

    /// Difference.
    pub(crate) fn minus(&mut self, a: &Set, b: &Set) -> Limited<Set> {
        self.collect_if_large();
        let edge = self.and_edges(a.0.get(), b.0.get() ^ 1)?;
        Ok(self.keep(edge))
    }

    /// Unites sets pairwise.
    pub(crate) fn union(&mut self, mut sets: Vec<Set>) -> Limited<Set> {
        while sets.len() > 1 {
            let mut next = Vec::with_capacity(sets.len().div_ceil(2));
            for pair in sets.chunks(2) {
                next.push(match pair {
                    [a, b] => self.or(a, b)?,
                    _ => pair[0].clone(),
                });
            }
            sets = next;
        }
        Ok(sets.pop().unwrap_or_else(|| self.constant(false)))
    }

    /// Quantifies levels existentially in the intersection of two sets.
    pub(crate) fn and_exists(&mut self, a: &Set, b: &Set, levels: &[u32]) -> Limited<Set> {
        self.collect_if_large();
        let mut levels = levels.to_vec();
        levels.sort_unstable_by(|a, b| b.cmp(a));
        levels.dedup();
        let mut cube = ALL;
        for level in levels {
            cube = self.node(level, NONE, cube)?;
        }
        let edge = self.and_exists_edges(a.0.get(), b.0.get(), cube)?;
        Ok(self.keep(edge))
    }

    /// Quantifies levels existentially.
    pub(crate) fn exists(&mut self, a: &Set, levels: &[u32]) -> Limited<Set> {
        let all = self.constant(true);
        self.and_exists(a, &all, levels)
    }

    /// Replaces each level that moves by the one below it, which must not occur.
    pub(crate) fn up(&mut self, a: &Set) -> Limited<Set> {
        self.collect_if_large();
        let edge = self.moved(a.0.get(), Op::Up)?;
        Ok(self.keep(edge))
    }

    /// The inverse of [`Diagrams::up`].
    pub(crate) fn down(&mut self, a: &Set) -> Limited<Set> {
        self.collect_if_large();
        let edge = self.moved(a.0.get(), Op::Down)?;
        Ok(self.keep(edge))
    }

    /// Returns the levels that a set depends on, in order, and the number of its nodes.
    pub(crate) fn support(&self, a: &Set) -> (Vec<u32>, usize) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut levels = std::collections::BTreeSet::new();
        let mut open = vec![a.0.get() >> 1];
        while let Some(node) = open.pop() {
            if node != 0 && seen.insert(node) {
                let Node { level, low, high } = self.nodes[node as usize];
                levels.insert(level);
                open.extend([low >> 1, high >> 1]);
            }
        }
        (levels.into_iter().collect(), seen.len())
    }

    /// Returns whether a valuation is in a set.
    #[cfg(test)]
    pub(crate) fn contains(&self, a: &Set, value: impl Fn(u32) -> bool) -> bool {
        let mut edge = a.0.get();
        while edge >> 1 != 0 {
            let Node { level, low, high } = self.nodes[edge as usize >> 1];
            edge = edge & 1 ^ if value(level) { high } else { low };
        }
        edge == ALL
    }

    /// Returns the topmost level of a set; the largest number if it depends on none.
    pub(crate) fn top(&self, a: &Set) -> u32 {
        self.level(a.0.get())
    }

    /// Returns the values of some levels for which any valuation is in a set; `None` if it is empty.
    pub(crate) fn some_valuation(&self, a: &Set) -> Option<rustc_hash::FxHashMap<u32, bool>> {
        let mut values = rustc_hash::FxHashMap::default();
        let mut edge = a.0.get();
        while edge >> 1 != 0 {
            let Node { level, low, high } = self.nodes[edge as usize >> 1];
            let low = low ^ edge & 1;
            values.insert(level, low == NONE);
            edge = if low == NONE { high ^ edge & 1 } else { low };
        }
        (edge == ALL).then_some(values)
    }

    fn keep(&mut self, edge: Edge) -> Set {
        if self.kept.len() >= self.max_kept {
            self.kept.retain(|kept| kept.strong_count() > 0);
            self.max_kept = (2 * self.kept.len()).max(1 << 12);
        }
        let set = Rc::new(Cell::new(edge));
        self.kept.push(Rc::downgrade(&set));
        Set(set)
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
        let (low, high) = (low ^ sign, high ^ sign);
        let mask = self.unique.len() - 1;
        let mut place = hash([level, low, high]) & mask;
        while self.unique[place] != 0 {
            let node = self.nodes[self.unique[place] as usize];
            if (node.level, node.low, node.high) == (level, low, high) {
                return Ok(self.unique[place] << 1 | sign);
            }
            place = (place + 1) & mask;
        }
        if self.nodes.len() >= self.max_nodes {
            return Err(Limit::Memory);
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(Node { level, low, high });
        self.unique[place] = number;
        if self.nodes.len() * 4 > self.unique.len() * 3 {
            self.rebuild(self.unique.len() * 2);
        }
        Ok(number << 1 | sign)
    }

    /// Fills the table of nodes again, and drops the results if there is room for more of them.
    fn rebuild(&mut self, size: usize) {
        self.unique = vec![0; size];
        for (number, node) in self.nodes.iter().enumerate().skip(1) {
            let mut place = hash([node.level, node.low, node.high]) & (size - 1);
            while self.unique[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.unique[place] = number as u32;
        }
        let n_results = size.min(MAX_RESULTS);
        if n_results > self.results.len() {
            let old = std::mem::replace(&mut self.results, vec![([0; 3], 0, 0); n_results]);
            for known in old.into_iter().filter(|known| known.1 != 0) {
                let place = place_of(known.1, known.0, n_results);
                self.results[place] = known;
            }
        }
    }

    /// Drops the nodes that no set in use needs, if there are many new ones.
    fn collect_if_large(&mut self) {
        if self.nodes.len() < self.collect_at.min(self.max_nodes / 2) {
            return;
        }
        self.kept.retain(|kept| kept.strong_count() > 0);
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
        let mut new_number = vec![0_u32; self.nodes.len()];
        let mut n_used = 0;
        for number in 0..self.nodes.len() {
            if is_used[number] {
                let mut node = self.nodes[number];
                let moved = |edge: Edge| new_number[edge as usize >> 1] << 1 | edge & 1;
                (node.low, node.high) = (moved(node.low), moved(node.high));
                self.nodes[n_used] = node;
                new_number[number] = n_used as u32;
                n_used += 1;
            }
        }
        self.nodes.truncate(n_used);
        live.iter().for_each(|set| set.set(new_number[set.get() as usize >> 1] << 1 | set.get() & 1));
        self.results.fill(([0; 3], 0, 0));
        let size = (n_used * 2).next_power_of_two().max(1 << 12);
        self.rebuild(size);
        self.collect_at = (2 * n_used).max(MIN_NODES);
    }

    fn known(&mut self, op: Op, operands: [u32; 3]) -> Limited<Option<Edge>> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_PER_LOOK) {
            self.check_time()?;
        }
        let (found, of, result) = self.results[place_of(op as u32, operands, self.results.len())];
        Ok((of == op as u32 && found == operands).then_some(result))
    }

    /// Stops if the time is over.
    pub(crate) fn check_time(&self) -> Limited<()> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Limit::Time),
            _ => Ok(()),
        }
    }

    fn learn(&mut self, op: Op, operands: [u32; 3], result: Edge) -> Edge {
        let place = place_of(op as u32, operands, self.results.len());
        self.results[place] = (operands, op as u32, result);
        result
    }

    fn and_edges(&mut self, a: Edge, b: Edge) -> Limited<Edge> {
        let (a, b) = (a.min(b), a.max(b));
        if a == ALL || a == b {
            return Ok(b);
        }
        if a == NONE || a == b ^ 1 {
            return Ok(NONE);
        }
        if let Some(known) = self.known(Op::And, [a, b, 0])? {
            return Ok(known);
        }
        let level = self.level(a).min(self.level(b));
        let ((a0, a1), (b0, b1)) = (self.children(a, level), self.children(b, level));
        let low = self.and_edges(a0, b0)?;
        let high = self.and_edges(a1, b1)?;
        let result = self.node(level, low, high)?;
        Ok(self.learn(Op::And, [a, b, 0], result))
    }

    /// Returns the rest of a cube from a level on.
    fn cube_from(&self, mut cube: Edge, level: u32) -> Edge {
        while self.level(cube) < level {
            cube = self.nodes[cube as usize >> 1].high;
        }
        cube
    }

    fn and_exists_edges(&mut self, a: Edge, b: Edge, cube: Edge) -> Limited<Edge> {
        let (a, b) = (a.min(b), a.max(b));
        if a == NONE || a == b ^ 1 {
            return Ok(NONE);
        }
        if b == ALL {
            return Ok(ALL);
        }
        let a = if a == b { ALL } else { a };
        let level = self.level(a).min(self.level(b));
        let cube = self.cube_from(cube, level);
        if cube == ALL {
            return self.and_edges(a, b);
        }
        if let Some(known) = self.known(Op::AndExists, [a, b, cube])? {
            return Ok(known);
        }
        let ((a0, a1), (b0, b1)) = (self.children(a, level), self.children(b, level));
        let low = self.and_exists_edges(a0, b0, cube)?;
        let result = if self.level(cube) == level && low == ALL {
            ALL
        } else {
            let high = self.and_exists_edges(a1, b1, cube)?;
            if self.level(cube) == level {
                self.and_edges(low ^ 1, high ^ 1)? ^ 1
            } else {
                self.node(level, low, high)?
            }
        };
        Ok(self.learn(Op::AndExists, [a, b, cube], result))
    }

    fn moved(&mut self, a: Edge, op: Op) -> Limited<Edge> {
        if a <= NONE {
            return Ok(a);
        }
        let (sign, a) = (a & 1, a & !1);
        if let Some(known) = self.known(op, [a, 0, 0])? {
            return Ok(known ^ sign);
        }
        let Node { level, low, high } = self.nodes[a as usize >> 1];
        let low = self.moved(low, op)?;
        let high = self.moved(high, op)?;
        let level = match op {
            Op::Up if self.moves[level as usize] => level + 1,
            Op::Down if level > 0 && self.moves[level as usize - 1] => level - 1,
            _ => level,
        };
        let result = self.node(level, low, high)?;
        Ok(self.learn(op, [a, 0, 0], result) ^ sign)
    }
}

fn hash(key: [u32; 3]) -> usize {
    let [a, b, c] = key.map(u64::from);
    let mixed = (a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ c;
    let mixed = mixed.wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 32 ^ mixed) as usize
}

fn place_of(op: u32, operands: [u32; 3], size: usize) -> usize {
    let [a, b, c] = operands;
    hash([a, b, c.wrapping_mul(8).wrapping_add(op)]) & (size - 1)
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

    fn is_same(diagrams: &Diagrams, (set, table): &Pair) -> bool {
        (0..1 << LEVELS)
            .all(|v: u32| diagrams.contains(set, |level| v >> level & 1 == 1) == table[v as usize])
    }

    /// Random operations on sets, compared with truth tables. Garbage is collected many times.
    #[test]
    fn operations_are_those_of_truth_tables() {
        let mut random = fastrand::Rng::with_seed(7);
        let moves: Vec<bool> = (0..LEVELS).map(|level| level % 2 == 0).collect();
        let mut diagrams = Diagrams::new(moves, 1 << 26, None);
        let mut pairs: Vec<Pair> = Vec::new();
        for level in 0..LEVELS {
            let literal = diagrams.literals(&[(level, true)]).unwrap();
            pairs.push((literal, table(|v| v >> level & 1 == 1)));
        }
        let (mut n_moved, mut n_branches) = (0, 0);
        for _ in 0..4000 {
            let (a, b) = (random.choice(&pairs).unwrap().clone(), random.choice(&pairs).unwrap().clone());
            let level = random.u32(0..LEVELS);
            let new = match random.u8(0..7) {
                0 => (diagrams.and(&a.0, &b.0).unwrap(), table(|v| a.1[v as usize] && b.1[v as usize])),
                1 => (diagrams.or(&a.0, &b.0).unwrap(), table(|v| a.1[v as usize] || b.1[v as usize])),
                2 => (diagrams.minus(&a.0, &b.0).unwrap(), table(|v| a.1[v as usize] && !b.1[v as usize])),
                3 => (diagrams.not(&a.0), table(|v| !a.1[v as usize])),
                4 => {
                    let other = random.u32(0..LEVELS);
                    let set = diagrams.and_exists(&a.0, &b.0, &[level, other]).unwrap();
                    let both = |v: u32| a.1[v as usize] && b.1[v as usize];
                    let some = |v: u32| both(v) || both(v ^ 1 << level);
                    (set, table(|v| some(v) || some(v ^ 1 << other)))
                }
                5 => {
                    // Only sets that depend on levels that move can be moved.
                    if diagrams.support(&a.0).0.iter().any(|level| level % 2 == 1) {
                        continue;
                    }
                    n_moved += 1;
                    let up = diagrams.up(&a.0).unwrap();
                    assert!(diagrams.down(&up).unwrap() == a.0);
                    (up, table(|v| a.1[(v >> 1 & 0x155) as usize]))
                }
                _ => match diagrams.branch(level, &a.0, &b.0).unwrap() {
                    None => continue,
                    Some(set) => {
                        n_branches += 1;
                        (set, table(|v| if v >> level & 1 == 1 { b.1[v as usize] } else { a.1[v as usize] }))
                    }
                },
            };
            assert!(is_same(&diagrams, &new));
            let place = random.usize(LEVELS as usize..100);
            if place < pairs.len() { pairs[place] = new } else { pairs.push(new) }
        }
        assert!(pairs.iter().all(|pair| is_same(&diagrams, pair)), "garbage collection keeps sets");
        assert!(n_moved > 20 && n_branches > 50, "{n_moved} {n_branches}");
        for (a, _) in &pairs {
            for (b, _) in &pairs {
                let differ = diagrams.minus(a, b).unwrap();
                let other = diagrams.minus(b, a).unwrap();
                assert_eq!(a == b, differ.is_empty() && other.is_empty(), "equal sets are one diagram");
            }
        }
    }
}
