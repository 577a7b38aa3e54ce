//! Messages about syntax, and how reading goes on after one.
//!
//! A broken item is skipped to the next word that can only begin an item, so that each agent,
//! view and property gets a message of its own.

use masque_text::{Diagnostic, Span};

use super::{Parser, Reported};
use crate::lexer::{LONGEST_WORD, Token};

/// After this many syntax errors the rest of the file is not read.
const ERROR_LIMIT: usize = 20;
/// Longer quotations are cut.
const SHOWN: usize = 40;

impl Parser<'_> {
    /// Keeps an error; a second one at the same place is a consequence of the first.
    pub(super) fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = diagnostic.primary.as_ref().map(|label| label.span.start);
        if std::mem::replace(&mut self.last_error, place) == place || self.n_errors > ERROR_LIMIT {
            return Reported;
        }
        self.n_errors += 1;
        if self.n_errors <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        } else {
            let message = format!("there are more than {ERROR_LIMIT} errors");
            self.diagnostics.push(
                Diagnostic::error("bdi/too-many-errors", self.clipped(self.span()), message)
                    .label("the file was read up to here")
                    .hint("mend the errors above first; the rest of the file was not looked at"),
            );
            self.position = self.tokens.len();
        }
        Reported
    }

    /// The beginning of a span that may be too long to show.
    pub(super) fn clipped(&self, span: Span) -> Span {
        let text = self.text_of(span);
        if text.len() <= SHOWN { span } else { span.slice(0, text.floor_char_boundary(SHOWN) as u32) }
    }

    /// The token at hand is not what may stand here.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        self.expected_with(what, self.foreign_sign())
    }

    pub(super) fn expected_with(&mut self, what: &str, help: Option<String>) -> Reported {
        let span = self.clipped(self.span());
        match self.kind() {
            Token::Unknown => return self.no_token(span, what),
            Token::Unterminated => {
                let message = "this comment has no end";
                let diagnostic = Diagnostic::error("bdi/unterminated-comment", span, message);
                return self.error(diagnostic.hint("close it with `*/`"));
            }
            _ => {}
        }
        let found = match self.kind() {
            Token::End => "the end of the file".to_string(),
            _ if span != self.span() => format!("`{}..`", self.text_of(span)),
            _ => format!("`{}`", self.text_of(span)),
        };
        let message = format!("expected {what}, found {found}");
        let mut diagnostic = Diagnostic::error("bdi/unexpected-token", span, message).help(help);
        if what.len() <= SHOWN {
            diagnostic = diagnostic.label(format!("expected {what}"));
        }
        self.error(diagnostic)
    }

    /// How this language writes the sign of another that the token at hand is a part of.
    fn foreign_sign(&self) -> Option<String> {
        let pair = |first: usize| {
            let is_one = self.tokens.span(first).end == self.tokens.span(first + 1).start;
            is_one.then(|| (self.tokens.kind(first), self.tokens.kind(first + 1)))
        };
        let before = self.position.checked_sub(1).and_then(pair);
        let sign = match (self.kind(), before) {
            (Token::Parallel, _) => "|",
            (_, Some((Token::Ampersand, Token::Ampersand))) => "&",
            (_, Some((Token::Equal, Token::Equal))) => "=",
            (_, Some((Token::Equal, Token::Greater))) => "->",
            (Token::Word, _) if self.word() == "and" => "&",
            (Token::Word, _) if self.word() == "or" => "|",
            (Token::Equal, _) => ":=` in assignments, `<->` between formulas and `=",
            _ => return None,
        };
        Some(format!("here this is written `{sign}`"))
    }

    /// Characters that no token has, or a word without an end.
    fn no_token(&mut self, span: Span, what: &str) -> Reported {
        let found = self.text_of(span);
        if found.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let message = format!("this name is longer than {LONGEST_WORD} characters");
            return self.error(Diagnostic::error("bdi/name-too-long", span, message));
        }
        let shown: String = found.chars().take(12).collect();
        let message = format!("`{}` is not part of the language", shown.escape_debug());
        let sign = match found.chars().next() {
            Some('¬' | '~') => Some("!"),
            Some('∧') => Some("&"),
            Some('∨') => Some("|"),
            Some('→' | '⇒' | '⊃') => Some("->"),
            Some('↔' | '⇔' | '≡') => Some("<->"),
            Some('∀') => Some("A"),
            Some('∃') => Some("E"),
            Some('≠') => Some("!="),
            Some('≤') => Some("<="),
            Some('≥') => Some(">="),
            _ => None,
        };
        self.error(
            Diagnostic::error("bdi/unexpected-character", span, message)
                .label(format!("expected {what}"))
                .help(sign.map(|sign| format!("write `{sign}`"))),
        )
    }

    /// Whether a word that can only begin an item of the file stands here.
    pub(super) fn at_item(&self) -> bool {
        match self.word() {
            "agent" | "view" | "mas" | "property" | "option" | "top" => true,
            "check" => self.kind_ahead(1) == Token::Word,
            _ => false,
        }
    }

    /// Skips the rest of a broken item.
    pub(super) fn recover(&mut self, start: usize) {
        if self.position == start {
            self.advance();
        }
        self.depth = 0;
        while self.kind() != Token::End && !self.at_item() {
            self.advance();
        }
    }
}
