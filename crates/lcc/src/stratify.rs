//! Checks stratification: no predicate and no rule may depend on its own absence.
//!
//! Negation as failure has a unique meaning only if there is no recursion through `not`, nor through the
//! condition of a permission that no rule forbids the action. Stratification is checked when an instance is
//! opened, and after each update that adds or removes conditions.

use masque_graph::component_numbers;
use masque_text::{Diagnostic, ReadLimits, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{FactDef, Known, Owner, Program};
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

/// Estimated bytes of the graph per dependency.
const BYTES_PER_EDGE: u64 = 160;
/// Steps of work to list the facts about one predicate.
const STEPS_PER_PREDICATE: u64 = 8;

/// Maximum number of recursions that are reported.
const MAX_REPORTED: usize = 20;

/// Returns a diagnostic for each recursion through negation, up to [`MAX_REPORTED`].
///
/// The time is linear in the program unless it is suspicious: first the predicates of all owners are taken
/// together, which merges vertices and so keeps every recursion. Only the predicates that then seem to depend
/// on their own absence are distinguished by owner, and only for owners that define one of them; to all others
/// they are what they are to an owner with common facts only. If a limit is exceeded, recursions may be missing.
pub(crate) fn stratify(program: &Program, terms: &Terms, limits: &ReadLimits) -> Vec<Diagnostic> {
    let mut together = Graph::new(terms, limits);
    together.facts(0, &program.common, |_| true);
    program.known.iter().for_each(|known| together.facts(0, known, |_| true));
    together.rules(program, |_| 0, |_| true);
    if !limits.may_continue() {
        return Vec::new();
    }
    let suspicious = together.cyclic_absences();
    if suspicious.is_empty() {
        return Vec::new();
    }
    let is_suspicious = |vertex: Vertex| {
        suspicious.contains(&match vertex {
            Vertex::Known(_, functor) => Vertex::Known(0, functor),
            rules => rules,
        })
    };
    let defines = |known: &Known| {
        let has_body = |facts: &[FactDef]| facts.iter().any(|fact| fact.body.is_some());
        known.iter().any(|(functor, facts)| is_suspicious(Vertex::Known(0, *functor)) && has_body(facts))
    };
    let own: Vec<bool> = program.known.iter().map(defines).collect();
    let mut graph = Graph::new(terms, limits);
    graph.facts(0, &program.common, is_suspicious);
    for (index, known) in program.known.iter().enumerate().filter(|(index, _)| own[*index]) {
        if !limits.may_continue() {
            return Vec::new();
        }
        graph.facts(index as u32 + 1, known, is_suspicious);
        graph.facts(index as u32 + 1, &program.common, is_suspicious);
    }
    let owner_vertex = |owner: Owner| if own[owner.0 as usize] { owner.0 + 1 } else { 0 };
    graph.rules(program, owner_vertex, is_suspicious);
    graph.recursions()
}

/// The dependencies between predicates and rules.
struct Graph<'t> {
    terms: &'t Terms,
    limits: &'t ReadLimits,
    edges: FxHashMap<Vertex, Vec<Edge>>,
    /// The keys of `edges` in the order of the text.
    vertices: Vec<Vertex>,
}

impl<'t> Graph<'t> {
    fn new(terms: &'t Terms, limits: &'t ReadLimits) -> Self {
        Graph { terms, limits, edges: FxHashMap::default(), vertices: Vec::new() }
    }

    /// Adds the dependencies of the facts of an owner whose vertex is selected.
    fn facts(&mut self, owner: u32, known: &Known, is_selected: impl Fn(Vertex) -> bool) {
        self.limits.work(known.len() as u64 * STEPS_PER_PREDICATE);
        let mut facts: Vec<_> =
            known.iter().flat_map(|(functor, facts)| facts.iter().map(move |f| (*functor, f))).collect();
        facts.sort_by_key(|(_, fact)| fact.span);
        for (functor, fact) in facts {
            let from = Vertex::Known(owner, functor);
            if let Some(body) = fact.body.filter(|_| is_selected(from) && self.limits.may_continue()) {
                self.body(from, owner, body, fact.span);
            }
        }
    }

