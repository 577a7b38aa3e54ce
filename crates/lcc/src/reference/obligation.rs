//! The meaning of an obligation on runs: section 5.1, [D14], with messages as the actions of [D13].
//!
//! `(S, O, !A) after P until Q` is kept if, after every reachable transition that matches P, every maximal
//! run performs the act or something that matches Q. So no run of other steps from such a transition may
//! reach a state without transitions, or be infinite.

use std::collections::BTreeMap;

use masque_mu::parse_pattern;
use masque_mu::tree::Pattern;
use masque_text::Sources;

use super::instance::Scope;
use super::label::{Act, has_used, is_done, matches};
use super::step::Kind;
use super::system::{Reference, State};
use super::term::{Term, text};
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
        obligations.map(|obligation| kept(&graph, obligation, sources)).collect()
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

fn kept(graph: &Graph, obligation: &Obligation, sources: &Sources) -> Option<Kept> {
    let pattern = |span| parse_pattern(sources, span).0;
    let after = pattern(obligation.after)?;
    let until: Option<Pattern> = match obligation.until {
        Some(span) => Some(pattern(span)?),
        None => None,
    };
    let ends = |label: &[Act]| {
        label.iter().any(|act| is_act(act, obligation)) || until.as_ref().is_some_and(|q| matches(label, q))
    };
    // The graph of the steps that neither fulfil nor end the obligation.
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

/// Whether S performs the act: sends M to O, receives M from O, or makes a step with the constraint A.
fn is_act(act: &Act, obligation: &Obligation) -> bool {
    let mut scope = Scope::default();
    scope.this = Some(text(&scope.term(&obligation.enforcer)));
    let [subject, object, action] =
        [&obligation.subject, &obligation.object, &obligation.action].map(|term| scope.term(term));
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
