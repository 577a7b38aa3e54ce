//! Finds the names in properties: fixpoint variables, and those of action patterns and state atoms.

use masque_mu::tree::{FormulaKind, Named, Pattern, Phi, Regular};
use masque_mu::{parse_formula, parse_pattern, parse_properties};
use masque_text::{FileId, NameKind, Span};

use super::{Collector, Local, Rank, Statement};
use crate::parser::parse_action;

/// The fixpoint variables in scope, with their index among the locals. The innermost is last.
type Scope = Vec<(String, usize)>;

impl Collector<'_> {
    /// Visits a file of properties.
    pub(super) fn property_file(&mut self, file: FileId) {
        let (properties, _) = parse_properties(self.sources, self.sources.span(file));
        for Named { name, phi, .. } in properties {
            let whole = name.span.to(phi.span);
            self.begin(Statement { whole, shown: whole, about: Some(name.span), has_self: false });
            self.property_name(&name.text, name.span);
            self.formula(&phi, &mut Scope::new());
        }
    }

    /// Visits a formula that has not been parsed.
    pub(super) fn formula_text(&mut self, span: Span) {
        if let (Some(phi), _) = parse_formula(self.sources, span) {
            self.formula(&phi, &mut Scope::new());
        }
    }

    /// Visits the pattern of an obligation, whose variables are those of the statement.
    pub(super) fn pattern_text(&mut self, span: Span) {
        if let (Some(pattern), _) = parse_pattern(self.sources, span) {
            self.pattern(&pattern, true);
        }
    }

    fn formula(&mut self, phi: &Phi, scope: &mut Scope) {
        match &phi.kind {
            FormulaKind::True | FormulaKind::False | FormulaKind::Deadlock => {}
            FormulaKind::Variable(name) => {
                if let Some((_, local)) = scope.iter().rev().find(|(other, _)| other == name) {
                    let span = self.inner_name(phi.span);
                    self.locals[*local].uses.push(span);
                }
            }
            FormulaKind::Atom(text) => self.action_text(text, phi.span, false),
            FormulaKind::Not(inner) | FormulaKind::Path(_, inner) => self.formula(inner, scope),
            FormulaKind::And(parts) | FormulaKind::Or(parts) | FormulaKind::Implies(parts) => {
                parts.iter().for_each(|part| self.formula(part, scope));
            }
            FormulaKind::Modal(_, regular, inner) => {
                self.regular(regular);
                self.formula(inner, scope);
            }
            FormulaKind::Fixpoint(_, name, inner) => {
                let parent = self.statement.about;
                let (uses, whole, kind) = (vec![name.span], phi.span, NameKind::Fixpoint);
                scope.push((name.text.clone(), self.locals.len()));
                self.locals.push(Local { name: name.text.clone(), kind, uses, whole, parent });
                self.formula(inner, scope);
                scope.pop();
            }
            FormulaKind::Inevitable(pattern) => self.pattern(pattern, false),
            FormulaKind::Response(after, then) => {
                self.pattern(after, false);
                self.pattern(then, false);
            }
        }
    }

    fn regular(&mut self, regular: &Regular) {
        match regular {
            Regular::Step(pattern) => self.pattern(pattern, false),
            Regular::Sequence(parts) | Regular::Choice(parts) => {
                parts.iter().for_each(|part| self.regular(part));
            }
            Regular::Star(inner) | Regular::Plus(inner) => self.regular(inner),
        }
    }

    fn pattern(&mut self, pattern: &Pattern, shares_variables: bool) {
        match pattern {
            Pattern::Any => {}
            Pattern::Not(inner) => self.pattern(inner, shares_variables),
            Pattern::Set(parts) => parts.iter().for_each(|part| self.pattern(part, shares_variables)),
            Pattern::Is(text, span) => self.action_text(text, *span, shares_variables),
        }
    }

    /// Visits an action pattern or a state atom.
    fn action_text(&mut self, text: &str, span: Span, shares_variables: bool) {
        let Ok(action) = parse_action(text, span.start) else { return };
        let variables = (!shares_variables).then(|| std::mem::take(&mut self.variables));
        let whole = std::mem::replace(&mut self.statement.whole, span);
        let shown = std::mem::replace(&mut self.statement.shown, span);
        match (action.word.as_str(), action.terms.as_slice()) {
            ("done" | "idle", [agent]) => self.id(agent, Rank::Use),
            ("at", [agent, role]) => {
                self.id(agent, Rank::Use);
                self.role(role, Rank::Use);
            }
            (_, [message, parties @ ..]) => {
                self.message(message);
                parties.iter().for_each(|party| self.party(party, true));
            }
            (_, []) => {}
        }
        if let Some(literal) = &action.literal {
            self.constraint(literal);
        }
        if let Some(by) = &action.by {
            self.party(by, true);
        }
        (self.statement.whole, self.statement.shown) = (whole, shown);
        if let Some(variables) = variables {
            self.variables = variables;
        }
    }
}
