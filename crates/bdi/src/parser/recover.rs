//! Syntax errors, and recovery from them.
//!
//! A broken item is skipped up to the next word that can only begin an item, so each agent, view and
//! property gets its own diagnostic.

use masque_text::{Codes, Cursor, Diagnostic, Language};

use super::{NESTING_LIMIT, Parser};
use crate::lexer::Token;

/// Codes and hints of the BDI language.
#[derive(Debug)]
pub(super) struct Bdi;

impl Language for Bdi {
    type Token = Token;

    const CODES: Codes = Codes {
        unexpected_token: "bdi/unexpected-token",
        unexpected_character: "bdi/unexpected-character",
        name_too_long: Some("bdi/name-too-long"),
        too_deep: "bdi/too-deep",
        too_many_errors: "bdi/too-many-errors",
    };
    const WHOLE: &'static str = "file";
    const NESTING_LIMIT: u32 = NESTING_LIMIT;
    const FLATTER: &'static str = "flat chains may be of any length; keep part of the formula in a variable";

    fn sign(foreign: char) -> Option<&'static str> {
        match foreign {
            '~' => Some("!"),
            _ => None,
        }
    }

    /// How this language writes a sign of another language that the current token is part of.
    fn guess(cursor: &Cursor<'_, Self>) -> Option<String> {
        let before = cursor.position.checked_sub(1).and_then(|first| cursor.tokens.pair(first));
        let sign = match (cursor.kind(), before) {
            (Token::Parallel, _) => "|",
            (_, Some((Token::Ampersand, Token::Ampersand))) => "&",
            (_, Some((Token::Equal, Token::Equal))) => "=",
            (_, Some((Token::Equal, Token::Greater))) => "->",
            (Token::Word, _) if cursor.word() == "and" => "&",
            (Token::Word, _) if cursor.word() == "or" => "|",
            (Token::Equal, _) => ":=` in assignments, `<->` between formulas and `=",
            _ => return None,
        };
        Some(format!("here this is written `{sign}`"))
    }

    fn instead(cursor: &Cursor<'_, Self>, _what: &str) -> Option<Diagnostic> {
        let span = cursor.clipped(cursor.span());
        let diagnostic = Diagnostic::error("bdi/unterminated-comment", span, "this comment has no end")
            .hint("close it with `*/`")
            .fix("close the comment", cursor.end_of_line(), " */");
        (cursor.kind() == Token::Unclosed).then_some(diagnostic)
    }
}

impl Parser<'_> {
    /// Whether the current word can only begin an item of the file.
    pub(super) fn at_item(&self) -> bool {
        match self.word() {
            "agent" | "view" | "mas" | "property" | "option" | "top" => true,
            "check" => self.kind_ahead(1) == Token::Word,
            // Elsewhere `import` can be a name.
            "import" => self.kind_ahead(1) == Token::Quoted,
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
