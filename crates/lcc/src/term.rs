//! Hash-consed terms: equal terms have equal ids.
//!
//! Processes, constraints, messages and labels are terms too, built with symbols that cannot occur in files.
//! So they share the operations on terms: equality by id, substitution, renaming, canonical variables, sizes.
//! Every traversal is a loop with an explicit stack that visits a shared part once, so neither the depth of a
//! term nor sharing can overflow the call stack or make the traversal exponential.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::symbol::{Symbol, Symbols};

/// Size, in tree nodes, above which unification records the pairs it has visited, because parts may be
/// shared.
const SHARING_THRESHOLD: u32 = 64;

/// Id of a term in [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TermId(pub(crate) u32);

/// The root of a term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Head {
    Var(u32),
    Int(i64),
    Decimal(f64),
    App(Symbol),
}

/// Returns a key for the comparison of heads. Decimals are equal if their bits are.
fn key(head: Head) -> (u8, u64) {
    match head {
        Head::Var(number) => (0, u64::from(number)),
        Head::Int(value) => (1, value as u64),
        Head::Decimal(value) => (2, value.to_bits()),
        Head::App(symbol) => (3, u64::from(symbol.0)),
    }
}

/// The root of a term, the range of its arguments, and its measures.
#[derive(Clone, Copy, Debug)]
struct TermNode {
    head: Head,
    start: u32,
    len: u32,
    /// One more than the largest variable; 0 if there is none.
    vars: u32,
    /// Nesting of arguments: 0 for constants, variables and numbers.
    depth: u32,
    /// Number of tree nodes, saturating.
    size: u32,
}

/// The numbers of terms, arguments and names at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermsMark {
    n_nodes: usize,
    n_args: usize,
    n_symbols: usize,
}

/// All terms of an instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) symbols: Symbols,
    nodes: Vec<TermNode>,
    /// The arguments of all terms.
    args: Vec<TermId>,
    table: HashTable<u32>,
    /// A buffer for `rewrite`.
    scratch: FxHashMap<TermId, TermId>,
}

impl Terms {
    /// Returns the term with this root and these arguments.
    pub(crate) fn make(&mut self, head: Head, args: &[TermId]) -> TermId {
        let (nodes, all) = (&self.nodes, &self.args);
        let is_same = |&index: &u32| {
            let node = &nodes[index as usize];
            key(node.head) == key(head) && all[node.start as usize..][..node.len as usize] == *args
        };
        let hash = hash(head, args);
        if let Some(found) = self.table.find(hash, is_same) {
            return TermId(*found);
        }
        let mut node = TermNode {
            head,
            start: self.args.len() as u32,
            len: args.len() as u32,
            vars: if let Head::Var(number) = head { number.saturating_add(1) } else { 0 },
            depth: 0,
            size: 1,
        };
        for arg in args {
            let arg = &self.nodes[arg.0 as usize];
            node.vars = node.vars.max(arg.vars);
            node.depth = node.depth.max(arg.depth.saturating_add(1));
            node.size = node.size.saturating_add(arg.size);
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.args.extend_from_slice(args);
        let (nodes, all) = (&self.nodes, &self.args);
        self.table.insert_unique(hash, id, |&index| {
            let node = &nodes[index as usize];
            self::hash(node.head, &all[node.start as usize..][..node.len as usize])
        });
        TermId(id)
    }

    pub(crate) fn var(&mut self, number: u32) -> TermId {
        self.make(Head::Var(number), &[])
    }

    pub(crate) fn int(&mut self, value: i64) -> TermId {
        self.make(Head::Int(value), &[])
    }

    pub(crate) fn app(&mut self, symbol: Symbol, args: &[TermId]) -> TermId {
        self.make(Head::App(symbol), args)
    }

    pub(crate) fn constant(&mut self, name: &str) -> TermId {
        let symbol = self.symbols.intern(name);
        self.app(symbol, &[])
    }

    /// Returns the list of these items, followed by a tail.
    pub(crate) fn list(&mut self, items: &[TermId], tail: TermId) -> TermId {
        items.iter().rev().fold(tail, |tail, item| self.app(Symbol::CONS, &[*item, tail]))
    }

    #[inline]
    pub(crate) fn head(&self, term: TermId) -> Head {
        self.nodes[term.0 as usize].head
    }

    #[inline]
    pub(crate) fn args(&self, term: TermId) -> &[TermId] {
        let node = &self.nodes[term.0 as usize];
        &self.args[node.start as usize..][..node.len as usize]
    }

    #[inline]
    pub(crate) fn arg(&self, term: TermId, index: usize) -> TermId {
        self.args(term)[index]
    }

    /// Returns the symbol and number of arguments; `None` for a variable or a number.
    pub(crate) fn functor(&self, term: TermId) -> Option<Functor> {
        let node = &self.nodes[term.0 as usize];
        match node.head {
            Head::App(name) => Some(Functor { name, arity: node.len }),
            _ => None,
        }
    }

    /// Returns the functor of a name, if the name is interned.
    pub(crate) fn find(&self, name: &str, arity: usize) -> Option<Functor> {
        self.symbols.find(name).map(|name| Functor { name, arity: arity as u32 })
    }

    /// Returns the symbol at the root, if there is one.
    pub(crate) fn symbol(&self, term: TermId) -> Option<Symbol> {
        self.functor(term).map(|functor| functor.name)
    }

    pub(crate) fn is_ground(&self, term: TermId) -> bool {
        self.nodes[term.0 as usize].vars == 0
    }

    /// Returns one more than the largest variable; 0 if there is none.
    pub(crate) fn n_vars(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].vars
    }

