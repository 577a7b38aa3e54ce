//! A place among the tokens of a text, from which a parser by recursive descent reads on, and the
//! messages that it leaves behind.
//!
//! Messages are few: one for each place, and no more than [`ERROR_LIMIT`] for a text. What to say
//! where something else was expected is the same for all languages, but for what a [`Language`]
//! knows better.

use crate::tokens::{Kind, LONGEST_NAME, Tokens};
use crate::{Diagnostic, Span};

/// After this many syntax errors the rest of a text is not read.
pub const ERROR_LIMIT: usize = 20;
/// Longer quotations are cut.
const SHOWN: usize = 40;

/// A syntax error that has been reported.
#[derive(Clone, Copy, Debug)]
pub struct Reported;

/// What was read, unless an error has been reported.
pub type Parsed<T> = Result<T, Reported>;

/// The codes of a language for mistakes that any language has.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    /// Something else was expected.
    pub unexpected_token: &'static str,
    /// A character that no token has.
    pub unexpected_character: &'static str,
    /// A name of more than [`LONGEST_NAME`] bytes; none where names may have any length.
    pub name_too_long: Option<&'static str>,
    /// More levels than [`Language::NESTING_LIMIT`].
    pub too_deep: &'static str,
    /// More errors than [`ERROR_LIMIT`].
    pub too_many_errors: &'static str,
}

/// What messages must know of a language.
pub trait Language: Sized {
    /// Its tokens.
    type Token: Kind;

    /// Its codes.
    const CODES: Codes;
    /// What is read: a `file`, or any `text`.
    const WHOLE: &'static str;
    /// Brackets and prefixes may nest this deep; flat chains may be of any length.
    const NESTING_LIMIT: u32;
    /// How to do with fewer levels.
    const FLATTER: &'static str;

    /// How this language writes a sign that it does not have.
    fn sign(foreign: char) -> Option<&'static str>;

    /// What the author may have meant by what stands at the cursor.
    fn guess(cursor: &Cursor<'_, Self>) -> Option<String>;

    /// A better message than that `what` was expected at the cursor, if there is one.
    fn instead(_cursor: &Cursor<'_, Self>, _what: &str) -> Option<Diagnostic> {
        None
    }
}

/// A place among the tokens of a text, and the messages so far.
#[derive(Debug)]
pub struct Cursor<'t, L: Language> {
    text: &'t str,
    base: u32,
    /// All tokens.
    pub tokens: Tokens<L::Token>,
    /// The index of the token at hand.
    pub position: usize,
    /// The index of the token with which the statement at hand begins.
    pub start: usize,
    /// How many levels deep the token at hand is.
    pub depth: u32,
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    /// Where the last error was found.
    last_error: Option<u32>,
}

/// Tokens.
impl<'t, L: Language> Cursor<'t, L> {
    /// The beginning of a text whose first byte is at position `base`.
    pub fn new(text: &'t str, base: u32) -> Self {
        Cursor {
            text,
            base,
            tokens: Tokens::new(text, base),
            position: 0,
            start: 0,
            depth: 0,
            diagnostics: Vec::new(),
            n_errors: 0,
            last_error: None,
        }
    }

    /// The kind of the token at hand.
    pub fn kind(&self) -> L::Token {
        self.tokens.kind(self.position)
    }

    /// The kind of a token further on.
    pub fn kind_ahead(&self, ahead: usize) -> L::Token {
        self.tokens.kind(self.position + ahead)
    }

    /// The span of the token at hand.
    pub fn span(&self) -> Span {
        self.tokens.span(self.position)
    }

    /// The span of the last token that was read.
    pub fn last_span(&self) -> Span {
        self.tokens.span(self.position.saturating_sub(1))
    }

    /// The span from the token at `start` to the last one read.
    pub fn span_from(&self, start: usize) -> Span {
        self.tokens.span(start).to(self.last_span())
    }

