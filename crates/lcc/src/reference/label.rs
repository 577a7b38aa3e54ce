//! Labels, and the patterns that match them: sections 6.2 and 7.

use masque_mu::tree::Pattern;

use super::instance::Scope;
use super::step::Kind;
use super::term::{Canon, Subst, Term, shape, text, unify};
use crate::parser::parse_action;

/// One agent's side of a label. The label of a handshake has two, the sender's first.
#[derive(Clone, Debug)]
pub struct Act {
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

/// The variables that several patterns share: their names and, if an event has given them, their values. A value may
/// contain variables, which stand for any term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'s> {
    pub(super) names: &'s [String],
    pub(super) values: &'s [Term],
}

/// The variables of patterns and of values are renamed, because those of a label are distinct from both.
const OF_PATTERN: u32 = 1_000_000;
const OF_VALUES: u32 = 3_000_000;

impl Shared<'_> {
    /// Returns a scope in which the shared variables have the lowest numbers.
    pub(super) fn scope(&self) -> Scope {
        let mut scope = Scope::default();
        scope.share(self.names);
        scope
    }

    /// The values of the shared variables of a pattern whose terms are equal to those of a label, if they can be.
    fn solve(&self, pairs: Vec<(Term, Term)>) -> Option<Vec<Term>> {
        let rename = |term: &Term, by: u32| term.map(&mut |number| Term::Var(number + by));
        let variables = (0..self.names.len() as u32).map(|number| Term::Var(number + OF_PATTERN));
        let given = variables.clone().zip(self.values.iter().map(|value| rename(value, OF_VALUES)));
        let wanted = pairs.iter().map(|(wanted, found)| (rename(wanted, OF_PATTERN), found.clone()));
        let theta = given.chain(wanted).try_fold(Subst::new(), |theta, (l, r)| unify(&l, &r, &theta))?;
        let mut canon = Canon::default();
        Some(variables.map(|variable| canon.term(&variable.apply(&theta))).collect())
    }
}

/// Returns the values of shared variables with which a label matches a pattern
/// `P ::= - | -P | {P, ..} | in(..) | out(..) | #(..) | # | tau(..)`; none if it does not match.
pub(super) fn ways(label: &[Act], pattern: &Pattern, shared: Shared<'_>) -> Vec<Vec<Term>> {
    let unbound = || shared.solve(Vec::new()).into_iter().collect();
    match pattern {
        Pattern::Any => unbound(),
        Pattern::Not(inner) if ways(label, inner, shared).is_empty() => unbound(),
        Pattern::Not(_) => Vec::new(),
        Pattern::Set(parts) => parts.iter().flat_map(|part| ways(label, part, shared)).collect(),
        Pattern::Is(text, span) => {
            // The checker has reported patterns that cannot be parsed as errors.
            let Ok(action) = parse_action(text, span.start) else { return Vec::new() };
            let mut scope = shared.scope();
            let literal = action.literal.as_ref().map(|literal| scope.constraint(literal));
            let terms: Vec<Term> = action.terms.iter().map(|term| scope.term(term)).collect();
            let by = action.by.as_ref().map(|by| scope.term(by));
            match (action.word.as_str(), literal) {
                ("tau", _) => is_exchange(label, &terms, shared).into_iter().collect(),
                ("#", Some(literal)) => has_used(label, &literal, by.as_ref(), shared),
                ("#", None) => is_done(label, Kind::Internal, &[], by.as_ref(), shared),
                ("out", _) => is_done(label, Kind::Sent, &terms, by.as_ref(), shared),
                _ => is_done(label, Kind::Taken, &terms, by.as_ref(), shared),
            }
        }
    }
}

/// How some side is an action of a kind, with these terms (message and peer) and by this agent.
pub(super) fn is_done(
    label: &[Act],
    kind: Kind,
    terms: &[Term],
    by: Option<&Term>,
    shared: Shared<'_>,
) -> Vec<Vec<Term>> {
    let of_side = |act: &Act| {
        let mut pairs = actor(act, by);
        match (terms, act.what.as_slice()) {
            ([], _) => {}
            ([message, peer @ ..], [m, r, j]) => {
                pairs.push((message.clone(), m.clone()));
                pairs.extend(peer.iter().flat_map(|peer| party(peer, r, j)));
            }
            _ => return None,
        }
        if act.kind == kind { shared.solve(pairs) } else { None }
    };
    label.iter().filter_map(of_side).collect()
}

/// How some side is a step by this agent that used a constraint.
pub(super) fn has_used(
    label: &[Act],
    literal: &Term,
    by: Option<&Term>,
    shared: Shared<'_>,
) -> Vec<Vec<Term>> {
    let of_side = |act: &Act| {
        let of_literal = |used: &Term| {
            let mut pairs = actor(act, by);
            pairs.push((literal.clone(), used.clone()));
            shared.solve(pairs)
        };
        act.used.iter().filter_map(of_literal).collect::<Vec<_>>()
    };
    label.iter().flat_map(of_side).collect()
}

/// How a label matches `tau(M, a(R,i), a(S,j))`: message, sender, receiver.
fn is_exchange(label: &[Act], terms: &[Term], shared: Shared<'_>) -> Option<Vec<Term>> {
    let [sender, receiver] = label else { return None };
    let mut pairs: Vec<(Term, Term)> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        match index {
            0 => pairs.push((term.clone(), receiver.what[0].clone())),
            1 => pairs.extend(party(term, &sender.role, &sender.id)),
            _ => pairs.extend(party(term, &receiver.role, &receiver.id)),
        }
    }
    shared.solve(pairs)
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