    pub(crate) fn depth(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].depth
    }

    pub(crate) fn size(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].size
    }

    /// Compares terms by content, independently of the order in which they were created: variables, numbers,
    /// then names; arguments from the left. Equal parts have equal ids, so only the first pair of different
    /// arguments is compared further.
    pub(crate) fn compare(&self, mut left: TermId, mut right: TermId) -> Ordering {
        while left != right {
            let heads = self.compare_heads(self.head(left), self.head(right));
            let (of_left, of_right) = (self.args(left), self.args(right));
            let order = heads.then(of_left.len().cmp(&of_right.len()));
            let mut pairs = of_left.iter().zip(of_right);
            match pairs.find(|(left, right)| left != right) {
                Some((next_left, next_right)) if order.is_eq() => {
                    (left, right) = (*next_left, *next_right);
                }
                _ => return order,
            }
        }
        Ordering::Equal
    }

    fn compare_heads(&self, left: Head, right: Head) -> Ordering {
        match (left, right) {
            (Head::Var(left), Head::Var(right)) => left.cmp(&right),
            (Head::Int(left), Head::Int(right)) => left.cmp(&right),
            (Head::Decimal(left), Head::Decimal(right)) => left.total_cmp(&right),
            (Head::App(left), Head::App(right)) => self.symbols.compare(left, right),
            _ => key(left).0.cmp(&key(right).0),
        }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let nodes = self.nodes.capacity() * size_of::<TermNode>() + self.args.capacity() * 4;
        (nodes + self.table.capacity() * 5 + self.scratch.capacity() * 10) as u64 + self.symbols.bytes()
    }

    /// Returns a mark of the terms and names so far.
    pub(crate) fn mark(&self) -> TermsMark {
        TermsMark { n_nodes: self.nodes.len(), n_args: self.args.len(), n_symbols: self.symbols.len() }
    }

    /// Removes all terms and names that were added since the mark.
    pub(crate) fn reset(&mut self, mark: TermsMark) {
        let n_added = self.nodes.len() - mark.n_nodes;
        if n_added > 0 && n_added < mark.n_nodes / 8 {
            for index in mark.n_nodes..self.nodes.len() {
                let node = &self.nodes[index];
                let hash = hash(node.head, &self.args[node.start as usize..][..node.len as usize]);
                if let Ok(entry) = self.table.find_entry(hash, |other| *other as usize == index) {
                    entry.remove();
                }
            }
            self.nodes.truncate(mark.n_nodes);
            self.args.truncate(mark.n_args);
        } else if n_added > 0 {
            self.table.retain(|index| (*index as usize) < mark.n_nodes);
            self.nodes.truncate(mark.n_nodes);
            self.args.truncate(mark.n_args);
        }
        self.symbols.truncate(mark.n_symbols);
        self.scratch.clear();
        self.shrink();
    }

    /// Frees memory that a large text needed and that is not used any more.
    fn shrink(&mut self) {
        if self.nodes.capacity() / 4 > self.nodes.len() {
            self.nodes.shrink_to(self.nodes.len() * 2);
            self.args.shrink_to(self.args.len() * 2);
            self.scratch = FxHashMap::default();
            let (nodes, all) = (&self.nodes, &self.args);
            self.table.shrink_to(nodes.len() * 2, |&index| {
                let node = &nodes[index as usize];
                hash(node.head, &all[node.start as usize..][..node.len as usize])
            });
        }
    }

    /// Replaces each variable by the result of `replace`. If `again` is set, variables in the replacements
    /// are replaced, too.
    fn rewrite(
        &mut self,
        term: TermId,
        again: bool,
        mut replace: impl FnMut(&mut Terms, u32) -> TermId,
    ) -> TermId {
        if self.is_ground(term) {
            return term;
        }
        let mut done = std::mem::take(&mut self.scratch);
        done.clear();
        enum Task {
            Visit(TermId),
            Build(TermId),
            Alias(TermId, TermId),
        }
        let mut tasks = vec![Task::Visit(term)];
        let mut args: Vec<TermId> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(part) if self.is_ground(part) || done.contains_key(&part) => {}
                Task::Visit(part) => match self.head(part) {
                    Head::Var(number) => {
                        let by = replace(self, number);
                        if again && by != part {
                            tasks.push(Task::Alias(part, by));
                            tasks.push(Task::Visit(by));
                        } else {
                            done.insert(part, by);
                        }
                    }
                    _ => {
                        tasks.push(Task::Build(part));
                        tasks.extend(self.args(part).iter().rev().map(|arg| Task::Visit(*arg)));
                    }
                },
                Task::Build(part) => {
                    args.clear();
                    args.extend(self.args(part).iter().map(|arg| *done.get(arg).unwrap_or(arg)));
                    let built = self.make(self.head(part), &args);
                    done.insert(part, built);
                }
                Task::Alias(part, by) => {
                    let by = *done.get(&by).unwrap_or(&by);
                    done.insert(part, by);
                }
            }
        }
        let result = *done.get(&term).unwrap_or(&term);
        self.scratch = done;
        result
    }

    /// Adds `offset` to the number of each variable.
    pub(crate) fn shift(&mut self, term: TermId, offset: u32) -> TermId {
        if offset == 0 {
            return term;
        }
        self.rewrite(term, false, |terms, number| terms.var(number + offset))
    }

    /// Replaces all bound variables, also in their values.
    pub(crate) fn resolve(&mut self, term: TermId, bindings: &Bindings) -> TermId {
        self.rewrite(term, true, |terms, number| match bindings.value(number) {
            Some(value) => value,
            None => terms.var(number),
        })
    }

    /// Numbers the variables of a term from 0 in the order of their first occurrence.
    pub(crate) fn canonical(&mut self, term: TermId) -> TermId {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        self.rewrite(term, false, |terms, number| {
            let next = numbers.len() as u32;
            let number = *numbers.entry(number).or_insert(next);
            terms.var(number)
        })
    }

    /// Follows bindings while the term is a bound variable.
    #[inline]
    pub(crate) fn walk(&self, mut term: TermId, bindings: &Bindings) -> TermId {
        while let Head::Var(number) = self.head(term) {
            match bindings.value(number) {
                Some(value) => term = value,
                None => break,
            }
        }
        term
    }

    /// Unifies two terms. Returns whether that is possible; if not, the caller must undo the bindings.
    pub(crate) fn unify(&self, left: TermId, right: TermId, bindings: &mut Bindings) -> bool {
        let mut pairs = vec![(left, right)];
        // A unified pair stays equal, so large terms with shared parts need not be visited repeatedly.
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some((left, right)) = pairs.pop() {
            let (left, right) = (self.walk(left, bindings), self.walk(right, bindings));
            if left == right {
                continue;
            }
            match (self.head(left), self.head(right)) {
                (Head::Var(number), _) => {
                    if self.occurs(number, right, bindings) {
                        return false;
                    }
                    bindings.bind(number, right);
                }
                (_, Head::Var(number)) => {
                    if self.occurs(number, left, bindings) {
                        return false;
                    }
                    bindings.bind(number, left);
                }
                (a, b) if key(a) != key(b) || self.args(left).len() != self.args(right).len() => {
                    return false;
                }
                // Ground terms with different ids are different.
                _ if self.is_ground(left) && self.is_ground(right) => return false,
                _ if self.size(left) > SHARING_THRESHOLD && !seen.insert((left, right)) => {}
                _ => {
                    pairs.extend(self.args(left).iter().copied().zip(self.args(right).iter().copied()).rev())
                }
            }
        }
        true
    }

    /// Whether a variable occurs in a term, so that they do not unify (occurs check).
    fn occurs(&self, number: u32, term: TermId, bindings: &Bindings) -> bool {
        if self.is_ground(term) {
            return false;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![term];
        while let Some(part) = stack.pop() {
            let part = self.walk(part, bindings);
            if self.head(part) == Head::Var(number) {
                return true;
            }
            if !self.is_ground(part) && seen.insert(part) {
                stack.extend_from_slice(self.args(part));
            }
        }
        false
    }
}

