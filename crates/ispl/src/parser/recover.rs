//! Messages about syntax, and how reading goes on after one.
//!
//! A broken statement is skipped to its `;`. The landmarks of a file, its headings and `end`s, are
//! recognised even where something else is expected, so that a missing `end` is one error.

use masque_text::{Diagnostic, Span};

use super::sections::{AFTER_AGENTS, OF_AGENT};
use super::{Parser, Reported, is_infix};
use crate::lexer::{LONGEST_WORD, Token};

/// After this many syntax errors the rest of the file is not read.
const ERROR_LIMIT: usize = 20;
/// Longer quotations are cut.
const SHOWN: usize = 40;

/// Messages and recovery.
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
                Diagnostic::error("ispl/too-many-errors", self.clipped(self.span()), message)
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
        if self.kind() == Token::Unknown {
            return self.no_token(span, what);
        }
        let found = match self.kind() {
            Token::End => "the end of the file".to_string(),
            _ if span != self.span() => format!("`{}..`", self.text_of(span)),
            _ => format!("`{}`", self.text_of(span)),
        };
        let message = format!("expected {what}, found {found}");
        let mut diagnostic = Diagnostic::error("ispl/unexpected-token", span, message).help(help);
        if what.len() <= SHOWN {
            diagnostic = diagnostic.label(format!("expected {what}"));
        }
        self.error(diagnostic)
    }

    /// How ISPL writes the sign of another language that the token at hand is a part of.
    fn foreign_sign(&self) -> Option<String> {
        let pair = |first: usize| {
            let is_one = self.tokens.span(first).end == self.tokens.span(first + 1).start;
            is_one.then(|| (self.tokens.kind(first), self.tokens.kind(first + 1)))
        };
        let sign = match (pair(self.position), self.position.checked_sub(1).and_then(pair)) {
            (Some((Token::Colon, Token::Equal)), _) => "=",
            (_, Some((Token::Equal, Token::Equal))) => "=",
            (_, Some((Token::Ampersand, Token::Ampersand))) => "and",
            (_, Some((Token::Bar, Token::Bar))) => "or",
            (_, Some((Token::Equal, Token::Greater))) => "->",
            _ => return None,
        };
        Some(format!("in ISPL this is written `{sign}`"))
    }

    /// Takes back the errors after the first `n` messages.
    pub(super) fn retract(&mut self, n: usize) {
        while self.diagnostics.len() > n {
            self.n_errors -= usize::from(self.diagnostics.pop().is_some_and(|d| d.is_error()));
        }
        self.last_error = None;
    }

    /// Characters that no token has, or a word without an end.
    fn no_token(&mut self, span: Span, what: &str) -> Reported {
        let found = self.text_of(span);
        if found.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let message = format!("this name is longer than {LONGEST_WORD} characters");
            return self.error(Diagnostic::error("ispl/name-too-long", span, message));
        }
        let shown: String = found.chars().take(12).collect();
        let message = format!("`{}` is not part of the language", shown.escape_debug());
        let sign = match found.chars().next() {
            Some('¬') => Some("!"),
            Some('∧') => Some("and"),
            Some('∨') => Some("or"),
            Some('→' | '⇒' | '⟶') => Some("->"),
            Some('↔' | '⇔' | '≡') => Some("<->"),
            Some('≠') => Some("<>"),
            Some('≤') => Some("<="),
            Some('≥') => Some(">="),
            _ => None,
        };
        self.error(
            Diagnostic::error("ispl/unexpected-character", span, message)
                .label(format!("expected {what}"))
                .help(sign.map(|sign| format!("write `{sign}`"))),
        )
    }

    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Skips the rest of a statement that began at `start` and is broken: to just after its `;`
    /// (or, of a `for`, its `}`), or to the end of what contains it.
    pub(super) fn recover(&mut self, start: usize) {
        if self.kind() == Token::End || self.at_end() || self.at_agent() {
            return;
        }
        let is_loop = self.is_loop(start);
        // Braces that the statement has opened; an unmatched `}` belongs to the `for` around it.
        let mut open = 0u32;
        for position in start..self.position {
            match self.tokens.kind(position) {
                Token::OpenBrace => open += 1,
                Token::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
        }
        while self.kind() != Token::End && !self.at_end() && !self.at_agent() {
            match self.kind() {
                Token::OpenBrace => open += 1,
                Token::CloseBrace if open == 0 && self.depth > 0 => return,
                Token::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
            let last = self.kind();
            self.advance();
            let is_over = match last {
                Token::Semicolon if is_loop => open == 0,
                // In `{a; b}` the semicolon is the mistake, not the end.
                Token::Semicolon => open == 0 || !self.closes_next(),
                Token::CloseBrace => open == 0 && is_loop,
                _ => false,
            };
            if is_over {
                return;
            }
        }
    }

    /// Whether of braces and semicolons a `}` comes next.
    fn closes_next(&self) -> bool {
        let is_end =
            |kind| matches!(kind, Token::OpenBrace | Token::CloseBrace | Token::Semicolon | Token::End);
        let next = (self.position..).map(|position| self.tokens.kind(position)).find(|kind| is_end(*kind));
        next == Some(Token::CloseBrace)
    }
}

/// Landmarks: where sections begin and end.
impl Parser<'_> {
    /// `for i in`
    pub(super) fn is_loop(&self, position: usize) -> bool {
        self.word_at(position) == "for"
            && self.tokens.kind(position + 1) == Token::Word
            && self.word_at(position + 2) == "in"
    }

    /// `end Section`: `end` is a plain name wherever it is not followed by a section's name.
    pub(super) fn at_end(&self) -> bool {
        self.is_end(self.position)
    }

    fn is_end(&self, position: usize) -> bool {
        self.word_at(position) == "end"
            && match self.tokens.kind(position + 1) {
                Token::Word => {
                    !matches!(self.word_at(position + 1), "if" | "and" | "or" | "U" | "W" | "R" | "mod")
                }
                next => next == Token::End,
            }
    }

    /// `Agent NAME`: never the beginning of anything else.
    pub(super) fn at_agent(&self) -> bool {
        self.is_agent(self.position)
    }

    fn is_agent(&self, position: usize) -> bool {
        self.word_at(position) == "Agent"
            && self.tokens.kind(position + 1) == Token::Word
            && !is_infix(self.word_at(position + 1))
    }

    /// Whether a section may begin at this token.
    pub(super) fn is_heading(&self, position: usize) -> bool {
        self.is_agent_heading(position) || self.is_file_heading(position)
    }

    /// `Vars: x`, `Actions = {`
    fn is_agent_heading(&self, position: usize) -> bool {
        let word = self.word_at(position);
        (OF_AGENT.contains(&word) || matches!(word, "Action" | "Ev"))
            && matches!(
                (self.tokens.kind(position + 1), self.tokens.kind(position + 2)),
                (Token::Colon, Token::Word | Token::Open | Token::Not) | (Token::Equal, Token::OpenBrace)
            )
    }

    /// `Evaluation p`: what comes after the agents.
    pub(super) fn is_file_heading(&self, position: usize) -> bool {
        AFTER_AGENTS.contains(&self.word_at(position))
            && match self.tokens.kind(position + 1) {
                Token::Word => !is_infix(self.word_at(position + 1)),
                next => matches!(next, Token::Open | Token::Not | Token::Less),
            }
    }

    /// Whether the name of a section stands here alone, before the next section or an `end`.
    pub(super) fn is_stray_name(&self, position: usize) -> bool {
        let word = self.word_at(position);
        (OF_AGENT.contains(&word) || AFTER_AGENTS.contains(&word) || matches!(word, "Ev" | "Agent"))
            && (self.tokens.kind(position + 1) == Token::End || self.is_landmark(position + 1))
    }

    fn is_landmark(&self, position: usize) -> bool {
        self.is_end(position) || self.is_agent(position) || self.is_heading(position)
    }

    /// `end Name`
    pub(super) fn close(&mut self, name: &str, heading: Span) {
        let (position, found) = (self.position, self.word_ahead(1));
        if !self.at_end() {
            let message = format!("this `{name}` section has no `end {name}`");
            self.error(
                Diagnostic::error("ispl/wrong-end", self.clipped(self.span()), message)
                    .label(format!("expected `end {name}` before this"))
                    .also(heading, "the section begins here"),
            );
            if self.word() == name && self.is_stray_name(position) {
                self.advance(); // Only the word `end` is missing.
            }
            return;
        }
        // `end` alone, and then the next thing: another agent, section or `end`.
        let is_bare = match found == name {
            true => {
                let begins = |at| self.is_agent_heading(at) || self.tokens.kind(at) == Token::OpenBracket;
                self.is_agent(position + 1) && self.word_ahead(2) != "Agent" && begins(position + 3)
            }
            false => found.is_empty() || self.is_landmark(position + 1),
        };
        if is_bare {
            let message = format!("`end` without a name where `end {name}` is expected");
            self.error(
                Diagnostic::error("ispl/wrong-end", self.span(), message)
                    .also(heading, "the section begins here"),
            );
            self.advance();
            return;
        }
        if found != name {
            let span = self.span().to(self.tokens.span(position + 1));
            let message = format!("`end {found}` where `end {name}` is expected");
            self.error(
                Diagnostic::error("ispl/wrong-end", span, message).also(heading, "the section begins here"),
            );
            // The end of something larger is left for it.
            if found == "Agent" {
                return;
            }
        }
        self.advance();
        self.advance();
    }
}
