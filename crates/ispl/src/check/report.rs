//! Messages: said once per place, naming the instance they speak of.

use masque_text::{Diagnostic, Span};

use super::Checker;
use crate::lexer::{Token, Tokens};
use crate::tree::Symbol;

/// After this many messages no more are kept.
const LIMIT: usize = 100;

impl Checker<'_> {
    /// Keeps a message, unless its template was already complained of in the same way.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) {
        let place = diagnostic.primary.as_ref().map(|p| p.span);
        if !self.said.insert((diagnostic.code, place)) || self.diagnostics.len() >= LIMIT {
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
        let dot = (0..tokens.len()).find(|&i| tokens.kind(i) == Token::Dot);
        match dot {
            Some(dot) if after_dot => tokens.span(dot + 1).to(span),
            Some(dot) => tokens.span(0).to(tokens.span(dot - 1)),
            None => span,
        }
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