    /// Adds the dependencies of the rules whose vertex is selected. `owner` numbers the enforcers.
    fn rules(
        &mut self,
        program: &Program,
        owner: impl Fn(Owner) -> u32,
        is_selected: impl Fn(Vertex) -> bool,
    ) {
        for rule in &program.rules {
            let (Some(body), Some(functor)) = (rule.body, self.terms.functor(rule.action)) else { continue };
            let from = Vertex::Rules(rule.permits, functor);
            if is_selected(from) && self.limits.may_continue() {
                self.body(from, owner(rule.enforcer), body, rule.span);
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
        self.limits.charge(BYTES_PER_EDGE);
        let edges = self.edges.entry(from).or_default();
        if edges.is_empty() {
            self.vertices.push(from);
        }
        edges.push(edge);
    }

    /// The component of each vertex that has edges.
    fn components(&self) -> FxHashMap<Vertex, usize> {
        let index: FxHashMap<Vertex, usize> = self.vertices.iter().copied().zip(0..).collect();
        let targets = |vertex: &Vertex| -> Vec<usize> {
            self.edges[vertex].iter().filter_map(|edge| index.get(&edge.to).copied()).collect()
        };
        let edges: Vec<Vec<usize>> = self.vertices.iter().map(targets).collect();
        self.vertices.iter().copied().zip(component_numbers(&edges)).collect()
    }

    /// The vertices of all components in which a vertex depends on the absence of another.
    fn cyclic_absences(&self) -> FxHashSet<Vertex> {
        let components = self.components();
        let mut found: FxHashSet<usize> = FxHashSet::default();
        for (vertex, edges) in &self.edges {
            let component = components[vertex];
            if edges.iter().any(|edge| edge.is_negative && components.get(&edge.to) == Some(&component)) {
                found.insert(component);
            }
        }
        self.vertices.iter().copied().filter(|vertex| found.contains(&components[vertex])).collect()
    }

    /// Describes the negative edges that lie on a cycle, each with a shortest path back.
    fn recursions(&self) -> Vec<Diagnostic> {
        let components = self.components();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        let mut reported: FxHashSet<Span> = FxHashSet::default();
        for from in &self.vertices {
            for edge in self.edges[from].iter().filter(|edge| edge.is_negative) {
                let is_cyclic = components.get(&edge.to) == Some(&components[from]);
                if !is_cyclic || reported.contains(&edge.span) {
                    continue;
                }
                let Some(back) = self.path(edge.to, *from) else { continue };
                reported.insert(edge.span);
                diagnostics.push(self.recursion(*from, edge, back));
                if diagnostics.len() == MAX_REPORTED {
                    return diagnostics;
                }
            }
        }
        diagnostics
    }

    /// The diagnostic about an edge, and the path from its target back to its source.
    fn recursion(&self, from: Vertex, edge: &Edge, back: Vec<(Vertex, Edge)>) -> Diagnostic {
        let message = format!("{} depends on its own absence", self.name(from));
        let mut diagnostic = Diagnostic::error("lcc/not-stratified", edge.span, message)
            .label(format!("requires that there is no {}", self.name(edge.to)));
        for (vertex, step) in back {
            let text = format!("{} asks for {}", self.name(vertex), self.name(step.to));
            diagnostic = diagnostic.also(step.span, text);
        }
        diagnostic.hint(
            "recursion may not go through `not`, nor through a permission, \
             which also requires that no rule forbids it",
        )
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

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use masque_text::{Sources, render};

    use super::*;
    use crate::lower::lower_part;
    use crate::parser::parse;

    /// The definition: all owners with all common facts, and a search for each negative edge.
    fn stratify_slowly(program: &Program, terms: &Terms) -> Vec<Diagnostic> {
        let limits = ReadLimits::default();
        let mut graph = Graph::new(terms, &limits);
        graph.facts(0, &program.common, |_| true);
        for (owner, known) in program.known.iter().enumerate() {
            graph.facts(owner as u32 + 1, known, |_| true);
            graph.facts(owner as u32 + 1, &program.common, |_| true);
        }
        graph.rules(program, |owner| owner.0 + 1, |_| true);
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for from in &graph.vertices {
            for edge in graph.edges[from].iter().filter(|edge| edge.is_negative) {
                let is_reported =
                    |d: &Diagnostic| d.primary.as_ref().map(|label| label.span) == Some(edge.span);
                if let Some(back) = graph.path(edge.to, *from)
                    && !diagnostics.iter().any(is_reported)
                {
                    diagnostics.push(graph.recursion(*from, edge, back));
                }
            }
        }
        diagnostics
    }

    /// A random instance with facts of three owners, common facts and rules.
    fn random_instance(rng: &mut Rng) -> String {
        let mut text = "a(r, X) :: null. agent a(r, o0). agent a(r, o1). agent a(r, o2).\n".to_string();
        for _ in 0..rng.usize(1..9) {
            let part = |rng: &mut Rng| {
                let predicate = format!("p{}", rng.u8(0..4));
                match rng.u8(0..7) {
                    0 => format!("not {predicate}"),
                    1 => format!("permit(X, X, act{})", rng.u8(0..2)),
                    2 => format!("not forbid(X, X, act{})", rng.u8(0..2)),
                    _ => predicate,
                }
            };
            let body = format!("{}, {}", part(rng), part(rng));
            let head = format!("p{}", rng.u8(0..4));
            text += &match rng.u8(0..5) {
                0 | 1 => format!("common {head} <- {body}.\n"),
                2 | 3 => format!("know o{}: {head} <- {body}.\n", rng.u8(0..3)),
                _ => {
                    let sign = ["+", "-"][rng.usize(0..2)];
                    format!("rule o{}: (X, X, {sign}act{}) <- {body}.\n", rng.u8(0..3), rng.u8(0..2))
                }
            };
        }
        text
    }

    /// Sizes at which time or memory that is not linear would not end.
    #[test]
    fn large_programs() {
        let n = 20_000;
        let negations = (0..n).map(|i| format!("common p{i} <- not p{}.\n", i + 1));
        let owners = (0..n).map(|i| format!("know o{i}: f.\ncommon c{i} <- q.\n"));
        let text: String = negations.chain(owners).collect();
        assert_eq!(diagnose(&text), "");
    }

    /// The diagnostics of statements beside a protocol, as text.
    fn diagnose(statements: &str) -> String {
        let text = format!("a(r, X) :: null. agent a(r, o0).\n{statements}");
        let mut sources = Sources::default();
        let file = sources.add("large.lcc", text).unwrap();
        let lowered = lower_part(&[parse(&sources, file).0], &[], true, sources.limits());
        let found = stratify(&lowered.program, &lowered.terms, sources.limits());
        found.iter().map(|diagnostic| render(&sources, diagnostic, false)).collect()
    }

    #[test]
    fn recursions_are_those_of_the_definition() {
        let mut n_wrong = 0;
        for seed in 0..3000 {
            let text = random_instance(&mut Rng::with_seed(seed));
            let mut sources = Sources::default();
            let file = sources.add("random.lcc", text.as_str()).unwrap();
            let (tree, errors) = parse(&sources, file);
            assert!(errors.is_empty(), "{text}{errors:?}");
            let lowered = lower_part(&[tree], &[], true, sources.limits());
            let drawn = |found: Vec<Diagnostic>| -> String {
                found.iter().map(|diagnostic| render(&sources, diagnostic, false)).collect()
            };
            let found = drawn(stratify(&lowered.program, &lowered.terms, sources.limits()));
            assert_eq!(
                found,
                drawn(stratify_slowly(&lowered.program, &lowered.terms)),
                "seed {seed}\n{text}"
            );
            n_wrong += usize::from(!found.is_empty());
        }
        assert!((500..2900).contains(&n_wrong), "{n_wrong}");
    }
}
