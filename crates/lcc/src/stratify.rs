//! No predicate and no rule may depend on its own absence.
//!
//! Negation as failure has one reading only if there is no recursion through `not`, nor through
//! the "and no rule forbids it" of a permission. That is checked once, when an instance is opened.

use masque_text::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Known, Program};
use crate::symbol::Symbol;
use crate::term::{Functor, TermId, Terms};

/// What can depend on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// A predicate as an owner knows it; owners are counted from 1, 0 is whoever knows only what
    /// everybody does.
    Known(u32, Functor),
    /// The rules of a sign for an action.
    Rules(bool, Functor),
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: Node,
    is_negative: bool,
    span: Span,
}

/// A message for each recursion through negation.
pub(crate) fn stratify(program: &Program, terms: &Terms) -> Vec<Diagnostic> {
    let mut graph = Graph { terms, edges: FxHashMap::default(), nodes: Vec::new() };
    graph.facts(0, &program.common);
    for (owner, known) in program.known.iter().enumerate() {
        graph.facts(owner as u32 + 1, known);
        graph.facts(owner as u32 + 1, &program.common);
    }
    for rule in &program.rules {
        let (Some(body), Some(functor)) = (rule.body, terms.functor(rule.action)) else { continue };
        graph.body(Node::Rules(rule.permits, functor), rule.enforcer.0 + 1, body, rule.span);
    }
    graph.recursions()
}

struct Graph<'t> {
    terms: &'t Terms,
    edges: FxHashMap<Node, Vec<Edge>>,
    /// The keys of `edges` in the order of the text.
    nodes: Vec<Node>,
}

impl Graph<'_> {
    fn facts(&mut self, owner: u32, known: &Known) {
        let mut facts: Vec<_> =
            known.iter().flat_map(|(functor, facts)| facts.iter().map(move |f| (*functor, f))).collect();
        facts.sort_by_key(|(_, fact)| fact.span);
        for (functor, fact) in facts {
            if let Some(body) = fact.body {
                self.body(Node::Known(owner, functor), owner, body, fact.span);
            }
        }
    }

    /// The edges from a clause to what its body asks.
    fn body(&mut self, from: Node, owner: u32, body: TermId, span: Span) {
        let mut stack = vec![(body, false)];
        while let Some((part, is_negative)) = stack.pop() {
            let Some(functor) = self.terms.functor(part) else { continue };
            let args = self.terms.args(part);
            match (functor.name, args) {
                (Symbol::AND | Symbol::OR, [left, right]) => {
                    stack.extend([(*right, is_negative), (*left, is_negative)]);
                }
                (Symbol::NOT, [inner]) => stack.push((*inner, true)),
                (Symbol::PERMIT | Symbol::FORBID, [_, _, action]) => {
                    let Some(action) = self.terms.functor(*action) else { continue };
                    if functor.name == Symbol::PERMIT {
                        self.edge(from, Edge { to: Node::Rules(true, action), is_negative, span });
                        self.edge(from, Edge { to: Node::Rules(false, action), is_negative: true, span });
                    } else {
                        self.edge(from, Edge { to: Node::Rules(false, action), is_negative, span });
                    }
                }
                (name, _) if name.is_built_in() => {}
                _ => self.edge(from, Edge { to: Node::Known(owner, functor), is_negative, span }),
            }
        }
    }

    fn edge(&mut self, from: Node, edge: Edge) {
        let edges = self.edges.entry(from).or_default();
        if edges.is_empty() {
            self.nodes.push(from);
        }
        edges.push(edge);
    }

    fn recursions(&self) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for from in &self.nodes {
            for edge in self.edges[from].iter().filter(|edge| edge.is_negative) {
                let Some(back) = self.path(edge.to, *from) else { continue };
                let is_said =
                    |d: &Diagnostic| d.primary.as_ref().is_some_and(|label| label.span == edge.span);
                if diagnostics.iter().any(is_said) {
                    continue;
                }
                let what = self.name(*from);
                let message = format!("{what} depends on its own absence");
                let mut diagnostic = Diagnostic::error("lcc/not-stratified", edge.span, message)
                    .label(format!("needs that there is no {}", self.name(edge.to)));
                for (node, step) in back {
                    let text = format!("{} asks for {}", self.name(node), self.name(step.to));
                    diagnostic = diagnostic.also(step.span, text);
                }
                diagnostics.push(diagnostic.hint(
                    "recursion may not go through `not`, nor through a permission, \
                     which also needs that no rule forbids it",
                ));
            }
        }
        diagnostics
    }

    /// The edges of a shortest path.
    fn path(&self, from: Node, to: Node) -> Option<Vec<(Node, Edge)>> {
        let mut seen = FxHashSet::from_iter([from]);
        let mut queue: Vec<(Node, Option<(usize, Edge)>)> = vec![(from, None)];
        let mut at = 0;
        while at < queue.len() {
            let node = queue[at].0;
            if node == to {
                let mut path = Vec::new();
                let mut here = at;
                while let Some((before, edge)) = queue[here].1 {
                    path.push((queue[before].0, edge));
                    here = before;
                }
                path.reverse();
                return Some(path);
            }
            for edge in self.edges.get(&node).into_iter().flatten() {
                if seen.insert(edge.to) {
                    queue.push((edge.to, Some((at, *edge))));
                }
            }
            at += 1;
        }
        None
    }

    fn name(&self, node: Node) -> String {
        let text = |functor: Functor| format!("{}/{}", self.terms.symbols.name(functor.name), functor.arity);
        match node {
            Node::Known(_, functor) => format!("`{}`", text(functor)),
            Node::Rules(true, functor) => format!("permission of `{}`", text(functor)),
            Node::Rules(false, functor) => format!("prohibition of `{}`", text(functor)),
        }
    }
}
