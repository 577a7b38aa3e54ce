//! The meaning of an obligation on runs: section 5.1, [D14], with messages as the actions of [D13].
//!
//! `(S, O, !A) after P until Q` is kept if, after every reachable transition that matches P, every maximal
//! run performs the act or something that matches Q. So no run of other steps from such a transition may
//! reach a state without transitions, or be infinite. A variable that P shares with the rest of the statement has
//! the value with which the transition matched P, and each of its values is an instance that must be kept.

use std::collections::BTreeMap;

use masque_mu::parse_pattern;
use masque_mu::tree::Pattern;
use masque_text::{Sources, for_each_piece};

use super::label::{Act, Shared, has_used, is_done, ways};
use super::step::Kind;
use super::system::{Reference, State};
use super::term::{Term, text};
use crate::lexer::Token;
use crate::tree::{Item, Obligation, Tree};

/// Whether an obligation is kept, and whether it is ever due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Whether the obligation is kept.
    pub holds: bool,
    /// Whether a reachable transition makes the obligation due.
    pub is_due: bool,
}

/// The whole state graph: for each state, the labels and targets of its transitions.
type Graph = Vec<Vec<(Vec<Act>, usize)>>;

impl Reference {
    /// Decides whether each obligation in the trees is kept, in the order of the text. `None` if a bound
    /// hides transitions, or if there are more than `max_states` states.
    pub fn obligations(&self, trees: &[Tree], sources: &Sources, max_states: usize) -> Option<Vec<Kept>> {
        let graph = self.graph(max_states)?;
        let items = trees.iter().flat_map(|tree| &tree.items);
        let obligations = items.filter_map(|item| match item {
            Item::Obligation(obligation) => Some(obligation),
            _ => None,
        });
        obligations.map(|obligation| Some(kept(&graph, &Duty::new(obligation, sources)?))).collect()
    }

    fn graph(&self, max_states: usize) -> Option<Graph> {
        let first = self.initial();
        let mut state_indices = BTreeMap::from([(self.text(&first), 0)]);
        let mut states: Vec<State> = vec![first];
        let mut graph = Graph::new();
        while let Some(state) = states.get(graph.len()).cloned() {
            let (transitions, false) = self.successors(&state).ok()? else { return None };
            let mut next = Vec::new();
            for transition in transitions {
                let target_index =
                    *state_indices.entry(self.text(&transition.target)).or_insert(states.len());
                if target_index == states.len() {
                    states.push(transition.target);
                }
                next.push((transition.acts, target_index));
            }
            if states.len() > max_states {
                return None;
            }
            graph.push(next);
        }
        Some(graph)
    }
}

/// An obligation, read by definition.
pub struct Duty<'o> {
    obligation: &'o Obligation,
    after: Pattern,
    until: Option<Pattern>,
    /// The variables that `after` shares with the rest of the statement.
    shared: Vec<String>,
}

/// The values of the shared variables of a duty: an instance.
pub type Values = Vec<Term>;

impl<'o> Duty<'o> {
    /// Reads an obligation; `None` if a pattern has errors.
    pub fn new(obligation: &'o Obligation, sources: &Sources) -> Option<Duty<'o>> {
        let pattern = |span| parse_pattern(sources, span).0;
        let after = pattern(obligation.after)?;
        let until = match obligation.until {
            Some(span) => Some(pattern(span)?),
            None => None,
        };
        let texts = [&obligation.subject, &obligation.object, &obligation.action].map(|term| term.span);
        let rest: Vec<String> = texts
            .into_iter()
            .chain(obligation.until)
            .flat_map(|span| variables(sources.slice(span)))
            .collect();
        let mut shared = variables(sources.slice(obligation.after));
        shared.retain(|name| rest.contains(name));
        Some(Duty { obligation, after, until, shared })
    }

    /// Returns the instances that a label makes due, without duplicates.
    pub fn triggered(&self, label: &[Act]) -> Vec<Values> {
        let mut found = ways(label, &self.after, Shared { names: &self.shared, values: &[] });
        found.sort_by_key(|values| format!("{values:?}"));
        found.dedup();
        found
    }

    /// Whether S performs the act of an instance: sends M to O, receives M from O, or makes a step with the
    /// constraint A.
    pub fn is_met(&self, values: &Values, label: &[Act]) -> bool {
        let shared = Shared { names: &self.shared, values };
        let mut scope = shared.scope();
        scope.this = Some(text(&scope.term(&self.obligation.enforcer)));
        let Obligation { subject, object, action, .. } = self.obligation;
        let [subject, object, action] = [subject, object, action].map(|term| scope.term(term));
        let other = match object.key() {
            Some(("a", 2)) => object,
            _ => Term::App("a".to_string(), vec![Term::Var(999_999), object]),
        };
        let ways = match &action {
            Term::App(name, args) if name == "send" && args.len() == 1 => {
                is_done(label, Kind::Sent, &[args[0].clone(), other], Some(&subject), shared)
            }
            Term::App(name, args) if name == "receive" && args.len() == 1 => {
                is_done(label, Kind::Taken, &[args[0].clone(), other], Some(&subject), shared)
            }
            _ => has_used(label, &action, Some(&subject), shared),
        };
        !ways.is_empty()
    }

    /// Whether an instance ends by `until`.
    pub fn is_discharged(&self, values: &Values, label: &[Act]) -> bool {
        let shared = Shared { names: &self.shared, values };
        self.until.as_ref().is_some_and(|until| !ways(label, until, shared).is_empty())
    }

    /// Returns the names of the shared variables with their values in an instance, as texts.
    pub fn bindings(&self, values: &Values) -> Vec<(String, String)> {
        self.shared.iter().cloned().zip(values.iter().map(text)).collect()
    }
}

/// Returns the variables in a text, in its order and without duplicates.
fn variables(slice: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for_each_piece::<Token>(slice, &mut |piece| {
        let is_variable = piece.text.starts_with(|first: char| first.is_uppercase() || first == '_');
        if is_variable && piece.text != "_" && !found.iter().any(|name| name == piece.text) {
            found.push(piece.text.to_string());
        }
    });
    found
}

fn kept(graph: &Graph, duty: &Duty<'_>) -> Kept {
    let mut kept = Kept { holds: true, is_due: false };
    for (label, to) in graph.iter().flatten() {
        for values in duty.triggered(label) {
            kept.is_due = true;
            let ends = |label: &[Act]| duty.is_met(&values, label) || duty.is_discharged(&values, label);
            // The graph of the steps that neither fulfil nor end this instance.
            let others: Vec<Vec<usize>> = graph
                .iter()
                .map(|next| next.iter().filter(|(label, _)| !ends(label)).map(|(_, to)| *to).collect())
                .collect();
            kept.holds = kept.holds && !can_avoid(graph, &others, *to);
        }
    }
    kept
}

/// Whether a run of other steps from a state reaches a state without transitions, or is infinite.
fn can_avoid(graph: &Graph, others: &[Vec<usize>], state: usize) -> bool {
    let mut reached = vec![state];
    let mut done = 0;
    while let Some(state_index) = reached.get(done).copied() {
        done += 1;
        if graph[state_index].is_empty() {
            return true;
        }
        for to in &others[state_index] {
            if !reached.contains(to) {
                reached.push(*to);
            }
        }
    }
    // An infinite run exists if and only if there is a cycle: remove states without remaining successors
    // until nothing changes.
    let mut left = reached;
    loop {
        let before = left.len();
        let rest = left.clone();
        left.retain(|state_index| others[*state_index].iter().any(|to| rest.contains(to)));
        if left.len() == before {
            return before > 0;
        }
    }
}
