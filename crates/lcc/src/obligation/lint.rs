//! Warnings about variables that an obligation and its patterns share, which are independent of each other.

use masque_mu::tree as mu;
use masque_text::{Diagnostic, Span};

use crate::parser::parse_action;
use crate::tree::{Constraint, ConstraintKind, Obligation, Term, TermKind};

/// Returns a warning for each variable that at least two of obligation, `after` and `until` share.
pub(super) fn shared_variables(
    obligation: &Obligation,
    after: Option<&mu::Pattern>,
    until: Option<&mu::Pattern>,
) -> Vec<Diagnostic> {
    let mut own = Vec::new();
    [&obligation.subject, &obligation.object, &obligation.action]
        .iter()
        .for_each(|term| variables(term, &mut own));
    let of_pattern = |pattern: Option<&mu::Pattern>| {
        let mut found = Vec::new();
        if let Some(pattern) = pattern {
            pattern_variables(pattern, &mut found);
        }
        found
    };
    let parts = [("the obligation", own), ("`after`", of_pattern(after)), ("`until`", of_pattern(until))];
    let mut warnings: Vec<(Variable, Diagnostic)> = Vec::new();
    for (index, (first_part, first)) in parts.iter().enumerate() {
        for (name, span) in first {
            let mut later = parts[index + 1..].iter();
            let other = later.find_map(|(part, names)| {
                names.iter().find(|(other, _)| other == name).map(|(_, span)| (*part, *span))
            });
            let Some((part, other)) = other else { continue };
            if warnings.iter().any(|((known, _), _)| known == name) {
                continue;
            }
            let message = format!("`{name}` in {first_part} and `{name}` in {part} are independent");
            let warning = Diagnostic::warning("lcc/shared-variable", *span, message)
                .label("matches any term")
                .also(other, "matches any term, independently of the other one")
                .hint(format!("write `_` in both places, or a constant: `{name}` is not carried over"));
            warnings.push(((name.clone(), *span), warning));
        }
    }
    warnings.into_iter().map(|(_, warning)| warning).collect()
}

/// Name and location of a variable.
pub(super) type Variable = (String, Span);

/// Collects the variables of an action pattern.
fn pattern_variables(pattern: &mu::Pattern, found: &mut Vec<Variable>) {
    match pattern {
        mu::Pattern::Any => {}
        mu::Pattern::Not(inner) => pattern_variables(inner, found),
        mu::Pattern::Set(parts) => parts.iter().for_each(|part| pattern_variables(part, found)),
        mu::Pattern::Is(text, span) => {
            // A pattern that cannot be read is reported when the formula is resolved.
            let Ok(action) = parse_action(text, span.start) else { return };
            action.terms.iter().chain(&action.by).for_each(|term| variables(term, found));
            action.literal.iter().for_each(|literal| constraint_variables(literal, found));
        }
    }
}

/// Collects the named variables of a term.
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
