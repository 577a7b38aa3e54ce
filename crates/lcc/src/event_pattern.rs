//! Patterns of observed events: any of kind, sender, receiver, acting agent, message and constraint.
//!
//! A pattern matches a label if it matches one of its sides. Its parts are terms whose variables are shared, so
//! `order(X)` as the message and `stock(X)` as the constraint are about the same X. Where a label leaves a variable
//! open and the pattern has a term, the event had that term: the *instance* of the label has it, too.
//!
//! ```text
//! label     out(order(_0), a(shop, s))@a(buyer, b) {stock(_0)}
//! pattern   message order(5), from b
//! instance  out(order(5), a(shop, s))@a(buyer, b) {stock(5)}
//! ```

use masque_mu::LabelId;
use masque_text::Diagnostic;

use crate::handshake::{as_exchanged, with_exchange_of};
use crate::lower::Scope;
use crate::parser::{parse_literal, parse_term};
use crate::session::EventKind;
use crate::step::annotation;
use crate::symbol::Symbol;
use crate::system::{LabelTerm, System, label_id};
use crate::term::{Bindings, TermId, Terms};
use crate::tree::{Constraint, Term};

/// A partial description of an event, as texts in the syntax of the language. `None` matches anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventText {
    /// Kind of the event. A sending or a receipt may be one side of an exchange.
    pub kind: Option<EventKind>,
    /// Sender: an id or `a(role, id)`. For an internal step, the agent that makes it.
    pub from: Option<String>,
    /// Receiver.
    pub to: Option<String>,
    /// Agent that acts: the sender of a sending, the receiver of a receipt.
    pub by: Option<String>,
    /// Message.
    pub message: Option<String>,
    /// One of the constraints that allowed the event.
    pub constraint: Option<String>,
}

/// A part of an event that cannot be read.
#[derive(Clone, Debug)]
pub struct UnreadableEvent {
    /// The part: `from`, `to`, `by`, `message` or `constraint`.
    pub part: &'static str,
    /// What is wrong. Positions count from the beginning of the part.
    pub diagnostic: Diagnostic,
}

/// A partial description of an event that was read.
#[derive(Clone, Debug)]
pub struct EventPattern {
    pub(crate) kind: Option<EventKind>,
    pub(crate) from: Option<Term>,
    pub(crate) to: Option<Term>,
    pub(crate) by: Option<Term>,
    pub(crate) message: Option<Term>,
    pub(crate) constraint: Option<Constraint>,
}

impl EventPattern {
    /// Reads the parts of an event.
    ///
    /// ```
    /// use masque_lcc::{EventPattern, EventText};
    ///
    /// let order = EventText { message: Some("order(X)".to_string()), ..EventText::default() };
    /// assert!(EventPattern::read(&order).is_ok());
    /// let broken = EventText { message: Some("order(".to_string()), ..EventText::default() };
    /// assert_eq!(EventPattern::read(&broken).unwrap_err().part, "message");
    /// ```
    pub fn read(text: &EventText) -> Result<EventPattern, UnreadableEvent> {
        let term = |part: &'static str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => {
                parse_term(text).map(Some).map_err(|diagnostic| UnreadableEvent { part, diagnostic })
            }
        };
        let constraint = match &text.constraint {
            None => None,
            Some(text) => Some(
                parse_literal(text)
                    .map_err(|diagnostic| UnreadableEvent { part: "constraint", diagnostic })?,
            ),
        };
        Ok(EventPattern {
            kind: text.kind,
            from: term("from", &text.from)?,
            to: term("to", &text.to)?,
            by: term("by", &text.by)?,
            message: term("message", &text.message)?,
            constraint,
        })
    }
}

/// A role and an id; `None` matches anything.
type Party = [Option<TermId>; 2];

/// The parts of a pattern as terms. Their variables are numbered together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    kind: Option<EventKind>,
    from: Party,
    to: Option<Party>,
    by: Party,
    pub(crate) message: Option<TermId>,
    pub(crate) constraint: Option<TermId>,
    pub(crate) n_vars: u32,
}

