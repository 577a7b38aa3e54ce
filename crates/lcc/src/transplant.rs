//! States and bindings of one system, moved to another system of the same instance.
//!
//! A system keeps all terms, states and labels that it has seen. A program that follows many interactions replaces it
//! from time to time by a new one, which needs only the states in which these interactions are now.

use masque_mu::{BindingId, StateId};
use rustc_hash::FxHashMap;

use crate::system::System;
use crate::term::{Head, TermId};

/// Moves states and bindings from a system to another one with the same program.
///
/// ```
/// use masque_lcc::{InstanceInput, Transplant, open};
/// use masque_mu::{Lts, StateId};
///
/// let mut sources = masque_text::Sources::default();
/// let text = "a(hen, H) :: egg(X) => a(farmer, _) <- X = 1.  a(farmer, F) :: egg(_) <= a(hen, _).
///     agent a(hen, h).  agent a(farmer, f).";
/// let files = vec![sources.add("farm.lcc", text).unwrap()];
/// let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
/// let mut old = opened.system.unwrap();
/// let mut new = old.clone();
/// let mut next = Vec::new();
/// let first = old.initial();
/// old.successors(first, &mut |_, target| next.push(target));
/// let moved = Transplant::new(&old).state(&mut new, next[0]);
/// assert_eq!(new.state_text(moved), old.state_text(next[0]));
/// ```
#[derive(Debug)]
pub struct Transplant<'s> {
    from: &'s System,
    /// The copy of each term that was copied.
    copies: FxHashMap<TermId, TermId>,
}

impl<'s> Transplant<'s> {
    /// Starts to move from a system.
    pub fn new(from: &'s System) -> Transplant<'s> {
        Transplant { from, copies: FxHashMap::default() }
    }

    /// Returns the same state in another system.
    pub fn state(&mut self, to: &mut System, state: StateId) -> StateId {
        let (processes, mail) = self.from.parts(state);
        let row: Vec<u32> = processes.iter().chain(mail).map(|term| self.term(to, TermId(*term)).0).collect();
        to.state(&row)
    }

    /// Returns the same values of shared variables in another system.
    pub fn binding(&mut self, to: &mut System, binding: BindingId) -> BindingId {
        let values = self.from.bound_values.values(&self.from.terms, binding);
        let values: Vec<TermId> = values.iter().map(|value| self.term(to, *value)).collect();
        to.bound_values.number(&mut to.terms, &values)
    }

    /// Copies a term.
    fn term(&mut self, to: &mut System, term: TermId) -> TermId {
        let mut todo = vec![(term, false)];
        while let Some((part, has_args)) = todo.pop() {
            if self.copies.contains_key(&part) {
                continue;
            }
            let args = self.from.terms.args(part);
            if !has_args && !args.is_empty() {
                todo.push((part, true));
                todo.extend(args.iter().map(|arg| (*arg, false)));
                continue;
            }
            let head = match self.from.terms.head(part) {
                Head::App(symbol) if !symbol.is_built_in() => {
                    Head::App(to.terms.symbols.intern(self.from.terms.symbols.name(symbol)))
                }
                head => head,
            };
            let args: Vec<TermId> = args.iter().map(|arg| self.copies[arg]).collect();
            self.copies.insert(part, to.terms.make(head, &args));
        }
        self.copies[&term]
    }
}