fn hash(head: Head, args: &[TermId]) -> u64 {
    let mut hasher = FxHasher::default();
    key(head).hash(&mut hasher);
    args.hash(&mut hasher);
    hasher.finish()
}

/// A name and its number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Functor {
    pub(crate) name: Symbol,
    pub(crate) arity: u32,
}

/// The values of variables, with a trail for undoing them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    values: Vec<Option<TermId>>,
    trail: Vec<u32>,
}

/// A point to which bindings can be undone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    n_values: u32,
    n_trail: u32,
}

impl Bindings {
    /// Removes all bindings, and declares the variables below `n_vars`.
    pub(crate) fn reset(&mut self, n_vars: u32) {
        self.values.clear();
        self.values.resize(n_vars as usize, None);
        self.trail.clear();
    }

    /// Declares `n_vars` new variables, and returns the number of the first.
    pub(crate) fn fresh(&mut self, n_vars: u32) -> u32 {
        let first = self.values.len() as u32;
        self.values.resize(self.values.len() + n_vars as usize, None);
        first
    }

    /// Declares the variables below `n_vars`.
    pub(crate) fn declare(&mut self, n_vars: u32) {
        self.values.resize(self.values.len().max(n_vars as usize), None);
    }

    #[inline]
    pub(crate) fn value(&self, number: u32) -> Option<TermId> {
        self.values.get(number as usize).copied().flatten()
    }