    /// The text of a span.
    pub fn text_of(&self, span: Span) -> &'t str {
        &self.text[(span.start - self.base) as usize..(span.end - self.base) as usize]
    }

    /// The text of the token at hand.
    pub fn text_here(&self) -> &'t str {
        self.text_of(self.span())
    }

    /// Whether the token at hand is the first on its line.
    pub fn begins_line(&self) -> bool {
        let gap = Span { start: self.last_span().end, end: self.span().start };
        self.position == 0 || self.text_of(gap).contains('\n')
    }

    /// The word at hand, or the empty text.
    pub fn word(&self) -> &'t str {
        self.word_at(self.position)
    }

    /// The word further on, or the empty text.
    pub fn word_ahead(&self, ahead: usize) -> &'t str {
        self.word_at(self.position + ahead)
    }

    /// The word at a position, or the empty text.
    pub fn word_at(&self, position: usize) -> &'t str {
        if self.tokens.kind(position) == L::Token::WORD {
            self.text_of(self.tokens.span(position))
        } else {
            ""
        }
    }

    /// Reads one token, whatever it is; nothing is read at the end.
    pub fn advance(&mut self) -> Span {
        let span = self.span();
        if self.kind() != L::Token::END {
            self.position += 1;
        }
        span
    }

    /// Reads a token of this kind, if it stands here.
    pub fn eat(&mut self, kind: L::Token) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Reads this word, if it stands here.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.advance();
        }
        found
    }

    /// Reads a token of this kind; it must stand here.
    pub fn expect(&mut self, kind: L::Token, what: &str) -> Parsed<Span> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.expected(what)) }
    }

    /// Reads this word; it must stand here.
    pub fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.word() == word { Ok(self.advance()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// One level deeper; the caller undoes it unless it fails.
    pub fn deepen(&mut self) -> Parsed<()> {
        if self.depth >= L::NESTING_LIMIT {
            let message = format!("this is nested more than {} levels deep", L::NESTING_LIMIT);
            let span = self.clipped(self.span());
            return Err(self.error(Diagnostic::error(L::CODES.too_deep, span, message).hint(L::FLATTER)));
        }
        self.depth += 1;
        Ok(())
    }
}

/// Messages.
impl<L: Language> Cursor<'_, L> {
    /// The messages so far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The messages, at the end of reading.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// Keeps a message that is no error.
    pub fn warn(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Keeps an error; a second one at the same place is a consequence of the first.
    pub fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = diagnostic.primary.as_ref().map(|label| label.span.start);
        if std::mem::replace(&mut self.last_error, place) == place || self.n_errors > ERROR_LIMIT {
            return Reported;
        }
        self.n_errors += 1;
        if self.n_errors <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
            return Reported;
        }
        let (span, whole) = (self.clipped(self.span()), L::WHOLE);
        let message = format!("there are more than {ERROR_LIMIT} errors");
        self.diagnostics.push(
            Diagnostic::error(L::CODES.too_many_errors, span, message)
                .label(format!("the {whole} was read up to here"))
                .hint(format!("mend the errors above first; the rest of the {whole} was not looked at")),
        );
        self.position = self.tokens.len();
        Reported
    }

    /// Takes back all messages after the first `n`.
    pub fn retract(&mut self, n: usize) {
        while self.diagnostics.len() > n {
            self.n_errors -= usize::from(self.diagnostics.pop().is_some_and(|d| d.is_error()));
        }
        self.last_error = None;
    }

    /// The beginning of a span that may be too long to show.
    pub fn clipped(&self, span: Span) -> Span {
        let text = self.text_of(span);
        if text.len() <= SHOWN { span } else { span.slice(0, text.floor_char_boundary(SHOWN) as u32) }
    }

    /// What stands here, for a message.
    pub fn found(&self) -> String {
        let span = self.clipped(self.span());
        match self.text_of(span) {
            _ if self.kind() == L::Token::END => format!("the end of the {}", L::WHOLE),
            text if span != self.span() => format!("`{text}..`"),
            text => format!("`{text}`"),
        }
    }

    /// The token at hand is not what may stand here.
    pub fn expected(&mut self, what: &str) -> Reported {
        self.expected_with(what, L::guess(self))
    }

    /// The token at hand is not what may stand here; `help` is what was meant.
    pub fn expected_with(&mut self, what: &str, help: Option<String>) -> Reported {
        let diagnostic = match L::instead(self, what) {
            Some(diagnostic) => diagnostic,
            None if self.kind() == L::Token::UNKNOWN => self.no_token(what, help),
            None => {
                let message = format!("expected {what}, found {}", self.found());
                // What is missing at the end is missing after the last token, not on a line after it.
                let is_end = self.kind() == L::Token::END && self.position > 0;
                let span = if is_end { self.last_span().after() } else { self.clipped(self.span()) };
                let diagnostic = Diagnostic::error(L::CODES.unexpected_token, span, message).help(help);
                if what.len() <= SHOWN { diagnostic.label(format!("expected {what}")) } else { diagnostic }
            }
        };
        self.error(diagnostic)
    }

    /// Characters that no token has, or a name without an end.
    fn no_token(&self, what: &str, help: Option<String>) -> Diagnostic {
        let span = self.clipped(self.span());
        let first = L::Token::cut(self.text_here()).next();
        if let Some(code) = L::CODES.name_too_long
            && matches!(first, Some((Ok(kind), _)) if kind.is_name())
        {
            let message = format!("this name is longer than {LONGEST_NAME} characters");
            return Diagnostic::error(code, span, message);
        }
        let shown: String = self.text_here().chars().take(12).collect();
        let message = format!("`{}` is not part of the language", shown.escape_debug());
        Diagnostic::error(L::CODES.unexpected_character, span, message)
            .label(format!("expected {what}"))
            .help(self.sign_here().or(help))
    }

    /// How the sign at hand is written, if only other languages have it.
    pub fn sign_here(&self) -> Option<String> {
        let first = self.text_here().chars().next().filter(|_| self.kind() == L::Token::UNKNOWN)?;
        L::sign(first).map(|sign| format!("write `{sign}`"))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Token {
        Word,
        Sign,
        Unknown,
        End,
    }

    impl Kind for Token {
        const WORD: Self = Token::Word;
        const UNKNOWN: Self = Token::Unknown;
        const END: Self = Token::End;

        /// Runs of letters are words, and `(`, `)` and `;` signs.
        fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, Range<usize>)> {
            let is_letter = |c: char| c.is_ascii_alphabetic();
            let starts = text.char_indices().filter(move |(at, c)| {
                let goes_on = is_letter(*c) && text[..*at].ends_with(is_letter);
                !c.is_whitespace() && !goes_on
            });
            starts.map(move |(at, c)| {
                let rest = &text[at..];
                let word = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
                match c {
                    _ if word > 0 => (Ok(Token::Word), at..at + word),
                    '(' | ')' | ';' => (Ok(Token::Sign), at..at + 1),
                    _ => (Err(()), at..at + c.len_utf8()),
                }
            })
        }
    }

    #[derive(Debug)]
    struct Tiny;

    impl Language for Tiny {
        type Token = Token;

        const CODES: Codes = Codes {
            unexpected_token: "unexpected-token",
            unexpected_character: "unexpected-character",
            name_too_long: Some("name-too-long"),
            too_deep: "too-deep",
            too_many_errors: "too-many-errors",
        };
        const WHOLE: &'static str = "text";
        const NESTING_LIMIT: u32 = 3;
        const FLATTER: &'static str = "write less";

        fn sign(foreign: char) -> Option<&'static str> {
            (foreign == '∧').then_some("and")
        }

        fn guess(cursor: &Cursor<'_, Self>) -> Option<String> {
            (cursor.word() == "und").then(|| "in English this is `and`".to_string())
        }

        fn instead(cursor: &Cursor<'_, Self>, what: &str) -> Option<Diagnostic> {
            let diagnostic = Diagnostic::error("no-bracket", cursor.span(), format!("{what} before `)`"));
            (cursor.text_here() == ")").then_some(diagnostic)
        }
    }

    /// The message where `;` is expected after the first token: code, span, message, label, help.
    fn expected(text: &str) -> String {
        let mut cursor: Cursor<'_, Tiny> = Cursor::new(text, 0);
        cursor.advance();
        cursor.expected("`;`");
        let found = &cursor.diagnostics()[0];
        let label = found.primary.as_ref().unwrap();
        let help = found.help.as_deref().unwrap_or("-");
        let Span { start, end } = label.span;
        format!("{} {start}..{end}: {} | {} | {help}", found.code, found.message, label.text)
    }

    #[rustfmt::skip]
    #[test]
    fn what_is_said_of_what_stands_here() {
        let long = "b".repeat(256);
        let wide = "b".repeat(41);
        for (text, message) in [
            ("a b",    "unexpected-token 2..3: expected `;`, found `b` | expected `;` | -"),
            ("a und",  "unexpected-token 2..5: expected `;`, found `und` | expected `;` | in English this is `and`"),
            ("a\n\n",  "unexpected-token 1..1: expected `;`, found the end of the text | expected `;` | -"),
            ("",       "unexpected-token 0..0: expected `;`, found the end of the text | expected `;` | -"),
            ("a )",    "no-bracket 2..3: `;` before `)` |  | -"),
            ("a ∧∧ b", "unexpected-character 2..8: `∧∧` is not part of the language | expected `;` | write `and`"),
            ("a \u{1}","unexpected-character 2..3: `\\u{1}` is not part of the language | expected `;` | -"),
            (&format!("a {wide}"), &format!("unexpected-token 2..42: expected `;`, found `{}..` | expected `;` | -", &wide[1..])),
            (&format!("a {long}"), "name-too-long 2..42: this name is longer than 255 characters |  | -"),
        ] {
            assert_eq!(expected(text), message, "{text:?}");
        }
    }

    #[test]
    fn errors_are_few() {
        let text = "a;".repeat(30);
        let mut cursor: Cursor<'_, Tiny> = Cursor::new(&text, 0);
        while cursor.kind() != Token::End {
            cursor.expected("`b`");
            cursor.expected("something else at the same place");
            cursor.advance();
        }
        let codes: Vec<&str> = cursor.diagnostics().iter().map(|found| found.code).collect();
        assert_eq!((codes.len(), codes[ERROR_LIMIT]), (ERROR_LIMIT + 1, "too-many-errors"));
        cursor.retract(2);
        cursor.position = 1;
        cursor.expected("a word, once there is room again");
        assert_eq!(cursor.diagnostics().len(), 3);
        assert_eq!(cursor.into_diagnostics()[2].code, "unexpected-token");
    }

    #[test]
    fn levels_are_limited() {
        let mut cursor: Cursor<'_, Tiny> = Cursor::new("a", 7);
        assert!((0..3).all(|_| cursor.deepen().is_ok()));
        assert!(cursor.deepen().is_err());
        assert_eq!(cursor.diagnostics()[0].message, "this is nested more than 3 levels deep");
        cursor.depth -= 1;
        assert!(cursor.deepen().is_ok());
    }

    #[test]
    fn words_and_lines() {
        let mut cursor: Cursor<'_, Tiny> = Cursor::new("a b\n(c", 7);
        assert!(cursor.begins_line() && !cursor.eat_word("b") && cursor.eat_word("a"));
        assert!(!cursor.begins_line() && cursor.expect_word("b").is_ok());
        assert!(cursor.begins_line() && cursor.word().is_empty() && cursor.word_ahead(1) == "c");
        assert_eq!(cursor.tokens.pair(2), Some((Token::Sign, Token::Word)));
        assert_eq!(cursor.tokens.pair(1), None);
        assert!(cursor.eat(Token::Sign) && cursor.text_of(cursor.span_from(1)) == "b\n(");
    }
}
