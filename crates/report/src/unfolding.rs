//! Unfolded fixpoints as text: a numbered line for each claim that does not just pass another on.

use std::io;

use masque_driver::{Node, StateId, Support, Unfolding};

use crate::lines::{PLAIN, STATE};
use crate::show::{MOST_TOLD, Teller, number};

impl Teller<'_, '_> {
    /// The claims that a fixpoint rests on, each with those that decide it.
    pub(crate) fn unfolding(&mut self, claim: &str, unfolding: &Unfolding) -> io::Result<()> {
        let told = Told::new(&unfolding.nodes);
        if told.order.is_empty() {
            let end = told.end(&unfolding.nodes, 0);
            return self.head(&format!("{claim}, for {}", self.about(&unfolding.nodes, &told, end)));
        }
        self.head(&format!("{claim}, by these claims, each for what it leads to"))?;
        for (position, &place) in told.order.iter().enumerate().take(MOST_TOLD) {
            let node = &unfolding.nodes[place];
            self.meet(node.state)?;
            let what = self.frame.claim(node.formula, node.holds);
            let why = self.why(&unfolding.nodes, &told, node);
            let text = format!("({}) {what} at {}, for {why}", position + 1, number(node.state));
            self.lines.sentence(PLAIN, "  ", &text)?;
            if let Support::Possible { path: Some(path), node: other, .. } = &node.by {
                self.reached(unfolding.nodes[*other].state, path, false)?;
            }
            // What is told of others shows their states, too.
            for next in targets(node) {
                if told.number(told.end(&unfolding.nodes, next)).is_none() {
                    self.meet(unfolding.nodes[next].state)?;
                }
            }
        }
        self.left_out(told.order.len().saturating_sub(MOST_TOLD), "")
    }

    /// Shows a state that was not shown before.
    fn meet(&mut self, state: StateId) -> io::Result<()> {
        let Some(values) = self.unless_shown(state) else { return Ok(()) };
        self.lines.flow(&[(STATE, format!("  {}  ", number(state)))], "      ", &values, ", ")
    }

    /// What decides a claim.
    fn why(&self, nodes: &[Node], told: &Told, node: &Node) -> String {
        let all = |list: &[usize]| {
            let ends = list.iter().map(|&place| self.about(nodes, told, told.end(nodes, place)));
            ends.collect::<Vec<_>>().join(", ")
        };
        match &node.by {
            Support::Reason(_) => self.frame.claim(node.formula, node.holds),
            Support::Nodes(list) => all(list),
            Support::Steps(list) if list.is_empty() => "there is no such step".to_string(),
            Support::Steps(list) => {
                let step = |(joint, place): &(Option<_>, usize)| {
                    let after = nodes[*place].state;
                    let doing: Vec<String> = self
                        .doing(joint.as_ref(), node.state, after)
                        .into_iter()
                        .map(|piece| piece.1)
                        .collect();
                    let then = self.about(nodes, told, told.end(nodes, *place));
                    format!("{} leads to {}, where {then}", doing.join(", "), number(after))
                };
                list.iter().map(step).collect::<Vec<_>>().join("; ")
            }
            Support::Possible { view, node: place, .. } => {
                let who = self.frame.agents(view);
                let then = self.about(nodes, told, told.end(nodes, *place));
                let other = number(nodes[*place].state);
                match who.is_empty() {
                    true => format!("there is {other}, where {then}"),
                    false => format!("{who} cannot tell it from {other}, where {then}"),
                }
            }
            Support::Alike(list) if list.is_empty() => "no state must be reckoned with".to_string(),
            Support::Alike(list) => {
                let at = |&place: &usize| {
                    let then = self.about(nodes, told, told.end(nodes, place));
                    format!("{then} at {}", number(nodes[place].state))
                };
                let all: Vec<String> = list.iter().map(at).collect();
                format!("of all states that must be reckoned with there {}", all.join(", "))
            }
        }
    }

    /// A claim that something leads to: its number, or the claim itself if it has a reason of its own.
    fn about(&self, nodes: &[Node], told: &Told, place: usize) -> String {
        match told.number(place) {
            Some(number) => format!("({number})"),
            None => self.frame.claim(nodes[place].formula, nodes[place].holds),
        }
    }
}

/// Which nodes are told, in order.
struct Told {
    order: Vec<usize>,
}

impl Told {
    fn new(nodes: &[Node]) -> Told {
        let mut told = Told { order: Vec::new() };
        let is_told = |place: &usize| !matches!(nodes[*place].by, Support::Reason(_));
        told.order.extend(Some(told.end(nodes, 0)).filter(is_told));
        let mut at = 0;
        while let Some(&place) = told.order.get(at) {
            at += 1;
            for next in targets(&nodes[place]) {
                let next = told.end(nodes, next);
                if is_told(&next) && !told.order.contains(&next) {
                    told.order.push(next);
                }
            }
        }
        told
    }

    /// Where a node leads that only passes another on.
    fn end(&self, nodes: &[Node], mut place: usize) -> usize {
        // A variable and its fixpoint may pass each other on for ever, as in `nu Z. Z`.
        for _ in 0..nodes.len() {
            match &nodes[place].by {
                Support::Nodes(list) if list.len() == 1 => place = list[0],
                _ => break,
            }
        }
        place
    }

    fn number(&self, place: usize) -> Option<usize> {
        self.order.iter().position(|&told| told == place).map(|position| position + 1)
    }
}

/// The nodes that a node leads to.
pub(crate) fn targets(node: &Node) -> Vec<usize> {
    match &node.by {
        Support::Reason(_) => Vec::new(),
        Support::Nodes(list) | Support::Alike(list) => list.clone(),
        Support::Steps(list) => list.iter().map(|step| step.1).collect(),
        Support::Possible { node, .. } => vec![*node],
    }
}
