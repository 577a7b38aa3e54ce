//! Conjunctions and disjunctions that share most of their operands with others.
//!
//! In models of groups, each agent has a condition such as "some other agent knows": a disjunction over all
//! agents but one. Built one by one as balanced trees, each of these takes an operation for every level of
//! the tree. Here lists that begin alike share the result of their beginning, and lists that end alike that
//! of their end, so that each list over all operands but one takes three operations: one to extend a
//! beginning, one to extend an end, and one to combine the two.

use masque_model::{Expr, ExprId, Exprs};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::space::{Limited, Set};

/// Minimum length of a list that is compared with others. In tests 2, because random models are small.
const MIN_LENGTH: usize = if cfg!(test) { 2 } else { 8 };

/// The conjunctions and disjunctions of a system, as trees of their beginnings and of their ends.
pub(crate) struct SharedLists {
    conjunctions: [Tree; 2],
    disjunctions: [Tree; 2],
}

/// The side from which lists are read.
#[derive(Clone, Copy)]
enum Side {
    Start,
    End,
}

/// The beginnings (or the ends) that several lists have in common. Each node is one at which lists begin to
/// differ.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// For each list, the node of the longest beginning that it shares with another.
    longest: FxHashMap<ExprId, usize>,
}

struct Node {
    parent: Option<usize>,
    /// Number of operands of the beginning.
    depth: usize,
    /// One of the lists with this beginning.
    list: ExprId,
    /// The conjunction or disjunction of the beginning, once it is known.
    set: Option<Set>,
}

impl SharedLists {
    pub(crate) fn new(exprs: &Exprs) -> SharedLists {
        let mut conjunctions = Vec::new();
        let mut disjunctions = Vec::new();
        for id in exprs.ids() {
            match exprs.get(id) {
                Expr::And(list) if list.len() >= MIN_LENGTH => conjunctions.push(id),
                Expr::Or(list) if list.len() >= MIN_LENGTH => disjunctions.push(id),
                _ => {}
            }
        }
        let trees = |lists: Vec<ExprId>| [Side::Start, Side::End].map(|side| Tree::new(exprs, &lists, side));
        SharedLists { conjunctions: trees(conjunctions), disjunctions: trees(disjunctions) }
    }

    fn tree(&mut self, is_and: bool, side: Side) -> &mut Tree {
        let trees = if is_and { &mut self.conjunctions } else { &mut self.disjunctions };
        &mut trees[side as usize]
    }
}

impl Tree {
    fn new(exprs: &Exprs, lists: &[ExprId], side: Side) -> Tree {
        let mut lists = lists.to_vec();
        lists.sort_by(|&a, &b| side.read(operands(exprs, a)).cmp(side.read(operands(exprs, b))));
        let in_common = |a: ExprId, b: ExprId| {
            let pairs = side.read(operands(exprs, a)).zip(side.read(operands(exprs, b)));
            pairs.take_while(|(a, b)| a == b).count()
        };
        let mut tree = Tree::default();
        // The nodes of the current list, from the shortest beginning to the longest.
        let mut path: Vec<usize> = Vec::new();
        for (i, &list) in lists.iter().enumerate() {
            let depth = lists.get(i + 1).map_or(0, |&next| in_common(list, next));
            if path.last().is_none_or(|&node| tree.nodes[node].depth < depth) && depth > 0 {
                tree.push(&mut path, depth, list);
            }
            if let Some(&longest) = path.last() {
                tree.longest.insert(list, longest);
            }
            let mut below = None;
            while let Some(node) = path.pop_if(|node| tree.nodes[*node].depth > depth) {
                below = Some(node);
            }
            if let Some(below) = below
                && depth > 0
                && path.last().is_none_or(|&node| tree.nodes[node].depth < depth)
            {
                tree.push(&mut path, depth, list);
                tree.nodes[below].parent = path.last().copied();
            }
        }
        tree
    }

    fn push(&mut self, path: &mut Vec<usize>, depth: usize, list: ExprId) {
        self.nodes.push(Node { parent: path.last().copied(), depth, list, set: None });
        path.push(self.nodes.len() - 1);
    }

