//! Syntax errors, and recovery from them.
//!
//! A broken statement is skipped up to its `;`. The landmarks of a file, its headings and `end`s, are
//! recognised even where something else is expected, so a missing `end` gives one error.

use masque_text::{Codes, Cursor, Diagnostic, Language, Span};

use super::sections::{AFTER_AGENTS, OF_AGENT};
use super::{NESTING_LIMIT, Parser, is_infix};
use crate::lexer::Token;

/// Codes and hints of ISPL.
#[derive(Debug)]
pub(super) struct Ispl;

impl Language for Ispl {
    type Token = Token;

    const CODES: Codes = Codes {
        unexpected_token: "ispl/unexpected-token",
        unexpected_character: "ispl/unexpected-character",
        name_too_long: Some("ispl/name-too-long"),
        too_deep: "ispl/too-deep",
        too_many_errors: "ispl/too-many-errors",
    };
    const WHOLE: &'static str = "file";
    const NESTING_LIMIT: u32 = NESTING_LIMIT;
    const FLATTER: &'static str = "give parts of it names in Evaluation; flat chains may be of any length";

    fn sign(foreign: char) -> Option<&'static str> {
        match foreign {
            '¬' => Some("!"),
            '∧' => Some("and"),
            '∨' => Some("or"),
            '→' | '⇒' | '⟶' => Some("->"),
            '↔' | '⇔' | '≡' => Some("<->"),
            '≠' => Some("<>"),
            '≤' => Some("<="),
            '≥' => Some(">="),
            _ => None,
        }
    }

    /// How ISPL writes a sign of another language that the current token is part of.
    fn guess(cursor: &Cursor<'_, Self>) -> Option<String> {
        let pair = |first: usize| cursor.tokens.pair(first);
        let sign = match (pair(cursor.position), cursor.position.checked_sub(1).and_then(pair)) {
            (Some((Token::Colon, Token::Equal)), _) => "=",
            (_, Some((Token::Equal, Token::Equal))) => "=",
            (_, Some((Token::Ampersand, Token::Ampersand))) => "and",
            (_, Some((Token::Bar, Token::Bar))) => "or",
            (_, Some((Token::Equal, Token::Greater))) => "->",
            _ => return None,
        };
        Some(format!("in ISPL this is written `{sign}`"))
    }
}

/// Recovery.
impl Parser<'_> {
    /// Skips the rest of a broken statement that began at `start`: up to and including its `;`
    /// (for a loop, its `}`), or up to the end of the enclosing block.
    pub(super) fn recover(&mut self, start: usize) {
        if self.kind() == Token::End || self.at_end() || self.at_agent() {
            return;
        }
        let is_loop = self.is_loop(start);
        // Number of braces that the statement has opened. An unmatched `}` closes the enclosing `for`.
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

    /// Whether the next brace or semicolon is a `}`.
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

    /// `Agent NAME`: no other construct begins like this.
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

    /// `import "FILE"`: no other construct begins like this, so `import` can still be a name.
    pub(super) fn is_import(&self, position: usize) -> bool {
        self.word_at(position) == "import" && self.tokens.kind(position + 1) == Token::Quoted
    }

    /// `Evaluation p` or another section that follows the agents, or an import.
    pub(super) fn is_file_heading(&self, position: usize) -> bool {
        self.is_import(position)
            || AFTER_AGENTS.contains(&self.word_at(position))
                && match self.tokens.kind(position + 1) {
                    Token::Word => !is_infix(self.word_at(position + 1)),
                    next => matches!(next, Token::Open | Token::Not | Token::Less),
                }
    }

    /// Whether this is the bare name of a section, followed by the next section or an `end`.
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
            let span = self.clipped(self.span());
            let is_stray = self.word() == name && self.is_stray_name(position);
            let title = format!("insert `end {name}`");
            let diagnostic = Diagnostic::error("ispl/wrong-end", span, message)
                .label(format!("expected `end {name}` before this"))
                .also(heading, "the section begins here");
            let diagnostic = if is_stray {
                diagnostic.fix(title, Span { start: span.start, end: span.start }, "end ")
            } else {
                diagnostic.fix(title, self.last_span().after(), format!("\nend {name}"))
            };
            self.error(diagnostic);
            if is_stray {
                self.advance(); // Only the word `end` is missing.
            }
            return;
        }
        // `end` alone, followed by another agent, section or `end`.
        let is_bare = if found == name {
            let begins = |at| self.is_agent_heading(at) || self.tokens.kind(at) == Token::OpenBracket;
            self.is_agent(position + 1) && self.word_ahead(2) != "Agent" && begins(position + 3)
        } else {
            found.is_empty() || self.is_landmark(position + 1)
        };
        if is_bare {
            let message = format!("`end` without a name where `end {name}` is expected");
            let span = self.span();
            self.error(
                Diagnostic::error("ispl/wrong-end", span, message)
                    .also(heading, "the section begins here")
                    .fix(format!("insert `{name}`"), span.after(), format!(" {name}")),
            );
            self.advance();
            return;
        }
        if found != name {
            let span = self.span().to(self.tokens.span(position + 1));
            let message = format!("`end {found}` where `end {name}` is expected");
            let diagnostic =
                Diagnostic::error("ispl/wrong-end", span, message).also(heading, "the section begins here");
            let diagnostic = if found == "Agent" {
                let title = format!("insert `end {name}`");
                diagnostic.fix(title, self.last_span().after(), format!("\nend {name}"))
            } else {
                diagnostic.fix(format!("replace by `end {name}`"), span, format!("end {name}"))
            };
            self.error(diagnostic);
            // This `end` closes the agent around the section.
            if found == "Agent" {
                return;
            }
        }
        self.advance();
        self.advance();
    }
}
