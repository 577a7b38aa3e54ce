//! Warnings about the names in formulas: action patterns that match no label, state atoms that are
//! never true.

use masque_mu::tree::{FormulaKind, Pattern, Phi, Regular};
use masque_text::{Diagnostic, ReadLimits, Span, did_you_mean};

use super::table::{Missing, Table};
use super::{Direction, Names, constant, exchanged, is_mentioned, signature};
use crate::options::Comm;
use crate::parser::{Action, parse_action};
use crate::program::Program;
use crate::system::System;
use crate::term::Terms;
use crate::tree::{Constraint, ConstraintKind, Term, TermKind, Triple};

/// Label beside a wrong name in a pattern.
const NO_MATCH: &str = "the pattern matches nothing";
/// Code of the warning about an unknown id.
const UNKNOWN_ID_CODE: &str = "lcc/nobody";

/// Maximum number of patterns and atoms of one formula that are reported.
const MAX_FINDINGS: usize = 100;

/// A pattern or an atom with a name that does not exist.
struct Finding {
    /// The pattern or atom as written.
    text: String,
    /// The remark beside the verdict of the property, if nothing matches.
    remark: Option<String>,
    diagnostic: Diagnostic,
}

/// Finds the patterns and atoms of a formula that match nothing because of a name, in the order of the
/// text.
fn check_formula(program: &Program, terms: &Terms, phi: &Phi, limits: &ReadLimits) -> Vec<Finding> {
    let mut check = Check { program, terms, names: &program.names, limits, found: Vec::new() };
    check.formula(phi);
    check.found
}

impl System {
    /// Returns warnings about the action patterns and state atoms of a formula that match nothing because
    /// they name a message, an action, a role or an agent that does not exist.
    pub fn name_warnings(&self, phi: &Phi) -> Vec<Diagnostic> {
        self.name_findings(phi).into_iter().map(|finding| finding.diagnostic).collect()
    }

    /// Returns remarks to be shown beside the verdict of a formula: the patterns and atoms in it that match
    /// nothing in any state of the protocol.
    pub fn remarks(&self, phi: &Phi) -> Vec<String> {
        let mut remarks: Vec<String> =
            self.name_findings(phi).into_iter().filter_map(|finding| finding.remark).collect();
        remarks.dedup();
        remarks
    }

    fn name_findings(&self, phi: &Phi) -> Vec<Finding> {
        check_formula(&self.program, &self.terms, phi, &self.reading)
    }
}

/// A wrong name in a pattern or an atom.
struct Wrong {
    diagnostic: Diagnostic,
    /// Whether the pattern or atom matches nothing because of the name.
    is_final: bool,
}

impl From<Diagnostic> for Wrong {
    fn from(diagnostic: Diagnostic) -> Wrong {
        Wrong { diagnostic, is_final: true }
    }
}

struct Check<'a> {
    program: &'a Program,
    terms: &'a Terms,
    names: &'a Names,
    limits: &'a ReadLimits,
    found: Vec<Finding>,
}