    /// Returns the node of the longest shared beginning of a list with at most `max_depth` operands.
    fn longest(&self, list: ExprId, max_depth: usize) -> Option<usize> {
        let mut node = self.longest.get(&list).copied();
        while let Some(index) = node.filter(|&index| self.nodes[index].depth > max_depth) {
            node = self.nodes[index].parent;
        }
        node
    }

    fn depth(&self, node: Option<usize>) -> usize {
        node.map_or(0, |node| self.nodes[node].depth)
    }
}

impl Side {
    /// Reads a list from this side.
    fn read(self, list: &[ExprId]) -> impl Iterator<Item = ExprId> {
        let (n, is_end) = (list.len(), matches!(self, Side::End));
        (0..n).map(move |i| if is_end { list[n - 1 - i] } else { list[i] })
    }
}

fn operands(exprs: &Exprs, id: ExprId) -> &[ExprId] {
    match exprs.get(id) {
        Expr::And(list) | Expr::Or(list) => list,
        _ => &[],
    }
}

impl Encoder<'_> {
    /// Computes a conjunction or disjunction, whose operands have been encoded, from what it shares with
    /// others; `None` if that is less than half of it.
    pub(crate) fn set_of_shared(&mut self, id: ExprId, is_and: bool) -> Limited<Option<Set>> {
        let list = operands(&self.system.exprs, id);
        if list.len() < MIN_LENGTH {
            return Ok(None);
        }
        let mut shared =
            self.shared_lists.take().unwrap_or_else(|| Box::new(SharedLists::new(&self.system.exprs)));
        let tree = shared.tree(is_and, Side::Start);
        let start = tree.longest(id, list.len());
        let n_start = tree.depth(start);
        let tree = shared.tree(is_and, Side::End);
        let end = tree.longest(id, list.len() - n_start);
        let n_end = tree.depth(end);
        let set = match 2 * (n_start + n_end) >= list.len() {
            true => self
                .combine_shared(&mut shared, is_and, [start, end], &list[n_start..list.len() - n_end])
                .map(Some),
            false => Ok(None),
        };
        self.shared_lists = Some(shared);
        set
    }

    /// Combines a shared beginning, a shared end, and the operands between them.
    fn combine_shared(
        &mut self,
        shared: &mut SharedLists,
        is_and: bool,
        nodes: [Option<usize>; 2],
        between: &[ExprId],
    ) -> Limited<Set> {
        let mut sets = Vec::with_capacity(3);
        for (side, node) in [Side::Start, Side::End].into_iter().zip(nodes) {
            if let Some(node) = node {
                sets.push(self.shared(shared.tree(is_and, side), side, node, is_and)?);
            }
        }
        if !between.is_empty() {
            sets.push(self.all_of(between.iter().copied(), is_and)?);
        }
        self.balanced(sets, is_and)
    }

    /// Computes a shared beginning or end from the longest shorter one that is known.
    fn shared(&mut self, tree: &mut Tree, side: Side, node: usize, is_and: bool) -> Limited<Set> {
        let mut open = Vec::new();
        let mut known = Some(node);
        while let Some(index) = known.filter(|&index| tree.nodes[index].set.is_none()) {
            open.push(index);
            known = tree.nodes[index].parent;
        }
        let mut set = known.and_then(|index| tree.nodes[index].set.clone());
        let system = self.system;
        for index in open.into_iter().rev() {
            let Node { parent, depth, list, .. } = tree.nodes[index];
            let n_known = tree.depth(parent);
            let added = side.read(operands(&system.exprs, list)).skip(n_known).take(depth - n_known);
            let added = self.all_of(added, is_and)?;
            let extended = match set {
                None => added,
                Some(set) => self.balanced(vec![set, added], is_and)?,
            };
            tree.nodes[index].set = Some(extended.clone());
            set = Some(extended);
        }
        Ok(set.unwrap_or_else(|| self.space.constant(is_and)))
    }

    fn all_of(&mut self, conditions: impl Iterator<Item = ExprId>, is_and: bool) -> Limited<Set> {
        let sets = conditions.map(|id| self.condition(id)).collect::<Limited<Vec<_>>>()?;
        self.balanced(sets, is_and)
    }
}

