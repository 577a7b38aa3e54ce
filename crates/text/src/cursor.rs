//! The position of a recursive descent parser among the tokens of a text, and its diagnostics.
//!
//! There is at most one diagnostic per position and at most [`ERROR_LIMIT`] per text. The message
//! "expected .., found .." is the same for all languages, except where a [`Language`] has a better
//! one.

use crate::tokens::{Kind, LONGEST_NAME, Tokens};
use crate::{Diagnostic, ReadLimits, Sources, Span};

/// Maximum number of syntax errors reported per text; the rest of the text is not read.
pub const ERROR_LIMIT: usize = 20;
/// Number of tokens that are read between two checks of the limits.
const TOKENS_PER_CHECK: usize = 4096;
/// Maximum number of bytes of source text quoted in a message.
const MAX_QUOTED_BYTES: usize = 40;

/// A syntax error that has been reported.
#[derive(Clone, Copy, Debug)]
pub struct Reported;

/// The syntax that was read, or the fact that an error has been reported.
pub type Parsed<T> = Result<T, Reported>;

/// A language's diagnostic codes for the mistakes that all languages share.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    /// A token other than the expected one.
    pub unexpected_token: &'static str,
    /// A character that belongs to no token.
    pub unexpected_character: &'static str,
    /// A name of more than [`LONGEST_NAME`] bytes. `None` where names may have any length.
    pub name_too_long: Option<&'static str>,
    /// More nested levels than [`Language::NESTING_LIMIT`].
    pub too_deep: &'static str,
    /// More errors than [`ERROR_LIMIT`].
    pub too_many_errors: &'static str,
}

/// What the cursor needs to know about a language.
pub trait Language: Sized {
    /// Kinds of token.
    type Token: Kind;

    /// Diagnostic codes.
    const CODES: Codes;
    /// What messages call the whole input: `file` or `text`.
    const WHOLE: &'static str;
    /// Maximum depth of nested brackets and prefix operators. Flat chains may have any length.
    const NESTING_LIMIT: u32;
    /// Help line of [`Codes::too_deep`]: how to write the same with fewer levels.
    const FLATTER: &'static str;

    /// How this language writes a sign of another notation.
    fn sign(_foreign: char) -> Option<&'static str> {
        None
    }

    /// Help line about the token at the cursor: what the author may have meant.
    fn guess(_cursor: &Cursor<'_, Self>) -> Option<String> {
        None
    }

    /// A better diagnostic than "expected `what`" at the cursor, if there is one.
    fn instead(_cursor: &Cursor<'_, Self>, _what: &str) -> Option<Diagnostic> {
        None
    }
}

/// A position among the tokens of a text, and the diagnostics so far.
#[derive(Debug)]
pub struct Cursor<'t, L: Language> {
    limits: ReadLimits,
    /// All tokens.
    pub tokens: Tokens<'t, L::Token>,
    /// Index of the current token.
    pub position: usize,
    /// Index of the first token of the current statement.
    pub start: usize,
    /// Nesting depth of the current token.
    pub depth: u32,
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    /// Byte position of the last error.
    last_error: Option<u32>,
    /// Whether the text is read to its end after [`ERROR_LIMIT`] errors.
    reads_all: bool,
}

/// Reading tokens.
impl<'t, L: Language> Cursor<'t, L> {
    /// Starts at the beginning of a text whose first byte is at position `base`.
    pub fn new(text: &'t str, base: u32) -> Self {
        Cursor::within(text, base, ReadLimits::default())
    }

    /// Starts at the beginning of the text at `span`, which is read within the limits of the sources.
    pub fn of(sources: &'t Sources, span: Span) -> Self {
        Cursor::within(sources.slice(span), span.start, sources.limits().clone())
    }

    fn within(text: &'t str, base: u32, limits: ReadLimits) -> Self {
        Cursor {
            tokens: Tokens::within(text, base, &limits),
            limits,
            position: 0,
            start: 0,
            depth: 0,
            diagnostics: Vec::new(),
            n_errors: 0,
            last_error: None,
            reads_all: false,
        }
    }

    /// Lets the text be read to its end whatever the number of errors, for editors. Errors after
    /// [`ERROR_LIMIT`] are still not recorded.
    pub fn read_all(&mut self) {
        self.reads_all = true;
    }

    /// Number of tokens of the text.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// The kind of the current token.
    pub fn kind(&self) -> L::Token {
        self.tokens.kind(self.position)
    }

    /// The kind of the token `ahead` tokens after the current one.
    pub fn kind_ahead(&self, ahead: usize) -> L::Token {
        self.tokens.kind(self.position + ahead)
    }

