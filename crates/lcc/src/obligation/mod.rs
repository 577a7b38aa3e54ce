//! Turns obligations into properties. [ORW06 §1]
//!
//! ```text
//! (S, O, !A) after P until Q   =   resp(P, {act, Q})   =   nu Z. [-]Z && [P] mu Y. <->tt && [-{act, Q}]Y
//!
//! act  =  out(M, a(_, O))@S    if A is send(M)
//!         in(M, a(_, O))@S     if A is receive(M)
//!         #(A)@S               otherwise
//! ```
//!
//! These are the actions that permissions and prohibitions regulate: a sending must be allowed as
//! `(i, j, send(M))` and a receipt as `(i, j, receive(M))`, where i acts and j is the other party; the object
//! of a constraint is unconstrained. As in rules, a variable that occurs twice in `(S, O, !A)` stands for
//! equal terms. A variable that P shares with the obligation or with Q has the value with which an event matched
//! P: each value is an *instance* of the obligation, which must be kept by itself. Other variables of Q are
//! independent.
//!
//! The pattern of the act is built from the statement. Its text is used in reports only and never parsed.

mod instance;
mod lint;

use masque_mu::tree::{self as mu, FormulaKind, Named, Phi};
use masque_mu::{AtomId, Formula, PatternId, Vocabulary, parse_pattern, resolve, resolve_bound_response};
use masque_text::{Diagnostic, Sources, Span, on_one_line};

pub use self::instance::FollowedObligation;
use self::lint::{SharedVariables, Variable, variables};
use crate::lexer::Token;
use crate::lower::Scope;
use crate::symbol::Symbol;
use crate::system::System;
use crate::term::TermId;
use crate::tree::{Obligation, Term, TermKind};
use crate::vocabulary::Pattern;

/// The patterns of obligations.
#[derive(Debug, Default)]
pub(crate) struct Acts(Vec<ReadObligation>);

/// The patterns of one obligation.
#[derive(Debug)]
struct ReadObligation {
    /// Location of the statement.
    span: Span,
    /// Location of the demanded action.
    action: Span,
    act: PatternId,
    /// The variables whose values an event that matches `after` gives.
    shared: Vec<String>,
}

/// The vocabulary of a system, extended by the acts of obligations.
#[derive(Debug)]
pub(crate) struct WithActs<'s> {
    pub(crate) system: &'s mut System,
    pub(crate) acts: Acts,
}

impl Vocabulary for WithActs<'_> {
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic> {
        match self.acts.around(span) {
            Some(obligation) if obligation.action == span => Ok(obligation.act),
            Some(obligation) => {
                let pattern = self.system.read_pattern(text, span, &obligation.shared)?;
                Ok(self.system.pattern_id(pattern))
            }
            None => self.system.pattern(text, span),
        }
    }

    fn atom(&mut self, text: &str, span: Span) -> Result<AtomId, Diagnostic> {
        self.system.atom(text, span)
    }
}

impl WithActs<'_> {
    /// Resolves a property, which may be that of an obligation.
    pub(crate) fn resolve(&mut self, phi: &Phi) -> (Option<Formula>, Vec<Diagnostic>) {
        let is_bound = self.acts.around(phi.span).is_some_and(|obligation| !obligation.shared.is_empty());
        match &phi.kind {
            FormulaKind::Response(after, due) if is_bound => match resolve_bound_response(after, due, self) {
                Ok(formula) => (Some(formula), Vec::new()),
                Err(diagnostic) => (None, vec![diagnostic]),
            },
            _ => resolve(phi, self),
        }
    }
}

impl Acts {
    /// Returns the obligation in whose statement a location is. Obligations are read in the order of the files.
    fn around(&self, span: Span) -> Option<&ReadObligation> {
        let next = self.0.partition_point(|obligation| obligation.span.start <= span.start);
        let before = self.0.get(next.checked_sub(1)?)?;
        (span.end <= before.span.end).then_some(before)
    }

    /// Makes the property that an obligation demands; `None` if the obligation has errors.
    pub(crate) fn property_of(
        &mut self,
        name: String,
        obligation: &Obligation,
        sources: &Sources,
        system: &mut System,
    ) -> (Option<Named>, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let mut read = |span: Span| {
            let (pattern, found) = parse_pattern(sources, span);
            diagnostics.extend(found);
            pattern
        };
        let (after, until) = (read(obligation.after), obligation.until.map(read));
        let SharedVariables { names: shared, warnings } =
            SharedVariables::of(obligation, after.as_ref(), until.as_ref().and_then(Option::as_ref));
        diagnostics.extend(warnings);
        let act = match Act::read(obligation, &shared, system) {
            Ok(act) => act,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                return (None, diagnostics);
            }
        };
        let text = act.text(obligation, &shared, sources, system);
        let (span, action) = (obligation.span, obligation.action.span);
        let read = ReadObligation { span, action, act: system.pattern_id(act.pattern), shared };
        let next = self.0.partition_point(|other| other.span.start <= span.start);
        self.0.insert(next, read);
        let act = mu::Pattern::Is(text, action);
        let due = match until {
            None => Some(act),
            Some(until) => until.map(|until| mu::Pattern::Set(vec![act, until])),
        };
        let phi = after.zip(due).map(|(after, due)| FormulaKind::Response(after, due));
        let name = mu::Name { text: name, span };
        (phi.map(|kind| Named { name, phi: Phi { kind, span }, written: None }), diagnostics)
    }
}

