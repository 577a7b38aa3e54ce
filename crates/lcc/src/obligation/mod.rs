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
//! equal terms. P and Q are separate patterns: a variable that they share with the obligation is not bound
//! by the event that matched, and such a variable causes a warning.
//!
//! The pattern of the act is built from the statement. Its text is used in reports only and never parsed.

mod lint;

use masque_mu::tree::{self as mu, FormulaKind, Named, Phi};
use masque_mu::{AtomId, PatternId, Vocabulary, parse_pattern};
use masque_text::{Diagnostic, Sources, Span};

use self::lint::{Variable, shared_variables, variables};
use crate::lower::Scope;
use crate::symbol::Symbol;
use crate::system::System;
use crate::term::TermId;
use crate::tree::{Obligation, Term, TermKind};
use crate::vocabulary::Pattern;

/// The patterns of the acts that obligations demand, with the spans of the actions in the files.
#[derive(Debug, Default)]
pub(crate) struct Acts(Vec<(Span, PatternId)>);

/// The vocabulary of a system, extended by the acts of obligations.
#[derive(Debug)]
pub(crate) struct WithActs<'s> {
    pub(crate) system: &'s mut System,
    pub(crate) acts: Acts,
}

impl Vocabulary for WithActs<'_> {
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic> {
        match self.acts.0.iter().find(|(action, _)| *action == span) {
            Some((_, act)) => Ok(*act),
            None => self.system.pattern(text, span),
        }
    }

    fn atom(&mut self, text: &str, span: Span) -> Result<AtomId, Diagnostic> {
        self.system.atom(text, span)
    }
}

impl Acts {
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
        diagnostics.extend(shared_variables(
            obligation,
            after.as_ref(),
            until.as_ref().and_then(Option::as_ref),
        ));
        let act = match Act::read(obligation, system) {
            Ok(act) => act,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                return (None, diagnostics);
            }
        };
        let text = act.text(obligation, system);
        self.0.push((obligation.action.span, system.pattern_id(act.pattern)));
        let act = mu::Pattern::Is(text, obligation.action.span);
        let due = match until {
            None => Some(act),
            Some(until) => until.map(|until| mu::Pattern::Set(vec![act, until])),
        };
        let phi = after.zip(due).map(|(after, due)| FormulaKind::Response(after, due));
        let name = mu::Name { text: name, span: obligation.span };
        (phi.map(|kind| Named { name, phi: Phi { kind, span: obligation.span }, written: None }), diagnostics)
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
    fn read(obligation: &Obligation, system: &mut System) -> Result<Act, Diagnostic> {
        let enforcer = Scope::default().term(&mut system.terms, &obligation.enforcer);
        let mut scope = Scope::of(enforcer);
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
        let variables = Occurrences::of(obligation);
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
        let whole = system.terms.app(Symbol::SET, &parts);
        let whole = system.terms.canonical(whole);
        let (terms, by) = system.terms.args(whole).split_at(n_terms);
        let pattern = Pattern::of_act(word, terms, by, system.terms.n_vars(whole));
        Ok(Act { pattern, word, subject, object, what })
    }

    /// Returns the act as an action pattern. Variables that occur once are written `_` or omitted.
    fn text(&self, obligation: &Obligation, system: &System) -> String {
        let variables = Occurrences::of(obligation);
        let show = |term: TermId| {
            if variables.any_repeated() { system.terms.text(term) } else { system.terms.shape(term) }
        };
        let peer = match system.actor_parts(self.object) {
            _ if self.word == "#" || variables.matches_any(&obligation.object) => String::new(),
            [None, _] => format!(", a(_, {})", show(self.object)),
            _ => format!(", {}", show(self.object)),
        };
        let by = if variables.matches_any(&obligation.subject) {
            String::new()
        } else {
            format!("@{}", show(self.subject))
        };
        format!("{}({}{peer}){by}", self.word, show(self.what))
    }
}

/// The variables of an obligation, without those of its patterns: one entry for each occurrence.
struct Occurrences(Vec<Variable>);

impl Occurrences {
    fn of(obligation: &Obligation) -> Occurrences {
        let mut names = Vec::new();
        [&obligation.subject, &obligation.object, &obligation.action]
            .iter()
            .for_each(|term| variables(term, &mut names));
        Occurrences(names)
    }

    fn is_repeated(&self, name: &str) -> bool {
        self.0.iter().filter(|(other, _)| other == name).count() > 1
    }

    fn any_repeated(&self) -> bool {
        self.0.iter().any(|(name, _)| self.is_repeated(name))
    }

    /// Whether a term is a variable that occurs nowhere else, so that it matches any term.
    fn matches_any(&self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Anonymous => true,
            TermKind::Var(name) => !self.is_repeated(name),
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
