//! Translation of a path formula into a generalised Büchi automaton that accepts the paths that satisfy
//! it. [GPVW95; Couvreur99 §3]
//!
//! The formula is brought into negation normal form. A state of the automaton, a *cover*, is one way to
//! meet a set of obligations: which state formulas must be true or false now, what must hold from the next
//! state on, and which untils are postponed. Equal subformulas are one obligation. Acceptance requires
//! that no until is postponed forever.

use std::collections::{BTreeSet, HashMap};

use masque_model::{Formula, FormulaId, Formulas};

use crate::{Budget, Literal, Stop};

/// A generalised Büchi automaton that reads the states of a path.
#[derive(Debug)]
pub struct Automaton {
    /// States of the automaton.
    pub covers: Vec<Cover>,
    /// Indices of the initial covers.
    pub initial: Vec<u32>,
    /// For each cover, the indices of its predecessors, in increasing order.
    pub predecessors: Vec<Vec<u32>>,
    /// Number of untils that must not be postponed forever.
    pub n_promises: usize,
}

/// A state of the automaton: one way to meet a set of obligations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cover {
    /// State formulas that must be true or false now.
    pub literals: BTreeSet<Literal>,
    /// Obligations from the next state on.
    next: BTreeSet<u32>,
    /// Postponed untils.
    postponed: BTreeSet<u32>,
    /// Postponed untils, numbered from 0 among all untils that some cover postpones.
    pub promises: Vec<u32>,
}

impl Cover {
    /// Whether every obligation of this cover is one of the other.
    fn is_weaker(&self, other: &Cover) -> bool {
        self.literals.is_subset(&other.literals)
            && self.next.is_subset(&other.next)
            && self.postponed.is_subset(&other.postponed)
    }
}

/// A path formula in negation normal form. Operands are indices in [`Nodes::nodes`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    Literal(Literal),
    /// True if empty.
    And(Vec<u32>),
    /// False if empty.
    Or(Vec<u32>),
    Next(u32),
    Until(u32, u32),
    Release(u32, u32),
}

impl Automaton {
    /// Builds the automaton of a path formula, or of its negation if `truth` is false.
    pub fn new(
        formulas: &Formulas,
        path: FormulaId,
        truth: bool,
        budget: &Budget,
    ) -> Result<Automaton, Stop> {
        let mut nodes = Nodes::default();
        let root = nodes.normal_form(formulas, path, truth);
        let mut covers: Vec<Cover> = Vec::new();
        let mut numbers: HashMap<Cover, u32> = HashMap::new();
        let mut number = |cover: Cover, covers: &mut Vec<Cover>| {
            *numbers.entry(cover).or_insert_with_key(|cover| {
                covers.push(cover.clone());
                covers.len() as u32 - 1
            })
        };
        let first = nodes.covers(&BTreeSet::from([root]), budget)?;
        let initial: Vec<u32> = first.into_iter().map(|cover| number(cover, &mut covers)).collect();
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); covers.len()];
        // The successors of a cover depend only on its obligations from the next state on.
        let mut followers: HashMap<BTreeSet<u32>, Vec<u32>> = HashMap::new();
        let mut at = 0;
        while at < covers.len() {
            let obligations = covers[at].next.clone();
            if !followers.contains_key(&obligations) {
                let found = nodes.covers(&obligations, budget)?;
                let found = found.into_iter().map(|cover| number(cover, &mut covers)).collect();
                predecessors.resize(covers.len(), Vec::new());
                followers.insert(obligations.clone(), found);
            }
            for &next in &followers[&obligations] {
                predecessors[next as usize].push(at as u32);
            }
            budget.check_memory(covers.len() as u64 * 256)?;
            at += 1;
        }
        let promises: BTreeSet<u32> = covers.iter().flat_map(|cover| &cover.postponed).copied().collect();
        let numbers: HashMap<u32, u32> = promises.iter().copied().zip(0..).collect();
        for cover in &mut covers {
            cover.promises = cover.postponed.iter().map(|until| numbers[until]).collect();
        }
        Ok(Automaton { covers, initial, predecessors, n_promises: promises.len() })
    }
}