/// The act that an obligation demands.
struct Act {
    pattern: Pattern,
    /// `out`, `in`, or `#` for a constraint.
    word: &'static str,
    subject: TermId,
    object: TermId,
    /// The message or the constraint.
    what: TermId,
}

impl Act {
    fn read(obligation: &Obligation, shared: &[String], system: &mut System) -> Result<Act, Diagnostic> {
        let enforcer = Scope::default().term(&mut system.terms, &obligation.enforcer);
        let mut scope = Scope::of(enforcer);
        scope.share(shared);
        let subject = scope.term(&mut system.terms, &obligation.subject);
        let object = scope.term(&mut system.terms, &obligation.object);
        let action = scope.term(&mut system.terms, &obligation.action);
        let word = match word(&obligation.action) {
            Some("send") => "out",
            Some("receive") => "in",
            _ => "#",
        };
        system.known_actor(subject, obligation.subject.span)?;
        let what = if word == "#" { action } else { system.terms.arg(action, 0) };
        // The terms are in the order of the act's text, so that parsing that text would give this pattern.
        let variables = Occurrences::of(obligation, shared);
        let mut parts = vec![what];
        if word != "#" && !variables.matches_any(&obligation.object) {
            let [role, id] = system.actor_parts(object);
            let any_role = system.terms.var(scope.n_vars());
            parts.extend([role.or(Some(any_role)), id].into_iter().flatten());
        }
        let n_terms = parts.len();
        if !variables.matches_any(&obligation.subject) {
            parts.extend(system.actor_parts(subject).into_iter().flatten());
        }
        let n_shared = shared.len() as u32;
        let whole = system.terms.app(Symbol::SET, &parts);
        // Shared variables have the same numbers in all patterns.
        let whole = if shared.is_empty() { system.terms.canonical(whole) } else { whole };
        let n_vars = system.terms.n_vars(whole).max(n_shared);
        let (terms, by) = system.terms.args(whole).split_at(n_terms);
        let pattern = Pattern::of_act(word, terms, by, [n_vars, n_shared]);
        Ok(Act { pattern, word, subject, object, what })
    }

    /// Returns the act as an action pattern. Variables that occur once are written `_` or omitted; with shared
    /// variables, the names are those of the statement.
    fn text(&self, obligation: &Obligation, shared: &[String], sources: &Sources, system: &System) -> String {
        let variables = Occurrences::of(obligation, shared);
        let show = |term: TermId, written: &Term| {
            if !shared.is_empty() {
                on_one_line::<Token>(sources.slice(written.span))
            } else if variables.any_repeated() {
                system.terms.text(term)
            } else {
                system.terms.shape(term)
            }
        };
        let object = || show(self.object, &obligation.object);
        let peer = match system.actor_parts(self.object) {
            _ if self.word == "#" || variables.matches_any(&obligation.object) => String::new(),
            [None, _] => format!(", a(_, {})", object()),
            _ => format!(", {}", object()),
        };
        let by = if variables.matches_any(&obligation.subject) {
            String::new()
        } else {
            format!("@{}", show(self.subject, &obligation.subject))
        };
        let what = match (&obligation.action.kind, self.word) {
            (TermKind::App(_, args), "out" | "in") => &args[0],
            _ => &obligation.action,
        };
        format!("{}({}{peer}){by}", self.word, show(self.what, what))
    }
}

/// The variables of an obligation, without those of its patterns: one entry for each occurrence.
struct Occurrences<'s> {
    names: Vec<Variable>,
    /// The variables that have the values of an event.
    shared: &'s [String],
}

impl Occurrences<'_> {
    fn of<'s>(obligation: &Obligation, shared: &'s [String]) -> Occurrences<'s> {
        let mut names = Vec::new();
        [&obligation.subject, &obligation.object, &obligation.action]
            .iter()
            .for_each(|term| variables(term, &mut names));
        Occurrences { names, shared }
    }

    fn is_repeated(&self, name: &str) -> bool {
        self.names.iter().filter(|(other, _)| other == name).count() > 1
    }

    fn any_repeated(&self) -> bool {
        self.names.iter().any(|(name, _)| self.is_repeated(name))
    }

    /// Whether a term is a variable without a value that occurs nowhere else, so that it matches any term.
    fn matches_any(&self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Anonymous => true,
            TermKind::Var(name) => !self.is_repeated(name) && !self.shared.contains(name),
            _ => false,
        }
    }
}

/// Returns `send` or `receive` if an action is about a message.
fn word(action: &Term) -> Option<&str> {
    match &action.kind {
        TermKind::App(name, args) if args.len() == 1 && matches!(name.as_str(), "send" | "receive") => {
            Some(name)
        }
        _ => None,
    }
}
