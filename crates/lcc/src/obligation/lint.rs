//! The variables that an obligation shares with its patterns, and warnings about those that no event gives a value.

use masque_mu::tree as mu;
use masque_text::{Diagnostic, Span};

use crate::parser::parse_action;
use crate::tree::{Constraint, ConstraintKind, Obligation, Term, TermKind};

/// The variables that at least two of obligation, `after` and `until` share.
pub(super) struct SharedVariables {
    /// Those in `after`, whose values are those of the event that matches it, in the order of the text.
    pub(super) names: Vec<String>,
    /// Warnings about the others: obligation and `until` are independent.
    pub(super) warnings: Vec<Diagnostic>,
}

impl SharedVariables {
    pub(super) fn of(
        obligation: &Obligation,
        after: Option<&mu::Pattern>,
        until: Option<&mu::Pattern>,
    ) -> SharedVariables {
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
        let (after, until) = (of_pattern(after), of_pattern(until));
        let is_in = |name: &str, names: &[Variable]| names.iter().any(|(other, _)| other == name);
        let mut shared = SharedVariables { names: Vec::new(), warnings: Vec::new() };
        for (name, _) in &after {
            if (is_in(name, &own) || is_in(name, &until)) && !shared.names.contains(name) {
                shared.names.push(name.clone());
            }
        }
        for (index, (name, span)) in own.iter().enumerate() {
            let Some((_, other)) = until.iter().find(|(other, _)| other == name) else { continue };
            if is_in(name, &after) || is_in(name, &own[..index]) {
                continue;
            }
            let message = format!("`{name}` in the obligation and `{name}` in `until` are independent");
            let warning = Diagnostic::warning("lcc/shared-variable", *span, message)
                .label("matches any term")
                .also(*other, "matches any term, independently of the other one")
                .hint(format!(
                    "write `{name}` in `after`, which gives variables their values, or `_` in both places"
                ));
            shared.warnings.push(warning);
        }
        shared
    }
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
