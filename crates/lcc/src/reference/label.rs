//! Labels, and the patterns that match them: sections 6.2 and 7.

use masque_mu::tree::Pattern;

use super::instance::Scope;
use super::step::Kind;
use super::term::{Canon, Subst, Term, shape, text, unify};
use crate::parser::parse_action;

/// One agent's side of a label. The label of a handshake has two, the sender's first.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) kind: Kind,
    /// Message, and the peer's role and id; empty for an internal step.
    pub(super) what: Vec<Term>,
    pub(super) role: Term,
    pub(super) id: Term,
    /// The constraints of the guard, as a set.
    pub(super) used: Vec<Term>,
}

impl Act {
    /// Makes one side of a label; the constraints are sorted and deduplicated.
    pub(super) fn new(kind: Kind, what: Vec<Term>, role: Term, id: Term, mut used: Vec<Term>) -> Act {
        used.sort_by_key(shape);
        used.dedup();
        Act { kind, what, role, id, used }
    }

    /// Returns the side as text. Texts are equal if and only if the sides are equal up to the names of
    /// variables.
    pub(super) fn text(&self) -> String {
        let mut canon = Canon::default();
        let what: Vec<String> = self.what.iter().map(|term| text(&canon.term(term))).collect();
        let (role, id) = (text(&canon.term(&self.role)), text(&self.id));
        let used: Vec<String> = self.used.iter().map(|literal| text(&canon.term(literal))).collect();
        let kind = match self.kind {
            Kind::Internal => "#",
            Kind::Sent => "out",
            Kind::Taken | Kind::Exchanged => "in",
        };
        let what = match what.as_slice() {
            [m, r, j] => format!("({m}, a({r},{j}))"),
            _ => String::new(),
        };
        format!("{kind}{what}@a({role},{id}) {{{}}}", used.join(","))
    }
}

/// Whether a label matches a pattern `P ::= - | -P | {P, ..} | in(..) | out(..) | #(..) | # | tau(..)`.
pub(super) fn matches(label: &[Act], pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Any => true,
        Pattern::Not(inner) => !matches(label, inner),
        Pattern::Set(parts) => parts.iter().any(|part| matches(label, part)),
        Pattern::Is(text, span) => {
            // The checker has reported patterns that cannot be parsed as errors.
            let Ok(action) = parse_action(text, span.start) else { return false };
            let mut scope = Scope::default();
            let literal = action.literal.as_ref().map(|literal| scope.constraint(literal));
            let terms: Vec<Term> = action.terms.iter().map(|term| scope.term(term)).collect();
            let by = action.by.as_ref().map(|by| scope.term(by));
            match (action.word.as_str(), literal) {
                ("tau", _) => is_exchange(label, &terms),
                ("#", Some(literal)) => label.iter().any(|act| has_used(act, &literal, by.as_ref())),
                ("#", None) => label.iter().any(|act| is_done(act, Kind::Internal, &[], by.as_ref())),
                ("out", _) => label.iter().any(|act| is_done(act, Kind::Sent, &terms, by.as_ref())),
                _ => label.iter().any(|act| is_done(act, Kind::Taken, &terms, by.as_ref())),
            }
        }
    }
}

/// Whether one side is an action of a kind, with these terms (message and peer) and by this agent.
pub(super) fn is_done(act: &Act, kind: Kind, terms: &[Term], by: Option<&Term>) -> bool {
    let mut pairs = actor(act, by);
    match (terms, act.what.as_slice()) {
        ([], _) => {}
        ([message, peer @ ..], [m, r, j]) => {
            pairs.push((message.clone(), m.clone()));
            pairs.extend(peer.iter().flat_map(|peer| party(peer, r, j)));
        }
        _ => return false,
    }
    act.kind == kind && all_equal(pairs)
}

/// Whether one side is a step by this agent that used a constraint.
pub(super) fn has_used(act: &Act, literal: &Term, by: Option<&Term>) -> bool {
    act.used.iter().any(|used| {
        let mut pairs = actor(act, by);
        pairs.push((literal.clone(), used.clone()));
        all_equal(pairs)
    })
}

/// Whether a label matches `tau(M, a(R,i), a(S,j))`: message, sender, receiver.
fn is_exchange(label: &[Act], terms: &[Term]) -> bool {
    let [sender, receiver] = label else { return false };
    let mut pairs: Vec<(Term, Term)> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        match index {
            0 => pairs.push((term.clone(), receiver.what[0].clone())),
            1 => pairs.extend(party(term, &sender.role, &sender.id)),
            _ => pairs.extend(party(term, &receiver.role, &receiver.id)),
        }
    }
    all_equal(pairs)
}

/// Returns the pairs of terms that must be equal if `by`, an id or `a(role, id)`, is the acting agent.
fn actor(act: &Act, by: Option<&Term>) -> Vec<(Term, Term)> {
    match by {
        None => Vec::new(),
        Some(by) if by.key() == Some(("a", 2)) => party(by, &act.role, &act.id),
        Some(by) => vec![(by.clone(), act.id.clone())],
    }
}

/// Returns the pairs of terms that must be equal for an agent to be `a(role, id)`; none for a variable, which
/// matches any agent.
fn party(term: &Term, role: &Term, id: &Term) -> Vec<(Term, Term)> {
    match term {
        Term::App(name, args) if name == "a" && args.len() == 2 => {
            vec![(args[0].clone(), role.clone()), (args[1].clone(), id.clone())]
        }
        _ => Vec::new(),
    }
}

/// Whether the terms of a pattern unify with those of a label. The variables of both are distinct.
fn all_equal(pairs: Vec<(Term, Term)>) -> bool {
    let rename = |term: &Term| term.map(&mut |number| Term::Var(number + 1_000_000));
    let theta =
        pairs.iter().try_fold(Subst::new(), |theta, (wanted, found)| unify(&rename(wanted), found, &theta));
    theta.is_some()
}
