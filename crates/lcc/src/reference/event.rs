//! Observed events: patterns on labels, and the instances of labels that match them.

use masque_mu::tree::Pattern;

use super::instance::Scope;
use super::label::{Act, Shared, ways};
use super::step::Kind;
use super::term::{Subst, Term, text, unify};
use crate::event_pattern::{EventPattern, EventText};
use crate::session::EventKind;

/// The variables of an event, and those of the other side of a handshake, are renamed.
const OF_EVENT: u32 = 5_000_000;
const OF_OTHER_SIDE: u32 = 7_000_000;

/// Whether a label matches a pattern.
pub fn matches(label: &[Act], pattern: &Pattern) -> bool {
    !ways(label, pattern, Shared { names: &[], values: &[] }).is_empty()
}

/// Returns a label as text. Texts are equal if and only if the labels are equal up to the names of variables.
pub fn label_text(label: &[Act]) -> String {
    label.iter().map(Act::text).collect::<Vec<_>>().join(" / ")
}

/// Returns the instances of a label that match an event, each once.
pub fn instances(label: &[Act], event: &EventPattern) -> Vec<Vec<Act>> {
    let mut found: Vec<Vec<Act>> = Vec::new();
    let mut add = |instance: Vec<Act>| {
        let is_known = |other: &Vec<Act>| label_text(other) == label_text(&instance);
        if !found.iter().any(is_known) {
            found.push(instance);
        }
    };
    match label {
        [act] if event.kind != Some(EventKind::Exchanged) => {
            of_side(act, event).into_iter().for_each(|act| add(vec![act]));
        }
        [sent, taken] => {
            if event.kind != Some(EventKind::Taken) {
                for side in of_side(sent, event) {
                    let other = with_terms_of(taken, &side);
                    add(vec![side, other]);
                }
            }
            if event.kind != Some(EventKind::Sent) {
                for side in of_side(taken, event) {
                    add(vec![with_terms_of(sent, &side), side]);
                }
            }
        }
        _ => {}
    }
    found
}

/// Returns the instances of a side that match.
fn of_side(act: &Act, event: &EventPattern) -> Vec<Act> {
    let is_kind = match event.kind {
        None | Some(EventKind::Exchanged) => true,
        Some(EventKind::Internal) => act.kind == Kind::Internal,
        Some(EventKind::Sent) => act.kind == Kind::Sent,
        Some(EventKind::Taken) => act.kind == Kind::Taken,
    };
    let own = [&act.role, &act.id];
    let (message, from, to) = match (act.kind, act.what.as_slice()) {
        (Kind::Sent, [message, role, id]) => (Some(message), own, Some([role, id])),
        (_, [message, role, id]) => (Some(message), [role, id], Some(own)),
        _ => (None, own, None),
    };
    if !is_kind || (event.message.is_some() && message.is_none()) || (event.to.is_some() && to.is_none()) {
        return Vec::new();
    }
    let mut scope = Scope::default();
    let mut pairs: Vec<(Term, Term)> = Vec::new();
    if let (Some(wanted), Some(message)) = (&event.message, message) {
        pairs.push((scope.term(wanted), message.clone()));
    }
    let parties = [(&event.from, Some(from)), (&event.to, to), (&event.by, Some(own))];
    for (wanted, found) in parties {
        let (Some(wanted), Some([role, id])) = (wanted, found) else { continue };
        match scope.term(wanted) {
            Term::App(name, args) if name == "a" && args.len() == 2 => {
                pairs.push((args[0].clone(), role.clone()));
                pairs.push((args[1].clone(), id.clone()));
            }
            wanted => pairs.push((wanted, id.clone())),
        }
    }
    match &event.constraint {
        None => equal(&pairs).map(|theta| instance(act, &theta)).into_iter().collect(),
        Some(constraint) => {
            let constraint = scope.constraint(constraint);
            let with = |used: &Term| {
                let mut pairs = pairs.clone();
                pairs.push((constraint.clone(), used.clone()));
                equal(&pairs).map(|theta| instance(act, &theta))
            };
            act.used.iter().filter_map(with).collect()
        }
    }
}

/// Makes the terms of an event equal to those of a label.
fn equal(pairs: &[(Term, Term)]) -> Option<Subst> {
    pairs.iter().try_fold(Subst::new(), |theta, (wanted, found)| {
        unify(&wanted.map(&mut |number| Term::Var(number + OF_EVENT)), found, &theta)
    })
}

fn instance(act: &Act, theta: &Subst) -> Act {
    let all = |terms: &[Term]| -> Vec<Term> { terms.iter().map(|term| term.apply(theta)).collect() };
    Act::new(act.kind, all(&act.what), act.role.apply(theta), act.id.apply(theta), all(&act.used))
}

/// Returns a side of a handshake with the message, roles and ids of the other side.
fn with_terms_of(side: &Act, other: &Act) -> Act {
    let renamed = |term: &Term| term.map(&mut |number| Term::Var(number + OF_OTHER_SIDE));
    let all = |terms: &[Term]| -> Vec<Term> { terms.iter().map(&renamed).collect() };
    let side = Act::new(side.kind, all(&side.what), renamed(&side.role), side.id.clone(), all(&side.used));
    let [message, role, id] = other.what.as_slice() else { return side };
    let pairs = [(&side.what[0], message), (&side.what[1], &other.role), (&side.what[2], &other.id)];
    let pairs = pairs.into_iter().chain([(&side.role, role), (&side.id, id)]);
    let theta = pairs.fold(Subst::new(), |theta, (own, found)| unify(own, found, &theta).unwrap_or(theta));
    instance(&side, &theta)
}

/// Describes one side of a label with all its parts, of which each constraint is one. Its variables are written as
/// variables.
pub fn describe(act: &Act) -> (EventText, Vec<String>) {
    let (id, constraints) = (text(&act.id), act.used.iter().map(text).collect());
    let kind = match act.kind {
        Kind::Internal => EventKind::Internal,
        Kind::Sent => EventKind::Sent,
        Kind::Taken | Kind::Exchanged => EventKind::Taken,
    };
    let mut event =
        EventText { kind: Some(kind), from: Some(id.clone()), by: Some(id.clone()), ..EventText::default() };
    if let [message, _, peer] = act.what.as_slice() {
        let (from, to) = match act.kind {
            Kind::Sent => (id, text(peer)),
            _ => (text(peer), id),
        };
        (event.from, event.to, event.message) = (Some(from), Some(to), Some(text(message)));
    }
    (event, constraints)
}