impl System {
    /// Returns the instances of labels that match an event, with the index of the label of each. A label may have
    /// several: one for each of its sides and constraints that match.
    pub fn event_instances(&mut self, event: &EventPattern, labels: &[LabelId]) -> Vec<(usize, LabelId)> {
        let mark = self.terms.mark();
        let wanted = self.wanted(event);
        let mut found: Vec<(usize, LabelTerm)> = Vec::new();
        for (index, label) in labels.iter().enumerate() {
            let first = found.len();
            let label = self.label_term(*label);
            for instance in wanted.instances(&mut self.terms, label) {
                if !found[first..].contains(&(index, instance)) {
                    found.push((index, instance));
                }
            }
        }
        // Without new instances, the terms of the event are not needed any more.
        if found.iter().all(|(_, label)| self.label_ids.contains_key(label)) {
            self.terms.reset(mark);
        }
        let ids = |(index, label)| (index, label_id(&mut self.labels, &mut self.label_ids, label));
        found.into_iter().map(ids).collect()
    }

    /// Lowers a pattern.
    pub(crate) fn wanted(&mut self, event: &EventPattern) -> Wanted {
        let mut scope = Scope::default();
        let mut term = |term: &Option<Term>| term.as_ref().map(|term| scope.term(&mut self.terms, term));
        let [message, from, to, by] = [&event.message, &event.from, &event.to, &event.by].map(&mut term);
        let constraint = event.constraint.as_ref().map(|literal| scope.constraint(&mut self.terms, literal));
        let party = |term: Option<TermId>| term.map_or([None, None], |term| self.actor_parts(term));
        Wanted {
            kind: event.kind,
            from: party(from),
            to: to.map(|to| party(Some(to))),
            by: party(by),
            message,
            constraint,
            n_vars: scope.n_vars(),
        }
    }
}

impl Wanted {
    /// Returns the instances of a label that match.
    fn instances(&self, terms: &mut Terms, label: LabelTerm) -> Vec<LabelTerm> {
        match label {
            LabelTerm::Own(_) if self.kind == Some(EventKind::Exchanged) => Vec::new(),
            LabelTerm::Own(side) => {
                self.side_instances(terms, side).into_iter().map(LabelTerm::Own).collect()
            }
            LabelTerm::Tau(sent, taken) => {
                let mut found = Vec::new();
                if self.kind != Some(EventKind::Taken) {
                    for instance in self.side_instances(terms, sent) {
                        let other = with_exchange_of(terms, Symbol::TAKEN, taken, instance);
                        found.push(LabelTerm::Tau(instance, other));
                    }
                }
                if self.kind != Some(EventKind::Sent) {
                    for instance in self.side_instances(terms, taken) {
                        found.push(LabelTerm::Tau(as_exchanged(terms, sent, instance), instance));
                    }
                }
                found
            }
        }
    }

    /// Iterates over the ids in the event.
    pub(crate) fn ids(&self) -> impl Iterator<Item = TermId> {
        [self.from[1], self.to.and_then(|[_, id]| id), self.by[1]].into_iter().flatten()
    }

    /// Iterates over the ids of agents that may act in the event; `None` is any agent.
    pub(crate) fn actors(&self) -> impl Iterator<Item = Option<TermId>> {
        let to = self.to.and_then(|[_, id]| id);
        let actors = match (self.by[1], self.kind) {
            (Some(by), _) => vec![Some(by)],
            (None, Some(EventKind::Taken)) => vec![to],
            (None, Some(_)) => vec![self.from[1]],
            // A receiver that is named may be the one that acts.
            (None, None) => vec![self.from[1], to.or(self.from[1])],
        };
        actors.into_iter()
    }

    /// Whether the sending of a message matches.
    pub(crate) fn matches_message(&self, terms: &mut Terms, message: TermId) -> bool {
        let [role, id, to_role, to, content] = [0, 1, 2, 3, 4].map(|index| terms.arg(message, index));
        let none = terms.app(Symbol::SET, &[]);
        let side = terms.app(Symbol::SENT, &[content, to_role, to, role, id, none]);
        let wanted = Wanted { constraint: None, kind: self.kind.map(|_| EventKind::Exchanged), ..*self };
        !wanted.side_instances(terms, side).is_empty()
    }

