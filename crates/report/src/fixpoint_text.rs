//! Unfolded fixpoints as text: a numbered line for each claim that does not just lead to one other claim.

use std::io;

use masque_driver::{DecidedBy, StateId, UnfoldedClaim, Unfolding};

use crate::evidence_text::{EvidenceWriter, number};
use crate::lines::{PLAIN, STATE};
use crate::wording::enumeration;

impl EvidenceWriter<'_, '_> {
    /// Writes the claims that a fixpoint depends on, each with those that decide it.
    pub(crate) fn unfolding(&mut self, claim: &str, unfolding: &Unfolding) -> io::Result<()> {
        let claims = NumberedClaims::new(&unfolding.nodes);
        if claims.order.is_empty() {
            return self.head(&format!("{claim} because {}", self.reference(&claims, 0)));
        }
        self.head(&format!("{claim} by these claims, each decided by those it refers to"))?;
        for (position, &index) in claims.order.iter().enumerate().take(self.limits.claims) {
            let node = &claims.nodes[index];
            self.write_new_state(node.state)?;
            let what = self.context.claim(node.formula, node.holds);
            let why = self.why(&claims, node);
            let text = format!("({}) {what} at {} because {why}", position + 1, number(node.state));
            self.lines.sentence(PLAIN, "  ", &text)?;
            if let DecidedBy::Possible { path: Some(path), node: other, .. } = &node.by {
                self.reached(claims.nodes[*other].state, path, false)?;
            }
            // A numbered claim shows its state when it is written itself.
            for next in targets(node) {
                if claims.number(claims.end(next)).is_none() {
                    self.write_new_state(claims.nodes[next].state)?;
                }
            }
        }
        self.left_out(claims.order.len().saturating_sub(self.limits.claims), "")
    }

    /// Writes the values of a state that was not shown before.
    fn write_new_state(&mut self, state: StateId) -> io::Result<()> {
        let Some(values) = self.unless_shown(state) else { return Ok(()) };
        self.lines.flow(&[(STATE, format!("  {}  ", number(state)))], "      ", &values, ", ")
    }

    /// What decides a claim, in words that follow "because".
    fn why(&self, claims: &NumberedClaims<'_>, node: &UnfoldedClaim) -> String {
        let state = |index: usize| number(claims.nodes[index].state);
        match &node.by {
            DecidedBy::Reason(_) => self.context.claim(node.formula, node.holds),
            DecidedBy::Nodes(list) => {
                enumeration(&list.iter().map(|&index| self.reference(claims, index)).collect::<Vec<_>>())
            }
            DecidedBy::Steps(list) if list.is_empty() => "there is no such step".to_string(),
            DecidedBy::Steps(list) => {
                let step = |(joint, index): &(Option<_>, usize)| {
                    let actions = self.doing(joint.as_ref(), node.state, claims.nodes[*index].state);
                    let actions: Vec<String> = actions.into_iter().map(|piece| piece.1).collect();
                    let then = self.reference(claims, *index);
                    format!("{} leads to {}, where {then}", actions.join(", "), state(*index))
                };
                list.iter().map(step).collect::<Vec<_>>().join("; ")
            }
            DecidedBy::Possible { view, node: other, .. } => {
                let (who, then) = (self.context.agents(view), self.reference(claims, *other));
                if who.is_empty() {
                    return format!("{then} at {}", state(*other));
                }
                format!(
                    "{who} cannot distinguish {} from {}, where {then}",
                    number(node.state),
                    state(*other)
                )
            }
            DecidedBy::Alike(list) if list.is_empty() => "no state is possible there".to_string(),
            DecidedBy::Alike(list) => {
                let at = |&index: &usize| format!("{} at {}", self.reference(claims, index), state(index));
                let all: Vec<String> = list.iter().map(at).collect();
                format!("at all states that are possible there: {}", enumeration(&all))
            }
        }
    }

    /// The claim at an index: its number, or the claim itself if it has a reason of its own.
    fn reference(&self, claims: &NumberedClaims<'_>, index: usize) -> String {
        let index = claims.end(index);
        match claims.number(index) {
            Some(number) => format!("({number}) holds"),
            None => self.context.claim(claims.nodes[index].formula, claims.nodes[index].holds),
        }
    }
}

/// The claims of an unfolding, and the indices of those that get a number, in order.
struct NumberedClaims<'u> {
    nodes: &'u [UnfoldedClaim],
    order: Vec<usize>,
}

impl<'u> NumberedClaims<'u> {
    fn new(nodes: &'u [UnfoldedClaim]) -> Self {
        let mut claims = NumberedClaims { nodes, order: Vec::new() };
        claims.add(0);
        let mut at = 0;
        while let Some(&index) = claims.order.get(at) {
            at += 1;
            targets(&nodes[index]).into_iter().for_each(|next| claims.add(next));
        }
        claims
    }

    /// Adds the claim that an index leads to, unless it is known or has a reason of its own.
    fn add(&mut self, index: usize) {
        let index = self.end(index);
        if !matches!(self.nodes[index].by, DecidedBy::Reason(_)) && !self.order.contains(&index) {
            self.order.push(index);
        }
    }

    /// Follows claims that lead to exactly one claim at the same state.
    fn end(&self, mut index: usize) -> usize {
        // A variable and its fixpoint may lead to each other forever, as in `nu Z. Z`.
        for _ in 0..self.nodes.len() {
            match &self.nodes[index].by {
                DecidedBy::Nodes(list) if list.len() == 1 => index = list[0],
                _ => break,
            }
        }
        index
    }

    fn number(&self, index: usize) -> Option<usize> {
        self.order.iter().position(|&known| known == index).map(|position| position + 1)
    }
}

/// Indices of the claims that a claim refers to.
fn targets(node: &UnfoldedClaim) -> Vec<usize> {
    match &node.by {
        DecidedBy::Reason(_) => Vec::new(),
        DecidedBy::Nodes(list) | DecidedBy::Alike(list) => list.clone(),
        DecidedBy::Steps(list) => list.iter().map(|step| step.1).collect(),
        DecidedBy::Possible { node, .. } => vec![*node],
    }
}
