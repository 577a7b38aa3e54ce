//! Hash-consed terms: equal terms have equal numbers.
//!
//! Processes, constraints, messages and labels are terms too, built with symbols that no text can
//! name. So they share what terms have for nothing: equality by number, substitution, renaming,
//! canonical variables, sizes. Every walk is a loop with a stack of its own and visits a shared
//! part once, so neither depth nor sharing can make it overflow or explode.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::symbol::{Symbol, Symbols};

/// Terms larger than this may have so many shared parts that those are worth remembering.
const SHARED: u32 = 64;

/// A term of a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TermId(pub(crate) u32);

/// What a term is at its root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Head {
    Var(u32),
    Int(i64),
    Decimal(f64),
    App(Symbol),
}

/// The number of a head, for comparison by bits: decimals are equal if their bits are.
fn key(head: Head) -> (u8, u64) {
    match head {
        Head::Var(number) => (0, u64::from(number)),
        Head::Int(value) => (1, value as u64),
        Head::Decimal(value) => (2, value.to_bits()),
        Head::App(symbol) => (3, u64::from(symbol.0)),
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    head: Head,
    start: u32,
    len: u32,
    /// One more than the largest variable; 0 if there is none.
    vars: u32,
    /// Constants have depth 0.
    depth: u32,
    /// Nodes, counted as a tree; saturates.
    size: u32,
}

/// All terms of an instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) symbols: Symbols,
    nodes: Vec<Node>,
    args: Vec<TermId>,
    table: HashTable<u32>,
    scratch: FxHashMap<TermId, TermId>,
}

impl Terms {
    /// The term with this root and these arguments.
    pub(crate) fn make(&mut self, head: Head, args: &[TermId]) -> TermId {
        let (nodes, all) = (&self.nodes, &self.args);
        let is_same = |&at: &u32| {
            let node = &nodes[at as usize];
            key(node.head) == key(head) && all[node.start as usize..][..node.len as usize] == *args
        };
        let hash = hash(head, args);
        if let Some(found) = self.table.find(hash, is_same) {
            return TermId(*found);
        }
        let mut node = Node {
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
        self.table.insert_unique(hash, id, |&at| {
            let node = &nodes[at as usize];
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

    /// The list of these items before a tail.
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
    pub(crate) fn arg(&self, term: TermId, at: usize) -> TermId {
        self.args(term)[at]
    }

    /// The symbol and number of arguments, unless it is a variable or a number.
    pub(crate) fn functor(&self, term: TermId) -> Option<Functor> {
        let node = &self.nodes[term.0 as usize];
        match node.head {
            Head::App(name) => Some(Functor { name, arity: node.len }),
            _ => None,
        }
    }

    /// The functor of a name that occurs in some text.
    pub(crate) fn find(&self, name: &str, arity: usize) -> Option<Functor> {
        self.symbols.find(name).map(|name| Functor { name, arity: arity as u32 })
    }

    /// The symbol at the root, if there is one.
    pub(crate) fn symbol(&self, term: TermId) -> Option<Symbol> {
        self.functor(term).map(|functor| functor.name)
    }

    pub(crate) fn is_ground(&self, term: TermId) -> bool {
        self.nodes[term.0 as usize].vars == 0
    }

    /// One more than the largest variable; 0 if there is none.
    pub(crate) fn n_vars(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].vars
    }

    pub(crate) fn depth(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].depth
    }

    pub(crate) fn size(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].size
    }

    /// Orders terms by what they are, whenever they were made: variables, numbers, then names; arguments
    /// from the left. Equal parts are one term, so the walk goes down where the two differ first.
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

    /// The bytes this takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>() + self.args.capacity() * 4 + self.table.capacity() * 5)
            as u64
    }

