//! Messages of the checker: reported once per span, with the index values of the instance.

use masque_text::{Diagnostic, Severity, Span};

use super::Checker;
use crate::lexer::{Token, Tokens};
use crate::tree::Symbol;

/// Maximum number of errors that are shown, and maximum number of warnings and notes.
const MAX_MESSAGES: usize = 100;

/// Maximum number of names in a help line.
const MAX_LISTED_NAMES: usize = 8;

/// Numbers of messages so far, including those that are not shown.
#[derive(Clone, Copy, Default)]
pub(super) struct MessageCounts {
    errors: usize,
    others: usize,
}

impl Checker<'_> {
    /// Stores a message, unless the same code was reported for the same span.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) {
        let is_error = diagnostic.is_error();
        self.n_errors += usize::from(is_error);
        let span = diagnostic.primary.as_ref().map(|p| p.span);
        if !self.reported.insert((diagnostic.code, span)) {
            return;
        }
        let count = if is_error { &mut self.message_counts.errors } else { &mut self.message_counts.others };
        *count += 1;
        if *count > MAX_MESSAGES {
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

    /// Adds a message with the number of messages that are not shown.
    pub(super) fn report_dropped_messages(&mut self) {
        let MessageCounts { errors, others } = self.message_counts;
        for (n, severity, what) in [(errors, Severity::Error, "errors"), (others, Severity::Note, "warnings")]
        {
            if n > MAX_MESSAGES {
                let message =
                    format!("there are more than {MAX_MESSAGES} {what}; {} are not shown", n - MAX_MESSAGES);
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

    /// Returns the span of the agent in `agent.name`.
    pub(super) fn head(&self, span: Span) -> Span {
        self.part(span, false)
    }

    /// Returns the span of the name in `agent.name`.
    pub(super) fn tail(&self, span: Span) -> Span {
        self.part(span, true)
    }

    /// Finds the span of a part by reading the text again, because the tree does not store it.
    fn part(&self, span: Span, after_dot: bool) -> Span {
        let tokens = Tokens::new(self.sources.slice(span), span.start);
        let dot = tokens.kinds().iter().position(|kind| *kind == Token::Dot);
        match dot {
            Some(dot) if after_dot => tokens.span(dot + 1).to(span),
            Some(dot) => tokens.span(0).to(tokens.span(dot - 1)),
            None => span,
        }
    }

    /// Returns a help line with the name nearest to `used`; if none is near, a list of all names, if
    /// there are at most [`MAX_LISTED_NAMES`].
    pub(super) fn suggest_or_list<'a>(
        &self,
        used: Symbol,
        names: impl IntoIterator<Item = &'a Symbol> + Clone,
        intro: &str,
    ) -> Option<String> {
        if let Some(help) = self.suggest(used, names.clone()) {
            return Some(help);
        }
        let mut all: Vec<&str> =
            names.into_iter().take(MAX_LISTED_NAMES + 1).map(|s| self.names.text(*s)).collect();
        all.sort_unstable();
        (1..=MAX_LISTED_NAMES).contains(&all.len()).then(|| format!("{intro} {}", all.join(", ")))
    }

    /// Returns a help line with the name nearest to `used`.
    pub(super) fn suggest<'a>(
        &self,
        used: Symbol,
        names: impl IntoIterator<Item = &'a Symbol>,
    ) -> Option<String> {
        // Messages beyond the maximum are not shown, and looking for a name takes time.
        if self.message_counts.errors >= MAX_MESSAGES {
            return None;
        }
        masque_text::did_you_mean(self.names.text(used), names.into_iter().map(|s| self.names.text(*s)))
    }
}