    /// The same pattern with other numbers of variables.
    pub(crate) fn shifted(&self, terms: &mut Terms, offset: u32) -> Wanted {
        let mut shift = |term: Option<TermId>| term.map(|term| terms.shift(term, offset));
        Wanted {
            kind: self.kind,
            from: self.from.map(&mut shift),
            to: self.to.map(|to| to.map(&mut shift)),
            by: self.by.map(&mut shift),
            message: shift(self.message),
            constraint: shift(self.constraint),
            n_vars: self.n_vars,
        }
    }

    /// Returns the pairs of terms of the pattern and of a side of a label that must be equal, constraints apart; `None`
    /// if its kind does not match. `side` has message, peer's role and id, and the agent's own role and id.
    pub(crate) fn pairs(&self, kind: Symbol, side: [TermId; 5]) -> Option<Vec<(TermId, TermId)>> {
        let [message, peer_role, peer, role, id] = side;
        let is_kind = match self.kind {
            None | Some(EventKind::Exchanged) => true,
            Some(EventKind::Internal) => kind == Symbol::INTERNAL,
            Some(EventKind::Sent) => kind == Symbol::SENT,
            Some(EventKind::Taken) => kind == Symbol::TAKEN,
        };
        let is_internal = kind == Symbol::INTERNAL;
        if !is_kind || (is_internal && (self.message.is_some() || self.to.is_some())) {
            return None;
        }
        let (own, other) = ([role, id], [peer_role, peer]);
        let (from, to) = if kind == Symbol::TAKEN { (other, own) } else { (own, other) };
        let mut pairs: Vec<(TermId, TermId)> =
            self.message.map(|wanted| (wanted, message)).into_iter().collect();
        for (wanted, found) in [(self.from, from), (self.to.unwrap_or_default(), to), (self.by, own)] {
            pairs.extend(wanted.into_iter().zip(found).filter_map(|(wanted, found)| Some((wanted?, found))));
        }
        Some(pairs)
    }

    /// Returns the instances of one side of a label that match.
    fn side_instances(&self, terms: &mut Terms, side: TermId) -> Vec<TermId> {
        let kind = terms.symbol(side).unwrap_or(Symbol::INTERNAL);
        let [message, peer_role, peer, role, id, used] =
            [0, 1, 2, 3, 4, 5].map(|index| terms.arg(side, index));
        let Some(pairs) = self.pairs(kind, [message, peer_role, peer, role, id]) else { return Vec::new() };
        match self.constraint {
            None => self.instance(terms, side, &pairs).into_iter().collect(),
            Some(constraint) => {
                let literals = terms.args(used).to_vec();
                let with = |literal: TermId| {
                    let mut pairs = pairs.clone();
                    pairs.push((constraint, literal));
                    self.instance(terms, side, &pairs)
                };
                literals.into_iter().filter_map(with).collect()
            }
        }
    }

    /// Returns the instance of a side in which these terms of the pattern and of the side are equal; `None` if they
    /// cannot be.
    fn instance(&self, terms: &mut Terms, side: TermId, pairs: &[(TermId, TermId)]) -> Option<TermId> {
        let mut bindings = Bindings::default();
        bindings.reset(self.n_vars);
        let offset = bindings.fresh(terms.n_vars(side));
        for (wanted, found) in pairs {
            let found = terms.shift(*found, offset);
            if !terms.unify(*wanted, found, &mut bindings) {
                return None;
            }
        }
        if terms.is_ground(side) {
            return Some(side);
        }
        let shifted = terms.shift(side, offset);
        let resolved = terms.resolve(shifted, &bindings);
        let mut args = terms.args(resolved).to_vec();
        let used = terms.args(args[5]).to_vec();
        args[5] = annotation(terms, &used);
        let head = terms.head(side);
        let instance = terms.make(head, &args);
        Some(terms.canonical(instance))
    }
}