/// Formulas in negation normal form, each once.
#[derive(Default)]
struct Nodes {
    nodes: Vec<Node>,
    numbers: HashMap<Node, u32>,
}

impl Nodes {
    fn add(&mut self, node: Node) -> u32 {
        *self.numbers.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            self.nodes.len() as u32 - 1
        })
    }

    /// Adds the normal form of a path formula, or of its negation if `truth` is false. Operands have
    /// smaller ids, so a loop over ids visits them first. Each formula has one form per truth value.
    ///
    /// ```text
    /// F φ = true U φ     G φ = false R φ     φ W ψ = ψ R (φ ∨ ψ)
    /// ¬X φ = X ¬φ     ¬(φ U ψ) = ¬φ R ¬ψ     ¬(φ R ψ) = ¬φ U ¬ψ     ¬(φ W ψ) = ¬ψ U (¬φ ∧ ¬ψ)
    /// ```
    fn normal_form(&mut self, formulas: &Formulas, path: FormulaId, truth: bool) -> u32 {
        let is_path = formulas.path_formulas();
        let mut wanted = BTreeSet::new();
        formulas.each_part(path, |part| {
            wanted.insert(part);
            is_path[part.index()]
        });
        let mut forms: HashMap<(FormulaId, bool), u32> = HashMap::new();
        for id in wanted {
            for truth in [false, true] {
                let of = |f: FormulaId| forms[&(f, truth)];
                let node = if is_path[id.index()] {
                    self.node(formulas.get(id), truth, of, |f| forms[&(f, !truth)])
                } else {
                    Node::Literal(Literal { formula: id, holds: truth })
                };
                let number = self.add(node);
                forms.insert((id, truth), number);
            }
        }
        forms[&(path, truth)]
    }

    /// The form of an operator, given the forms of its operands with the same truth value (`of`) and with
    /// the opposite one (`not`).
    fn node(
        &mut self,
        formula: Formula<'_>,
        truth: bool,
        of: impl Fn(FormulaId) -> u32,
        not: impl Fn(FormulaId) -> u32,
    ) -> Node {
        let junction = |list: Vec<u32>, is_and: bool| if is_and { Node::And(list) } else { Node::Or(list) };
        let until = |left, right, is_until: bool| {
            if is_until { Node::Until(left, right) } else { Node::Release(left, right) }
        };
        match formula {
            Formula::Not(f) => self.nodes[not(f) as usize].clone(),
            Formula::And(list) => junction(list.iter().map(|&f| of(f)).collect(), truth),
            Formula::Or(list) => junction(list.iter().map(|&f| of(f)).collect(), !truth),
            Formula::Implies(f, g) => junction(vec![not(f), of(g)], !truth),
            Formula::Iff(f, g) => {
                // Both operands true or both false if the formula is to be true, otherwise one of each.
                let pairs = if truth {
                    [[of(f), of(g)], [not(f), not(g)]]
                } else {
                    [[of(f), not(g)], [not(f), of(g)]]
                };
                let ways = pairs.map(|pair| self.add(Node::And(pair.to_vec())));
                Node::Or(ways.to_vec())
            }
            Formula::Next(f) => Node::Next(of(f)),
            Formula::Finally(f) => {
                let constant = self.add(junction(Vec::new(), truth));
                until(constant, of(f), truth)
            }
            Formula::Globally(f) => {
                let constant = self.add(junction(Vec::new(), !truth));
                until(constant, of(f), !truth)
            }
            Formula::Until(f, g) => until(of(f), of(g), truth),
            Formula::Release(f, g) => until(of(f), of(g), !truth),
            Formula::WeakUntil(f, g) => {
                let both = self.add(junction(vec![of(f), of(g)], !truth));
                until(of(g), both, !truth)
            }
            // No other formula is a path formula.
            _ => Node::Or(Vec::new()),
        }
    }

    /// All minimal covers of a set of obligations: a cover is left out if another one is weaker.
    ///
    /// ```text
    /// φ U ψ   needs ψ now, or φ now and itself next: then it is postponed
    /// φ R ψ   needs φ and ψ now, or ψ now and itself next
    /// ```
    ///
    /// A path that meets the obligations can follow the covers: for an until it takes the first way as
    /// soon as possible, and so postpones none forever. If that cover was left out because of a weaker
    /// one, the path meets the weaker one too, and the weaker one postpones no other until.
    fn covers(&self, obligations: &BTreeSet<u32>, budget: &Budget) -> Result<Vec<Cover>, Stop> {
        let mut found: BTreeSet<Cover> = BTreeSet::new();
        let start = Partial { todo: obligations.iter().copied().collect(), ..Partial::default() };
        let mut open = vec![start];
        let mut n_steps = 0_u64;
        while let Some(mut partial) = open.pop() {
            n_steps += 1;
            if n_steps.is_multiple_of(1024) {
                budget.check()?;
            }
            let Some(number) = partial.todo.pop() else {
                found.insert(partial.cover);
                continue;
            };
            if !partial.done.insert(number) {
                open.push(partial);
                continue;
            }
            match &self.nodes[number as usize] {
                Node::Literal(literal) => {
                    if !partial.cover.literals.contains(&literal.negated()) {
                        partial.cover.literals.insert(*literal);
                        open.push(partial);
                    }
                }
                Node::And(list) => {
                    partial.todo.extend(list);
                    open.push(partial);
                }
                Node::Or(list) => open.extend(list.iter().map(|&way| partial.with(&[way]))),
                Node::Next(f) => {
                    partial.cover.next.insert(*f);
                    open.push(partial);
                }
                Node::Until(f, g) => {
                    open.push(partial.with(&[*g]));
                    let mut later = partial.with(&[*f]);
                    later.cover.next.insert(number);
                    later.cover.postponed.insert(number);
                    open.push(later);
                }
                Node::Release(f, g) => {
                    open.push(partial.with(&[*f, *g]));
                    let mut later = partial.with(&[*g]);
                    later.cover.next.insert(number);
                    open.push(later);
                }
            }
        }
        let is_kept = |cover: &&Cover| !found.iter().any(|other| other != *cover && other.is_weaker(cover));
        Ok(found.iter().filter(is_kept).cloned().collect())
    }
}