    /// The term with each variable replaced by what `replace` makes of it: in one pass, the
    /// replacements themselves are looked into if `again` says so.
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
                Task::Visit(at) if self.is_ground(at) || done.contains_key(&at) => {}
                Task::Visit(at) => match self.head(at) {
                    Head::Var(number) => {
                        let by = replace(self, number);
                        if again && by != at {
                            tasks.push(Task::Alias(at, by));
                            tasks.push(Task::Visit(by));
                        } else {
                            done.insert(at, by);
                        }
                    }
                    _ => {
                        tasks.push(Task::Build(at));
                        tasks.extend(self.args(at).iter().rev().map(|arg| Task::Visit(*arg)));
                    }
                },
                Task::Build(at) => {
                    args.clear();
                    args.extend(self.args(at).iter().map(|arg| *done.get(arg).unwrap_or(arg)));
                    let built = self.make(self.head(at), &args);
                    done.insert(at, built);
                }
                Task::Alias(at, by) => {
                    let by = *done.get(&by).unwrap_or(&by);
                    done.insert(at, by);
                }
            }
        }
        let result = *done.get(&term).unwrap_or(&term);
        self.scratch = done;
        result
    }

    /// The term with its variables moved up by `offset`.
    pub(crate) fn shift(&mut self, term: TermId, offset: u32) -> TermId {
        if offset == 0 {
            return term;
        }
        self.rewrite(term, false, |terms, number| terms.var(number + offset))
    }

    /// The term with its bound variables replaced, throughout.
    pub(crate) fn resolve(&mut self, term: TermId, bindings: &Bindings) -> TermId {
        self.rewrite(term, true, |terms, number| match bindings.value(number) {
            Some(value) => value,
            None => terms.var(number),
        })
    }

    /// The term with its variables numbered from 0 in the order of their first occurrence.
    pub(crate) fn canonical(&mut self, term: TermId) -> TermId {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        self.rewrite(term, false, |terms, number| {
            let next = numbers.len() as u32;
            let number = *numbers.entry(number).or_insert(next);
            terms.var(number)
        })
    }

    /// What a term is, variables replaced by their values.
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

    /// Makes two terms equal, if that can be; the bindings made are undone by the caller.
    pub(crate) fn unify(&self, left: TermId, right: TermId, bindings: &mut Bindings) -> bool {
        let mut pairs = vec![(left, right)];
        // A pair that has been made equal stays equal: large terms with shared parts need this.
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
                // Different numbers without variables are different terms.
                _ if self.is_ground(left) && self.is_ground(right) => return false,
                _ if self.size(left) > SHARED && !seen.insert((left, right)) => {}
                _ => {
                    pairs.extend(self.args(left).iter().copied().zip(self.args(right).iter().copied()).rev())
                }
            }
        }
        true
    }

    /// Whether a variable occurs in a term: then no finite term makes them equal.
    fn occurs(&self, number: u32, term: TermId, bindings: &Bindings) -> bool {
        if self.is_ground(term) {
            return false;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![term];
        while let Some(at) = stack.pop() {
            let at = self.walk(at, bindings);
            if self.head(at) == Head::Var(number) {
                return true;
            }
            if !self.is_ground(at) && seen.insert(at) {
                stack.extend_from_slice(self.args(at));
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

/// The values of variables, and how to undo them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    values: Vec<Option<TermId>>,
    trail: Vec<u32>,
}

/// A point to go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    n_values: u32,
    n_trail: u32,
}

impl Bindings {
    /// Forgets everything; variables below `n_vars` exist.
    pub(crate) fn reset(&mut self, n_vars: u32) {
        self.values.clear();
        self.values.resize(n_vars as usize, None);
        self.trail.clear();
    }

    /// New variables, numbered from the result on.
    pub(crate) fn fresh(&mut self, n_vars: u32) -> u32 {
        let first = self.values.len() as u32;
        self.values.resize(self.values.len() + n_vars as usize, None);
        first
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

    /// Undoes what was done since the mark, variables made since included.
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
    fn equal_terms_are_one() {
        let mut terms = Terms::default();
        let (a, b) = (terms.constant("a"), terms.constant("b"));
        let f = terms.symbols.intern("f");
        let fab = terms.app(f, &[a, b]);
        assert_eq!(fab, terms.app(f, &[a, b]));
        assert_ne!(fab, terms.app(f, &[b, a]));
        assert_eq!((terms.depth(fab), terms.size(fab), terms.n_vars(fab)), (1, 3, 0));
    }

    #[test]
    fn unification_checks_occurrence_and_undoes() {
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
    fn deep_and_shared_terms_are_walked_in_loops() {
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