    /// The span of the current token.
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
        self.tokens.slice(span)
    }

    /// The text of the current token.
    pub fn text_here(&self) -> &'t str {
        self.text_of(self.span())
    }

    /// Whether the current token is the first on its line.
    pub fn begins_line(&self) -> bool {
        self.position == 0 || self.tokens.gap(self.position).contains('\n')
    }

    /// The current word, or the empty text if the current token is none.
    pub fn word(&self) -> &'t str {
        self.word_at(self.position)
    }

    /// The word `ahead` tokens after the current one, or the empty text.
    pub fn word_ahead(&self, ahead: usize) -> &'t str {
        self.word_at(self.position + ahead)
    }

    /// The word at a token index, or the empty text.
    pub fn word_at(&self, position: usize) -> &'t str {
        if self.tokens.kind(position) == L::Token::WORD { self.tokens.text(position) } else { "" }
    }

    /// Reads one token of any kind. Reads nothing at the end.
    pub fn advance(&mut self) -> Span {
        let span = self.span();
        if self.kind() != L::Token::END {
            self.position += 1;
        }
        // Memory for the tree was counted with the tokens; this is for time and cancellation.
        if self.position.is_multiple_of(TOKENS_PER_CHECK) && !self.limits.charge(TOKENS_PER_CHECK as u64) {
            self.position = self.tokens.len();
        }
        span
    }

    /// Reads the current token if it has this kind.
    pub fn eat(&mut self, kind: L::Token) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Reads the current token if it is this word.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.advance();
        }
        found
    }

    /// Reads a token of this kind, or reports that `what` was expected.
    pub fn expect(&mut self, kind: L::Token, what: &str) -> Parsed<Span> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.expected(what)) }
    }

    /// Reads this word, or reports that it was expected.
    pub fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.word() == word { Ok(self.advance()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Enters one more level, or reports that there are too many. The caller leaves the level by
    /// decrementing `depth`; see `nested` of [`parser_on_cursor!`](crate::parser_on_cursor).
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

/// Diagnostics.
impl<L: Language> Cursor<'_, L> {
    /// The diagnostics so far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The diagnostics, after reading.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// Records a warning or a note.
    pub fn warn(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Records an error, unless the last one was at the same position: then it is a consequence of it.
    pub fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        let position = diagnostic.primary.as_ref().map(|label| label.span.start);
        if std::mem::replace(&mut self.last_error, position) == position || self.n_errors > ERROR_LIMIT {
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
                .hint(format!("fix the errors above first; the rest of the {whole} was not read")),
        );
        if !self.reads_all {
            self.position = self.tokens.len();
        }
        Reported
    }

    /// Removes all diagnostics after the first `n`.
    pub fn retract(&mut self, n: usize) {
        while self.diagnostics.len() > n {
            self.n_errors -= usize::from(self.diagnostics.pop().is_some_and(|d| d.is_error()));
        }
        self.last_error = None;
    }

    /// The span, cut after [`MAX_QUOTED_BYTES`] bytes.
    pub fn clipped(&self, span: Span) -> Span {
        let text = self.text_of(span);
        if text.len() <= MAX_QUOTED_BYTES {
            span
        } else {
            span.slice(0, text.floor_char_boundary(MAX_QUOTED_BYTES) as u32)
        }
    }

    /// The current token, quoted for a message.
    pub fn found(&self) -> String {
        let span = self.clipped(self.span());
        match self.text_of(span) {
            _ if self.kind() == L::Token::END => format!("the end of the {}", L::WHOLE),
            text if span != self.span() => format!("`{text}..`"),
            text => format!("`{text}`"),
        }
    }

    /// Reports that the current token is not the expected one.
    pub fn expected(&mut self, what: &str) -> Reported {
        self.expected_with(what, L::guess(self))
    }

    /// Reports that the current token is not the expected one, with a help line.
    pub fn expected_with(&mut self, what: &str, help: Option<String>) -> Reported {
        let diagnostic = match L::instead(self, what) {
            Some(diagnostic) => diagnostic,
            None if self.kind() == L::Token::UNKNOWN => self.no_token(what, help),
            None => {
                let message = format!("expected {what}, found {}", self.found());
                // At the end of the text the diagnostic points just after the last token.
                let is_end = self.kind() == L::Token::END && self.position > 0;
                let span = if is_end { self.last_span().after() } else { self.clipped(self.span()) };
                let diagnostic = Diagnostic::error(L::CODES.unexpected_token, span, message).help(help);
                if what.len() <= MAX_QUOTED_BYTES {
                    diagnostic.label(format!("expected {what}"))
                } else {
                    diagnostic
                }
            }
        };
        let diagnostic = self.with_sign_fix(diagnostic);
        self.error(diagnostic)
    }

    /// Diagnostic for characters that belong to no token, or for a name that is too long.
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

    /// Help line for a sign that only other notations have.
    pub fn sign_here(&self) -> Option<String> {
        if self.kind() != L::Token::UNKNOWN {
            return None;
        }
        let first = self.text_here().chars().next()?;
        L::sign(first).map(|sign| format!("write `{sign}`"))
    }
}

/// Lets a parser with a lifetime and a field `cursor` be used as that [`Cursor`], and gives it
/// `nested`, which reads something one level deeper.
#[macro_export]
macro_rules! parser_on_cursor {
    ($parser:ident, $language:ty) => {
        impl<'t> std::ops::Deref for $parser<'t> {
            type Target = $crate::Cursor<'t, $language>;

            fn deref(&self) -> &Self::Target {
                &self.cursor
            }
        }

        impl std::ops::DerefMut for $parser<'_> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.cursor
            }
        }

        impl $parser<'_> {
            /// Reads something one level deeper.
            fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> $crate::Parsed<T>) -> $crate::Parsed<T> {
                self.deepen()?;
                let value = read(self);
                self.depth -= 1;
                value
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny::Token;

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

    /// The diagnostic where `;` is expected after the first token: code, span, message, label, help.
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
    fn messages_about_an_unexpected_token() {
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
    fn the_number_of_errors_is_limited() {
        let text = "a;".repeat(30);
        let mut cursor: Cursor<'_, Tiny> = Cursor::new(&text, 0);
        while cursor.kind() != Token::End {
            cursor.expected("`b`");
            cursor.expected("something else at the same position");
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
