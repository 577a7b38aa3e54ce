//! Messages about broken statements, and where reading goes on.

use masque_text::{Diagnostic, Span};

use super::{Parser, Reported};
use crate::lexer::Token;

/// The words that begin a statement.
pub(crate) const STATEMENTS: [&str; 11] =
    ["agent", "server", "common", "know", "rule", "choice", "option", "now", "mail", "property", "r"];

/// The words that are no constants.
pub(crate) const RESERVED: [&str; 5] = ["then", "or", "par", "and", "not"];

impl Parser<'_> {
    pub(super) fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Says what was expected here, and what stands here instead.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let span = self.span();
        let found = match self.kind() {
            Token::Unclosed => return self.unclosed_text(span),
            Token::Unknown => return self.unknown_text(span),
            Token::End => "the end of the text".to_string(),
            _ => format!("`{}`", self.text_of(span)),
        };
        if let Some(reported) = self.unbalanced(what) {
            return reported;
        }
        let message = format!("expected {what}, found {found}");
        let mut diagnostic = Diagnostic::error("lcc/syntax", span, message).label(format!("expected {what}"));
        if let Some(help) = self.guess() {
            diagnostic = diagnostic.hint(help);
        }
        self.error(diagnostic)
    }

    /// What the author may have meant.
    fn guess(&self) -> Option<String> {
        let before = self.position.checked_sub(1).map(|at| (self.tokens.kind(at), self.tokens.span(at)));
        match (before, self.kind(), self.kind_ahead(1)) {
            (Some((Token::Variable | Token::Word, name)), Token::Stop, Token::Number)
                if name.end == self.span().start =>
            {
                let number = self.tokens.span(self.position + 1);
                let text = self.text_of(name.to(number));
                Some(format!("a name with a full stop in it is written in quotes: '{text}'"))
            }
            (_, Token::Receives, _) => {
                Some("`<=` receives a message; less or equal is written `=<`".to_string())
            }
            _ => None,
        }
    }

    /// A bracket that is open where something else must come, or that was never opened.
    fn unbalanced(&mut self, what: &str) -> Option<Reported> {
        let span = self.span();
        match self.kind() {
            Token::Close | Token::CloseBracket | Token::CloseBrace if self.open.is_empty() => {
                let bracket = self.text_of(span);
                let message = format!("this `{bracket}` closes nothing");
                let diagnostic = Diagnostic::error("lcc/unbalanced", span, message)
                    .label("no bracket is open here")
                    .hint(format!("remove it, or open a bracket before; expected {what}"));
                Some(self.error(diagnostic))
            }
            _ if self.open.is_empty() || !self.at_boundary() => None,
            _ => {
                let opened = self.open.last().map(|at| self.tokens.span(*at))?;
                let bracket = self.text_of(opened);
                let closing = match bracket {
                    "(" => ")",
                    "[" => "]",
                    _ => "}",
                };
                let message = format!("this `{bracket}` is not closed");
                let diagnostic = Diagnostic::error("lcc/unbalanced", opened, message)
                    .label("opened here")
                    .also(span, format!("`{closing}` is missing before this"));
                Some(self.error(diagnostic))
            }
        }
    }

    fn unclosed_text(&mut self, span: Span) -> Reported {
        let diagnostic = match self.text_of(span) {
            "'" | "\"" => Diagnostic::error("lcc/unclosed", span, "this quote does not end on its line")
                .hint("a quoted constant is written 'X.509' or \"r0\""),
            _ => Diagnostic::error("lcc/unclosed", span.slice(0, 2), "this comment does not end")
                .hint("close it with `*/`"),
        };
        self.error(diagnostic)
    }

    fn unknown_text(&mut self, span: Span) -> Reported {
        let text = self.text_of(span);
        let diagnostic = match text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            true => Diagnostic::error("lcc/unknown-text", span, "this name is too long")
                .hint("names have at most 255 characters"),
            false => Diagnostic::error("lcc/unknown-text", span, format!("`{text}` means nothing here"))
                .hint("names consist of ASCII letters, digits, `_` and `$`; other text goes in quotes"),
        };
        self.error(diagnostic)
    }

    /// Whether something new begins here: a statement, or nothing more.
    pub(super) fn at_boundary(&self) -> bool {
        self.kind() == Token::End || self.kind() == Token::Stop || self.at_statement(self.position)
    }

    /// Whether a statement begins at a token: a clause, or a keyword followed by what it needs.
    pub(super) fn at_statement(&self, at: usize) -> bool {
        use Token::{Colon, Open, Variable, Word};
        let (next, second) = (self.tokens.kind(at + 1), self.tokens.kind(at + 2));
        match self.word_at(at) {
            "a" => next == Open && self.is_clause_head(at),
            "agent" | "server" | "now" | "mail" => self.word_at(at + 1) == "a" && second == Open,
            "common" => matches!(next, Word | Token::Quoted),
            "choice" => matches!(next, Word | Token::Quoted),
            "know" | "rule" => matches!(next, Word | Token::Quoted | Variable) && second == Colon,
            "property" => matches!(next, Word | Variable | Token::Number) && second == Colon,
            "option" => next == Word && second == Token::Equal,
            "r" => next == Open && self.is_role_declaration(at),
            _ => false,
        }
    }

    /// `a( .. ) ::`. Looks at the head only, which is short.
    fn is_clause_head(&self, at: usize) -> bool {
        self.after_brackets(at + 1).is_some_and(|after| self.tokens.kind(after) == Token::Defines)
    }

    /// `r( .. )` before a statement, not before an operator of a process.
    fn is_role_declaration(&self, at: usize) -> bool {
        let Some(after) = self.after_brackets(at + 1) else { return false };
        let is_operator = RESERVED.contains(&self.word_at(after));
        matches!(self.tokens.kind(after), Token::Stop | Token::End | Token::Word) && !is_operator
    }

    /// The token after the bracket that closes the one at `open`, if it comes soon.
    fn after_brackets(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        for at in open..open + 2000 {
            match self.tokens.kind(at) {
                Token::Open | Token::OpenBracket => depth += 1,
                Token::Close | Token::CloseBracket => depth -= 1,
                Token::End | Token::Stop | Token::Defines => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Goes to where the next statement begins: after a full stop, or at its first word.
    pub(super) fn recover(&mut self, start: usize) {
        self.open.clear();
        self.depth = 0;
        if self.position == start {
            self.position += usize::from(self.kind() != Token::End);
        }
        while self.kind() != Token::End {
            if self.at_statement(self.position) {
                return;
            }
            // In `X.509` the full stop ends nothing.
            let is_number = self.kind_ahead(1) == Token::Number
                && self.tokens.span(self.position + 1).start == self.span().end;
            let is_stop = self.kind() == Token::Stop && !is_number;
            self.position += 1;
            if is_stop {
                return;
            }
        }
    }
}
