//! What an obligation means, on runs: section 5.1, [D14], with messages as the actions of [D13].
//!
//! `(S, O, !A) after P until Q` is kept if after every reachable transition that matches P, every run
//! that goes on as long as it can performs the act or something that matches Q. So there must be no run
//! from such a transition, of other steps only, that comes to a state without transitions or goes on for
//! ever.

use std::collections::BTreeMap;

use masque_mu::parse_pattern;
use masque_mu::tree::Pattern;
use masque_text::Sources;

use super::instance::Scope;
use super::label::{Act, has_used, is_done, matches};
use super::step::Kind;
use super::system::{Reference, State};
use super::term::{Term, text};
use crate::tree::{Duty, Item, Tree};

/// Whether an obligation is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Whether it is.
    pub holds: bool,
    /// Whether it is ever due.
    pub is_due: bool,
}

/// The whole graph: for each state its transitions, with the number of where they lead.
type Graph = Vec<Vec<(Vec<Act>, usize)>>;

impl Reference {
    /// Whether each obligation in the trees is kept, in the order of the text. There is no answer if a
    /// bound hides transitions, or if there are more states than `most`.
    pub fn obligations(&self, trees: &[Tree], sources: &Sources, most: usize) -> Option<Vec<Kept>> {
        let graph = self.graph(most)?;
        let items = trees.iter().flat_map(|tree| &tree.items);
        let duties = items.filter_map(|item| match item {
            Item::Duty(duty) => Some(duty),
            _ => None,
        });
        duties.map(|duty| kept(&graph, duty, sources)).collect()
    }

    fn graph(&self, most: usize) -> Option<Graph> {
        let first = self.initial();
        let mut numbers = BTreeMap::from([(self.text(&first), 0)]);
        let mut states: Vec<State> = vec![first];
        let mut graph = Graph::new();
        while let Some(state) = states.get(graph.len()).cloned() {
            let (transitions, false) = self.successors(&state).ok()? else { return None };
            let mut next = Vec::new();
            for transition in transitions {
                let number = *numbers.entry(self.text(&transition.target)).or_insert(states.len());
                if number == states.len() {
                    states.push(transition.target);
                }
                next.push((transition.acts, number));
            }
            if states.len() > most {
                return None;
            }
            graph.push(next);
        }
        Some(graph)
    }
}

fn kept(graph: &Graph, duty: &Duty, sources: &Sources) -> Option<Kept> {
    let pattern = |span| parse_pattern(sources, span).0;
    let after = pattern(duty.after)?;
    let until: Option<Pattern> = match duty.until {
        Some(span) => Some(pattern(span)?),
        None => None,
    };
    let ends = |label: &[Act]| {
        label.iter().any(|act| is_act(act, duty)) || until.as_ref().is_some_and(|q| matches(label, q))
    };
    // The graph of the steps that leave the obligation as it is.
    let others: Vec<Vec<usize>> = graph
        .iter()
        .map(|next| next.iter().filter(|(label, _)| !ends(label)).map(|(_, to)| *to).collect())
        .collect();
    let mut due = Vec::new();
    for (label, to) in graph.iter().flatten() {
        if matches(label, &after) {
            due.push(*to);
        }
    }
    let holds = !due.iter().any(|state| can_avoid(graph, &others, *state));
    Some(Kept { holds, is_due: !due.is_empty() })
}

/// Whether a run of other steps comes from a state to a dead end or goes on for ever.
fn can_avoid(graph: &Graph, others: &[Vec<usize>], state: usize) -> bool {
    let mut reached = vec![state];
    let mut done = 0;
    while let Some(at) = reached.get(done).copied() {
        done += 1;
        if graph[at].is_empty() {
            return true;
        }
        for to in &others[at] {
            if !reached.contains(to) {
                reached.push(*to);
            }
        }
    }
    // A run goes on for ever if and only if there is a cycle: take away what leads nowhere that is left.
    let mut left = reached;
    loop {
        let before = left.len();
        let rest = left.clone();
        left.retain(|at| others[*at].iter().any(|to| rest.contains(to)));
        if left.len() == before {
            return before > 0;
        }
    }
}

/// Whether S does what it must: it sends M to O, takes M from O, or does what the constraint A allows.
fn is_act(act: &Act, duty: &Duty) -> bool {
    let mut scope = Scope::default();
    scope.this = Some(text(&scope.term(&duty.enforcer)));
    let [subject, object, action] = [&duty.subject, &duty.object, &duty.action].map(|term| scope.term(term));
    let other = match object.key() {
        Some(("a", 2)) => object,
        _ => Term::App("a".to_string(), vec![Term::Var(999_999), object]),
    };
    match &action {
        Term::App(name, args) if name == "send" && args.len() == 1 => {
            is_done(act, Kind::Sent, &[args[0].clone(), other], Some(&subject))
        }
        Term::App(name, args) if name == "receive" && args.len() == 1 => {
            is_done(act, Kind::Taken, &[args[0].clone(), other], Some(&subject))
        }
        _ => has_used(act, &action, Some(&subject)),
    }
}