impl Check<'_> {
    fn formula(&mut self, phi: &Phi) {
        match &phi.kind {
            FormulaKind::True | FormulaKind::False | FormulaKind::Variable(_) | FormulaKind::Deadlock => {}
            FormulaKind::Atom(text) => self.atom(text, phi.span),
            FormulaKind::Not(inner) | FormulaKind::Fixpoint(_, _, inner) | FormulaKind::Path(_, inner) => {
                self.formula(inner)
            }
            FormulaKind::And(parts) | FormulaKind::Or(parts) | FormulaKind::Implies(parts) => {
                parts.iter().for_each(|part| self.formula(part));
            }
            FormulaKind::Modal(_, regular, inner) => {
                self.regular(regular);
                self.formula(inner);
            }
            FormulaKind::Inevitable(pattern) => self.pattern(pattern),
            FormulaKind::Response(first, second) => {
                self.pattern(first);
                self.pattern(second);
            }
        }
    }

    fn regular(&mut self, regular: &Regular) {
        match regular {
            Regular::Step(pattern) => self.pattern(pattern),
            Regular::Sequence(parts) | Regular::Choice(parts) => {
                parts.iter().for_each(|part| self.regular(part));
            }
            Regular::Star(inner) | Regular::Plus(inner) => self.regular(inner),
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Any => {}
            Pattern::Not(inner) => self.pattern(inner),
            Pattern::Set(parts) => parts.iter().for_each(|part| self.pattern(part)),
            Pattern::Is(_, _) if !self.may_continue() => {}
            Pattern::Is(text, span) => {
                // A pattern that cannot be read has been reported as an error.
                let Ok(action) = parse_action(text, span.start) else { return };
                let remark = format!("the pattern `{}` matches nothing", text.trim());
                self.add(text, &remark, self.action(&action, *span));
            }
        }
    }

    /// Whether one more pattern or atom may be checked.
    fn may_continue(&self) -> bool {
        let n_statements = self.program.rules.len() + self.program.common.len() + self.program.known.len();
        self.found.len() < MAX_FINDINGS && self.limits.work(n_statements as u64)
    }

    fn atom(&mut self, text: &str, span: Span) {
        if !self.may_continue() {
            return;
        }
        let Ok(action) = parse_action(text, span.start) else { return };
        if let ("at", [_, role]) = (action.word.as_str(), action.terms.as_slice()) {
            let found = self.role(role, &[&self.names.played], "the agent is never in this role");
            let remark = format!("`{}` is never true", text.trim());
            self.add(text, &remark, found.into_iter().collect());
        }
    }

    /// Adds warnings, unless the same pattern or atom of this formula has been reported already.
    fn add(&mut self, text: &str, remark: &str, wrong: Vec<Wrong>) {
        if self.found.iter().any(|finding| finding.text == text) {
            return;
        }
        self.found.extend(wrong.into_iter().map(|wrong| Finding {
            text: text.to_string(),
            remark: wrong.is_final.then(|| remark.to_string()),
            diagnostic: wrong.diagnostic,
        }));
    }

    /// Finds the wrong names of a pattern.
    fn action(&self, action: &Action, span: Span) -> Vec<Wrong> {
        let mut found: Vec<Wrong> = Vec::new();
        let played = [&self.names.played];
        match action.word.as_str() {
            "out" => {
                found.extend(self.message(action, Direction::Sent));
                let roles = [&self.names.played, &self.names.addressed];
                let party = self.party(action.terms.get(1), &roles, Self::may_be_addressed);
                found.extend(party.into_iter().map(|wrong| self.addressed(wrong)));
            }
            "in" => {
                found.extend(self.message(action, Direction::Received));
                found.extend(self.party(action.terms.get(1), &played, Self::is_agent));
            }
            "tau" if self.program.options.comm == Comm::Mailbox => {
                let message = "with `comm = mailbox` no step is both a sending and a receipt";
                let diagnostic = Diagnostic::warning("lcc/no-such-action", span, message).label(NO_MATCH);
                let hint = "write `out(..)` or `in(..)`, or `#` for an internal step";
                found.push(diagnostic.hint(hint).into());
            }
            "tau" => {
                found.extend(self.message(action, Direction::Received));
                for party in action.terms.iter().skip(1) {
                    found.extend(self.party(Some(party), &played, Self::is_agent));
                }
            }
            _ => {
                let wrong = action.literal.as_ref().and_then(|literal| self.literal(literal));
                found.extend(wrong.map(Wrong::from));
            }
        }
        if let Some((role, _)) = action.by.as_ref().and_then(parts) {
            found.extend(self.role(role, &played, NO_MATCH));
        }
        found
    }

    fn message(&self, action: &Action, direction: Direction) -> Option<Wrong> {
        let message = action.terms.first()?;
        self.names.message(self.terms, direction, message, NO_MATCH).map(Wrong::from)
    }

    /// Weakens a warning about the receiver of a sent message: a message that is addressed to a role and no
    /// particular agent matches every id, even an unknown one.
    fn addressed(&self, wrong: Wrong) -> Wrong {
        if wrong.diagnostic.code == UNKNOWN_ID_CODE && self.names.has_open_address {
            Wrong { diagnostic: wrong.diagnostic.label("not an agent"), is_final: false }
        } else {
            wrong
        }
    }

    /// Checks the other party of a message: `a(role, id)`.
    fn party(&self, party: Option<&Term>, roles: &[&Table], exists: fn(&Self, &str) -> bool) -> Vec<Wrong> {
        let Some((role, id)) = party.and_then(parts) else { return Vec::new() };
        let mut found: Vec<Wrong> = self.role(role, roles, NO_MATCH).into_iter().collect();
        if let Some(name) = constant(id).filter(|name| !exists(self, name)) {
            let ids = self.names.ids.iter().map(|id| self.terms.symbols.name(*id));
            let message = format!("no member of the team is called `{name}`");
            let diagnostic = Diagnostic::warning(UNKNOWN_ID_CODE, id.span, message).label(NO_MATCH);
            found.push(diagnostic.help(did_you_mean(name, ids)).into());
        }
        found
    }

    /// Whether a member of the team has this id.
    fn is_agent(&self, name: &str) -> bool {
        self.terms.symbols.find(name).is_some_and(|id| self.names.ids.contains(&id))
    }

    /// Whether a message may be addressed to an id: facts may name an id outside the team.
    fn may_be_addressed(&self, name: &str) -> bool {
        self.is_agent(name) || is_mentioned(self.program, self.terms, name)
    }

    fn role(&self, role: &Term, tables: &[&Table], label: &'static str) -> Option<Wrong> {
        let (name, arity) = signature(role)?;
        if tables.iter().any(|table| table.allows_term(self.terms, role)) {
            return None;
        }
        let message = format!("there is no role `{name}/{arity}`");
        let missing = Missing { code: "lcc/no-such-role", name, arity, span: role.span, message, label };
        Some(missing.warning(self.terms, tables.iter().flat_map(|table| table.iter())).into())
    }

    /// Checks the literal of `#(..)`; comparisons have no name.
    fn literal(&self, literal: &Constraint) -> Option<Diagnostic> {
        match &literal.kind {
            ConstraintKind::Atom(term) => self.atom_literal(term, &self.names.annotated, ""),
            ConstraintKind::Not(inner) => match &inner.kind {
                ConstraintKind::Atom(term) => self.atom_literal(term, &self.names.negated, "not "),
                _ => None,
            },
            ConstraintKind::Triple(triple) => self.question(triple),
            ConstraintKind::And(_) | ConstraintKind::Or(_) | ConstraintKind::Compare(..) => None,
        }
    }

    fn atom_literal(&self, term: &Term, table: &Table, not: &str) -> Option<Diagnostic> {
        let (name, arity) = signature(term)?;
        if table.allows_term(self.terms, term) {
            return None;
        }
        let message = format!("no constraint of the protocol has the literal `{not}{name}/{arity}`");
        let code = "lcc/no-such-action";
        let missing = Missing { code, name, arity, span: term.span, message, label: NO_MATCH };
        let diagnostic = missing.warning(self.terms, table.iter());
        let is_in = |table: &Table| !table.is_open() && table.allows_term(self.terms, term);
        let hint = if is_in(&self.names.negated) || is_in(&self.names.annotated) {
            let context = if not.is_empty() { "below" } else { "without" };
            format!("it occurs only {context} `not`")
        } else if is_in(&self.names.sent) || is_in(&self.names.received) {
            format!("`{name}` is a message: write `out({name}..)` or `in({name}..)`")
        } else if exchanged(term).is_some() {
            "sending is `out(..)`, receiving is `in(..)`".to_string()
        } else {
            return Some(diagnostic);
        };
        Some(diagnostic.hint(hint))
    }

    /// Checks `#((S, O, +act))`, a question to the policies.
    fn question(&self, triple: &Triple) -> Option<Diagnostic> {
        let (name, arity) = signature(&triple.action)?;
        let asked = self.names.questions.iter().filter(|question| question.permits == triple.permits);
        let asked: Vec<_> = asked.map(|question| (question.action, question.span)).collect();
        let functor = self.terms.find(name, arity);
        if self.names.annotated.is_open() || asked.iter().any(|(action, _)| Some(*action) == functor) {
            return None;
        }
        let message = format!("no constraint of the protocol asks the policies about `{name}/{arity}`");
        let (code, span) = ("lcc/no-such-action", triple.action.span);
        let missing = Missing { code, name, arity, span, message, label: NO_MATCH };
        Some(missing.warning(self.terms, asked.into_iter()))
    }
}

impl Names {
    /// Returns a warning about a message that no agent sends, or that no agent receives.
    pub(super) fn message(
        &self,
        terms: &Terms,
        direction: Direction,
        message: &Term,
        label: &'static str,
    ) -> Option<Diagnostic> {
        let (name, arity) = signature(message)?;
        // A message that is received has been sent before.
        let (table, does) = match direction {
            Direction::Received if self.sent.allows_term(terms, message) => (&self.received, "receives"),
            Direction::Received | Direction::Sent => (&self.sent, "sends"),
        };
        if table.allows_term(terms, message) {
            return None;
        }
        let text = format!("no agent {does} a message `{name}/{arity}`");
        let (code, span) = ("lcc/no-such-message", message.span);
        let missing = Missing { code, name, arity, span, message: text, label };
        Some(missing.warning(terms, table.iter()))
    }
}

/// Returns the role and the id of `a(role, id)`.
fn parts(term: &Term) -> Option<(&Term, &Term)> {
    match &term.kind {
        TermKind::App(name, args) if name == "a" => match args.as_slice() {
            [role, id] => Some((role, id)),
            _ => None,
        },
        _ => None,
    }
}
