//! Messages: said once per place, naming the instance they speak of.

use masque_text::{Diagnostic, Severity, Span};

use super::Checker;
use crate::lexer::{Token, Tokens};
use crate::tree::Symbol;

/// After this many errors no more are kept, and after this many other messages no more of those.
const LIMIT: usize = 100;

/// Messages so far, those not kept included.
#[derive(Clone, Copy, Default)]
pub(super) struct Said {
    errors: usize,
    others: usize,
}

impl Checker<'_> {
    /// Keeps a message, unless its template was already complained of in the same way.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) {
        let is_error = diagnostic.is_error();
        self.n_errors += usize::from(is_error);
        let place = diagnostic.primary.as_ref().map(|p| p.span);
        if !self.said.insert((diagnostic.code, place)) {
            return;
        }
        let n_said = if is_error { &mut self.n_said.errors } else { &mut self.n_said.others };
        *n_said += 1;
        if *n_said > LIMIT {
            return;
        }
        if !self.bindings.is_empty() {
            let values: Vec<String> = self
                .bindings
                .iter()
                .map(|(name, value)| format!("{} = {value}", self.names.text(*name)))
                .collect();
            diagnostic.message = format!("{} (with {})", diagnostic.message, values.join(", "));
        }
        self.diagnostics.push(diagnostic);
    }

    /// How many messages were found and not kept.
    pub(super) fn left_unsaid(&mut self) {
        let Said { errors, others } = self.n_said;
        for (n, severity, what) in [(errors, Severity::Error, "errors"), (others, Severity::Note, "warnings")]
        {
            if n > LIMIT {
                let message = format!("there are more than {LIMIT} {what}; {} are not shown", n - LIMIT);
                self.diagnostics.push(
                    Diagnostic::nowhere(severity, "ispl/too-many-errors", message)
                        .hint("the first ones may be the cause of the others"),
                );
            }
        }
    }

    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// The agent's part of `agent.name`.
    pub(super) fn head(&self, span: Span) -> Span {
        self.part(span, false)
    }

    /// The name's part of `agent.name`.
    pub(super) fn tail(&self, span: Span) -> Span {
        self.part(span, true)
    }

    /// Spans of parts are not kept: they are found again when a message needs one.
    fn part(&self, span: Span, after_dot: bool) -> Span {
        let tokens = Tokens::new(self.sources.slice(span), span.start);
        let dot = tokens.kinds().iter().position(|kind| *kind == Token::Dot);
        match dot {
            Some(dot) if after_dot => tokens.span(dot + 1).to(span),
            Some(dot) => tokens.span(0).to(tokens.span(dot - 1)),
            None => span,
        }
    }

    /// A help line with the nearest of some names; if none is near and they are few, all of them.
    pub(super) fn near_or_all<'a>(
        &self,
        used: Symbol,
        names: impl IntoIterator<Item = &'a Symbol> + Clone,
        intro: &str,
    ) -> Option<String> {
        const FEW: usize = 8;
        if let Some(help) = self.near(used, names.clone()) {
            return Some(help);
        }
        let mut all: Vec<&str> = names.into_iter().take(FEW + 1).map(|s| self.names.text(*s)).collect();
        all.sort_unstable();
        (1..=FEW).contains(&all.len()).then(|| format!("{intro} {}", all.join(", ")))
    }

    /// A help line with the nearest of some names.
    pub(super) fn near<'a>(
        &self,
        used: Symbol,
        names: impl IntoIterator<Item = &'a Symbol>,
    ) -> Option<String> {
        masque_text::did_you_mean(self.names.text(used), names.into_iter().map(|s| self.names.text(*s)))
    }
}
