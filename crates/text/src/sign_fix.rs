//! Fixes of signs and words that a language writes in another way.

use crate::tokens::Kind;
use crate::{Cursor, Diagnostic, Language, Span};

/// Signs of other notations that consist of two tokens, or of a token and a character that is none.
const FOREIGN_SIGNS: [&str; 5] = ["=>", "==", "&&", "||", ":="];

/// The sign or word that a help line says to write instead: `->` in "in ISPL this is written `->`", and `and` in
/// "write `and`".
fn written(help: &str) -> Option<&str> {
    let (before, sign) = help.strip_suffix('`')?.rsplit_once('`')?;
    let is_one = !sign.is_empty() && !sign.contains(|c: char| c.is_whitespace() || "(),.".contains(c));
    (is_one && (before.ends_with("written ") || before.ends_with("write "))).then_some(sign)
}

impl<L: Language> Cursor<'_, L> {
    /// Adds the fix that the help line of a syntax error suggests, if it says how the current token is written.
    pub(crate) fn with_sign_fix(&self, diagnostic: Diagnostic) -> Diagnostic {
        let Some(sign) = diagnostic.help.as_deref().and_then(written).map(str::to_string) else {
            return diagnostic;
        };
        let here = self.text_here();
        let is_mixed = self.kind() == L::Token::UNKNOWN && !here.chars().all(|c| here.starts_with(c));
        if diagnostic.fix.is_some() || self.kind() == L::Token::END || is_mixed {
            return diagnostic;
        }
        let span = self.foreign_sign();
        // A word needs space around it.
        let is_word = sign.starts_with(|c: char| c.is_alphabetic());
        let needs_space = |near: Option<char>| is_word && near.is_some_and(|c| !c.is_whitespace());
        let (before, after) = (self.text_before(span), self.text_after(span));
        let left = if needs_space(before.chars().next_back()) { " " } else { "" };
        let right = if needs_space(after.chars().next()) { " " } else { "" };
        diagnostic.fix(format!("write `{sign}`"), span, format!("{left}{sign}{right}"))
    }

    /// The location of the sign of another language that the current token belongs to, or of the token.
    fn foreign_sign(&self) -> Span {
        let span = self.span();
        let begins = |start: u32, sign: &str| {
            let end = start + sign.len() as u32;
            let rest = self.text_after(Span { start, end: start });
            (rest.starts_with(sign) && start <= span.start && span.start < end).then_some(Span { start, end })
        };
        let before = self.text_before(span).chars().next_back().filter(char::is_ascii);
        let starts = [Some(span.start), before.map(|_| span.start - 1)];
        let found = starts
            .into_iter()
            .flatten()
            .find_map(|start| FOREIGN_SIGNS.iter().find_map(|sign| begins(start, sign)));
        found.unwrap_or(span)
    }

    /// The empty span at the end of the line on which the current token begins, where a comment can be closed.
    pub fn end_of_line(&self) -> Span {
        let span = self.span();
        let line = self.text_after(Span { start: span.start, end: span.start });
        let line = line.split(['\n', '\r']).next().unwrap_or_default();
        let end = span.start + line.len() as u32;
        Span { start: end, end }
    }

    fn text_before(&self, span: Span) -> &str {
        self.tokens.slice(Span { start: self.tokens.base(), end: span.start })
    }

    fn text_after(&self, span: Span) -> &str {
        let end = self.tokens.span(self.tokens.len()).end;
        self.tokens.slice(Span { start: span.end, end })
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn help_lines_that_say_how_a_sign_is_written() {
        assert_eq!(written("in ISPL this is written `->`"), Some("->"));
        assert_eq!(written("`<=` receives a message; less or equal is written `=<`"), Some("=<"));
        assert_eq!(written("write `and`"), Some("and"));
        for other in [
            "write `a < b`",
            "between formulas write `&&`, `||` or `->`",
            "close it with `*/`",
            "write `next(i, N)`",
        ] {
            assert_eq!(written(other), None, "{other}");
        }
    }
}
