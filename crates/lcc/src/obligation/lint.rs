//! Obligations that mean something, but probably not what their author meant.

use masque_mu::tree as mu;
use masque_text::{Diagnostic, Span};

use crate::parser::parse_action;
use crate::tree::{Constraint, ConstraintKind, Duty, Term, TermKind};

/// A warning for each variable that two of obligation, `after` and `until` share.
pub(super) fn shared_variables(
    duty: &Duty,
    after: Option<&mu::Pattern>,
    until: Option<&mu::Pattern>,
) -> Vec<Diagnostic> {
    let mut own = Vec::new();
    [&duty.subject, &duty.object, &duty.action].iter().for_each(|term| variables(term, &mut own));
    let of_pattern = |pattern: Option<&mu::Pattern>| {
        let mut found = Vec::new();
        if let Some(pattern) = pattern {
            pattern_variables(pattern, &mut found);
        }
        found
    };
    let parts = [("the obligation", own), ("`after`", of_pattern(after)), ("`until`", of_pattern(until))];
    let mut warnings: Vec<(Variable, Diagnostic)> = Vec::new();
    for (at, (where_first, first)) in parts.iter().enumerate() {
        for (name, span) in first {
            let mut later = parts[at + 1..].iter();
            let other = later.find_map(|(place, names)| {
                names.iter().find(|(other, _)| other == name).map(|(_, span)| (*place, *span))
            });
            let Some((place, other)) = other else { continue };
            if warnings.iter().any(|((known, _), _)| known == name) {
                continue;
            }
            let message = format!("`{name}` in {where_first} and `{name}` in {place} are independent");
            let warning = Diagnostic::warning("lcc/shared-variable", *span, message)
                .label("matches any term")
                .also(other, "matches any term, whatever the other one matches")
                .hint(format!("write `_` in both places, or a constant: `{name}` is not carried over"));
            warnings.push(((name.clone(), *span), warning));
        }
    }
    warnings.into_iter().map(|(_, warning)| warning).collect()
}

/// A variable's name, and where it stands.
pub(super) type Variable = (String, Span);

/// The variables of an action pattern.
fn pattern_variables(pattern: &mu::Pattern, found: &mut Vec<Variable>) {
    match pattern {
        mu::Pattern::Any => {}
        mu::Pattern::Not(inner) => pattern_variables(inner, found),
        mu::Pattern::Set(parts) => parts.iter().for_each(|part| pattern_variables(part, found)),
        mu::Pattern::Is(text, span) => {
            // What cannot be read is reported when the formula is resolved.
            let Ok(action) = parse_action(text, span.start) else { return };
            action.terms.iter().chain(&action.by).for_each(|term| variables(term, found));
            action.literal.iter().for_each(|literal| constraint_variables(literal, found));
        }
    }
}

/// The variables of a term; `_` is none.
pub(super) fn variables(term: &Term, found: &mut Vec<Variable>) {
    match &term.kind {
        TermKind::Var(name) => found.push((name.clone(), term.span)),
        TermKind::Anonymous | TermKind::Int(_) | TermKind::Decimal(_) => {}
        TermKind::App(_, args) => args.iter().for_each(|arg| variables(arg, found)),
        TermKind::List(items, tail) => {
            items.iter().chain(tail.as_deref()).for_each(|item| variables(item, found));
        }
        TermKind::Binary(_, left, right) => [left, right].iter().for_each(|side| variables(side, found)),
        TermKind::Negative(inner) => variables(inner, found),
    }
}

fn constraint_variables(constraint: &Constraint, found: &mut Vec<Variable>) {
    match &constraint.kind {
        ConstraintKind::And(parts) | ConstraintKind::Or(parts) => {
            parts.iter().for_each(|part| constraint_variables(part, found));
        }
        ConstraintKind::Not(inner) => constraint_variables(inner, found),
        ConstraintKind::Atom(term) => variables(term, found),
        ConstraintKind::Compare(_, left, right) => {
            [left, right].iter().for_each(|side| variables(side, found))
        }
        ConstraintKind::Triple(triple) => {
            [&triple.subject, &triple.object, &triple.action].iter().for_each(|term| variables(term, found));
        }
    }
}