#[cfg(test)]
mod tests {
    use masque_model::{Deadlock, System, VarId};
    use masque_testkit::load;
    use masque_verdict::Budget;

    use super::*;
    use crate::encode::GrowthPolicy;
    use crate::layout::Layout;
    use crate::order;
    use crate::space::Space;

    /// A system with ten boolean variables, to which tests add expressions.
    fn booleans() -> System {
        let text = "
            Agent A
              Vars: a : boolean; b : boolean; c : boolean; d : boolean; e : boolean;
                    f : boolean; g : boolean; h : boolean; i : boolean; j : boolean; end Vars
              Actions = {go};
              Protocol: Other : {go}; end Protocol
              Evolution: end Evolution
            end Agent
            Evaluation p if A.a = true; end Evaluation
            InitStates A.a = true; end InitStates
            Formulae EF p; end Formulae";
        load(text, Deadlock::Finite).unwrap()
    }

    fn encoder(system: &System) -> Encoder<'_> {
        let layout = Layout::new(system, &order::declared(system));
        let space = Space::new(layout.n_bits, &Budget::unlimited()).unwrap();
        Encoder::new(system, layout, space, GrowthPolicy::Ignore)
    }

    #[test]
    fn random_lists_with_common_operands() {
        let mut n_shared = 0;
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut system = booleans();
            // Sums of variables are no literals, so disjunctions of them are not tables.
            let mut atoms: Vec<ExprId> = Vec::new();
            for v in 0..10 {
                let (a, b) = (VarId(v), VarId(random.u32(0..10)));
                let pair = vec![system.exprs.variable(a), system.exprs.variable(b)];
                atoms.push(system.exprs.xor(pair));
            }
            let mut lists = Vec::new();
            for _ in 0..random.usize(1..12) {
                let mut list = atoms.clone();
                match random.u32(0..3) {
                    0 => _ = list.remove(random.usize(0..list.len())),
                    1 => list.truncate(random.usize(2..list.len())),
                    _ => _ = list.drain(..random.usize(0..list.len() - 2)),
                }
                let is_and = random.bool();
                let id = if is_and { system.exprs.and(list.clone()) } else { system.exprs.or(list.clone()) };
                lists.push((id, list, is_and));
            }
            let mut encoder = encoder(&system);
            for (id, list, is_and) in lists {
                let sets = list.iter().map(|&a| encoder.condition(a)).collect::<Limited<Vec<_>>>().unwrap();
                let expected = encoder.balanced(sets, is_and).unwrap();
                assert!(encoder.condition(id).unwrap() == expected, "seed {seed}");
                if let Some(set) = encoder.set_of_shared(id, is_and).unwrap() {
                    assert!(set == expected, "seed {seed}");
                    n_shared += 1;
                }
            }
        }
        assert!(n_shared > 500, "{n_shared}");
    }

    #[test]
    fn all_but_one_takes_three_operations_per_list() {
        let mut system = booleans();
        let atoms: Vec<ExprId> = (0..10).map(|v| system.exprs.variable(VarId(v))).collect();
        let lists: Vec<ExprId> = (0..10)
            .map(|left_out| {
                let others = atoms.iter().copied().filter(|&atom| atom != atoms[left_out]);
                system.exprs.or(others.collect())
            })
            .collect();
        let shared = SharedLists::new(&system.exprs);
        let [starts, ends] = &shared.disjunctions;
        // All beginnings and ends with 1 to 8 operands, except those of 9 operands, which one list has.
        let depths = |tree: &Tree| {
            let mut depths: Vec<usize> = tree.nodes.iter().map(|node| node.depth).collect();
            depths.sort_unstable();
            depths
        };
        assert_eq!(depths(starts), (1..=8).collect::<Vec<_>>());
        assert_eq!(depths(ends), (1..=8).collect::<Vec<_>>());
        for (left_out, &list) in lists.iter().enumerate() {
            let start = starts.depth(starts.longest(list, 9));
            let end = ends.depth(ends.longest(list, 9 - start));
            assert_eq!((start, end), (left_out.min(8), (9 - left_out).min(8)), "{left_out}");
        }
    }
}
