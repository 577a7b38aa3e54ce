//! Checks stratification: no predicate and no rule may depend on its own absence.
//!
//! Negation as failure has a unique meaning only if there is no recursion through `not`, nor through the
//! condition of a permission that no rule forbids the action. Stratification is checked when an instance is
//! opened, and after each update that adds or removes conditions.

use masque_text::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Known, Program};
use crate::symbol::Symbol;
use crate::term::{Functor, TermId, Terms};

/// A vertex of the dependency graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Vertex {
    /// A predicate as an owner knows it. Owners are counted from 1; 0 stands for an owner with common facts
    /// only.
    Known(u32, Functor),
    /// The rules that permit (`true`) or forbid (`false`) an action.
    Rules(bool, Functor),
}

/// A dependency on another vertex.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: Vertex,
    /// Whether the dependency is on the absence of the vertex.
    is_negative: bool,
    /// Location of the fact or rule.
    span: Span,
}

/// Returns a diagnostic for each recursion through negation.
pub(crate) fn stratify(program: &Program, terms: &Terms) -> Vec<Diagnostic> {
    let mut graph = Graph { terms, edges: FxHashMap::default(), vertices: Vec::new() };
    graph.facts(0, &program.common);
    for (owner, known) in program.known.iter().enumerate() {
        graph.facts(owner as u32 + 1, known);
        graph.facts(owner as u32 + 1, &program.common);
    }
    for rule in &program.rules {
        let (Some(body), Some(functor)) = (rule.body, terms.functor(rule.action)) else { continue };
        graph.body(Vertex::Rules(rule.permits, functor), rule.enforcer.0 + 1, body, rule.span);
    }
    graph.recursions()
}

struct Graph<'t> {
    terms: &'t Terms,
    edges: FxHashMap<Vertex, Vec<Edge>>,
    /// The keys of `edges` in the order of the text.
    vertices: Vec<Vertex>,
}

impl Graph<'_> {
    fn facts(&mut self, owner: u32, known: &Known) {
        let mut facts: Vec<_> =
            known.iter().flat_map(|(functor, facts)| facts.iter().map(move |f| (*functor, f))).collect();
        facts.sort_by_key(|(_, fact)| fact.span);
        for (functor, fact) in facts {
            if let Some(body) = fact.body {
                self.body(Vertex::Known(owner, functor), owner, body, fact.span);
            }
        }
    }

    /// Adds the edges from a fact or rule to what its body asks for.
    fn body(&mut self, from: Vertex, owner: u32, body: TermId, span: Span) {
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
                        self.edge(from, Edge { to: Vertex::Rules(true, action), is_negative, span });
                        self.edge(from, Edge { to: Vertex::Rules(false, action), is_negative: true, span });
                    } else {
                        self.edge(from, Edge { to: Vertex::Rules(false, action), is_negative, span });
                    }
                }
                (name, _) if name.is_built_in() => {}
                _ => self.edge(from, Edge { to: Vertex::Known(owner, functor), is_negative, span }),
            }
        }
    }

    fn edge(&mut self, from: Vertex, edge: Edge) {
        let edges = self.edges.entry(from).or_default();
        if edges.is_empty() {
            self.vertices.push(from);
        }
        edges.push(edge);
    }

    fn recursions(&self) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for from in &self.vertices {
            for edge in self.edges[from].iter().filter(|edge| edge.is_negative) {
                let Some(back) = self.path(edge.to, *from) else { continue };
                let is_reported =
                    |d: &Diagnostic| d.primary.as_ref().is_some_and(|label| label.span == edge.span);
                if diagnostics.iter().any(is_reported) {
                    continue;
                }
                let what = self.name(*from);
                let message = format!("{what} depends on its own absence");
                let mut diagnostic = Diagnostic::error("lcc/not-stratified", edge.span, message)
                    .label(format!("requires that there is no {}", self.name(edge.to)));
                for (vertex, step) in back {
                    let text = format!("{} asks for {}", self.name(vertex), self.name(step.to));
                    diagnostic = diagnostic.also(step.span, text);
                }
                diagnostics.push(diagnostic.hint(
                    "recursion may not go through `not`, nor through a permission, \
                     which also requires that no rule forbids it",
                ));
            }
        }
        diagnostics
    }

    /// Returns the edges of a shortest path, each with its source.
    fn path(&self, from: Vertex, to: Vertex) -> Option<Vec<(Vertex, Edge)>> {
        let mut seen = FxHashSet::from_iter([from]);
        let mut queue: Vec<(Vertex, Option<(usize, Edge)>)> = vec![(from, None)];
        let mut index = 0;
        while index < queue.len() {
            let vertex = queue[index].0;
            if vertex == to {
                let mut path = Vec::new();
                let mut here = index;
                while let Some((before, edge)) = queue[here].1 {
                    path.push((queue[before].0, edge));
                    here = before;
                }
                path.reverse();
                return Some(path);
            }
            for edge in self.edges.get(&vertex).into_iter().flatten() {
                if seen.insert(edge.to) {
                    queue.push((edge.to, Some((index, *edge))));
                }
            }
            index += 1;
        }
        None
    }

    fn name(&self, vertex: Vertex) -> String {
        let text = |functor: Functor| format!("{}/{}", self.terms.symbols.name(functor.name), functor.arity);
        match vertex {
            Vertex::Known(_, functor) => format!("`{}`", text(functor)),
            Vertex::Rules(true, functor) => format!("permission of `{}`", text(functor)),
            Vertex::Rules(false, functor) => format!("prohibition of `{}`", text(functor)),
        }
    }
}