/// A cover under construction.
#[derive(Clone, Default)]
struct Partial {
    /// Obligations that are not expanded yet.
    todo: Vec<u32>,
    /// Obligations that are expanded.
    done: BTreeSet<u32>,
    cover: Cover,
}

impl Partial {
    /// Returns a copy with these additional obligations.
    fn with(&self, more: &[u32]) -> Partial {
        let mut partial = self.clone();
        partial.todo.extend(more);
        partial
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use masque_model::PropositionId;

    /// Number of states of the automata for formulas over `p` and `q`, and for their negations.
    #[test]
    fn sizes_of_automata() {
        let mut pool = Formulas::default();
        let [p, q] = [0, 1].map(|i| pool.add(Formula::Proposition(PropositionId(i))));
        let finally = pool.add(Formula::Finally(p));
        let globally_finally = pool.add(Formula::Globally(finally));
        let until = pool.add(Formula::Until(p, q));
        let globally = pool.add(Formula::Globally(q));
        let both = pool.add(Formula::And(&[globally_finally, globally]));
        let size = |formula, truth| {
            Automaton::new(&pool, formula, truth, &Budget::unlimited()).unwrap().covers.len()
        };
        let found =
            [p, finally, globally_finally, until, globally, both].map(|f| [size(f, true), size(f, false)]);
        assert_eq!(found, [[2, 2], [3, 1], [2, 2], [3, 3], [1, 3], [2, 5]]);
    }
}