    fn bind(&mut self, number: u32, value: TermId) {
        self.values[number as usize] = Some(value);
        self.trail.push(number);
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { n_values: self.values.len() as u32, n_trail: self.trail.len() as u32 }
    }

    /// Undoes all bindings and declarations since the mark.
    pub(crate) fn undo(&mut self, mark: Mark) {
        for number in self.trail.drain(mark.n_trail as usize..) {
            self.values[number as usize] = None;
        }
        self.values.truncate(mark.n_values as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_have_equal_ids() {
        let mut terms = Terms::default();
        let (a, b) = (terms.constant("a"), terms.constant("b"));
        let f = terms.symbols.intern("f");
        let fab = terms.app(f, &[a, b]);
        assert_eq!(fab, terms.app(f, &[a, b]));
        assert_ne!(fab, terms.app(f, &[b, a]));
        assert_eq!((terms.depth(fab), terms.size(fab), terms.n_vars(fab)), (1, 3, 0));
    }

    #[test]
    fn unification_has_an_occurs_check_and_can_be_undone() {
        let mut terms = Terms::default();
        let mut bindings = Bindings::default();
        bindings.reset(2);
        let (x, y, a) = (terms.var(0), terms.var(1), terms.constant("a"));
        let f = terms.symbols.intern("f");
        let (fxy, fya) = (terms.app(f, &[x, y]), terms.app(f, &[y, a]));
        let mark = bindings.mark();
        assert!(terms.unify(fxy, fya, &mut bindings));
        let faa = terms.app(f, &[a, a]);
        assert_eq!(terms.resolve(fxy, &bindings), faa);
        bindings.undo(mark);
        assert_eq!(terms.resolve(fxy, &bindings), fxy);
        assert!(!terms.unify(x, fxy, &mut bindings));
    }

    #[test]
    fn terms_are_removed_back_to_a_mark() {
        let mut terms = Terms::default();
        let f = terms.symbols.intern("f");
        let ints: Vec<TermId> = (0..100).map(|value| terms.int(value)).collect();
        for n_added in [1, 5, 90] {
            let mark = terms.mark();
            let added = |terms: &mut Terms| -> Vec<TermId> {
                let name = terms.constant("new");
                ints[..n_added].iter().map(|value| terms.app(f, &[*value, name])).collect()
            };
            let first = added(&mut terms);
            terms.reset(mark);
            assert!(terms.find("new", 0).is_none());
            assert_eq!(terms.int(7), ints[7], "what was there before the mark remains");
            assert_eq!(added(&mut terms), first, "the numbers are free again");
            terms.reset(mark);
        }
    }

    #[test]
    fn deep_and_shared_terms_do_not_overflow_the_stack() {
        let mut terms = Terms::default();
        let mut bindings = Bindings::default();
        bindings.reset(1);
        let f = terms.symbols.intern("f");
        let mut term = terms.var(0);
        for _ in 0..100_000 {
            term = terms.app(f, &[term, term]);
        }
        let shifted = terms.shift(term, 7);
        assert_ne!(shifted, term);
        assert_eq!(terms.canonical(shifted), term);
        assert_eq!(terms.size(term), u32::MAX);
        bindings.fresh(8);
        assert!(terms.unify(term, shifted, &mut bindings));
    }
}
