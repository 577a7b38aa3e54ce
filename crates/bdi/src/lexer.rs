//! Words, numbers and signs; comments on the side.
//!
//! There are no keyword tokens. Some words are reserved ([`RESERVED`]), others mean something only
//! where the grammar asks for them, so the parser tells them apart.

use logos::Logos;
use masque_text::Span;

/// Words longer than this are no names: messages quote names, and nobody could read them.
pub(crate) const LONGEST_WORD: usize = 255;

/// Words that are never names.
pub(crate) const RESERVED: [&str; 28] = [
    "agent",
    "view",
    "is",
    "init",
    "loop",
    "endloop",
    "if",
    "then",
    "else",
    "do",
    "skip",
    "forall",
    "true",
    "false",
    "any",
    "mas",
    "property",
    "option",
    "top",
    "var",
    "bdi",
    "initially",
    "EX",
    "EF",
    "EG",
    "AX",
    "AF",
    "AG",
];

/// Whether a word is never a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(crate) enum Token {
    #[regex("[a-zA-Z_][a-zA-Z_0-9]*")]
    Word,
    #[regex("[0-9]+")]
    Number,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<=")]
    AtMost,
    #[token(">=")]
    AtLeast,
    #[token("!=")]
    Unequal,
    #[token("=")]
    Equal,
    #[token(":=")]
    Assign,
    #[token("->")]
    Implies,
    #[token("<->")]
    Iff,
    #[token("!")]
    Not,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token(";")]
    Semicolon,
    #[token("-")]
    Minus,
    #[token("+")]
    Plus,
    #[token("&")]
    Ampersand,
    #[token("|")]
    Bar,
    #[token("||")]
    Parallel,
    /// What is no token, or a word that is too long; never produced by the grammar above.
    Unknown,
    /// `/*` without its `*/`; it reaches to the end of the file.
    Unterminated,
    /// After the last token.
    End,
}

/// The rest of a comment after `/*`.
fn block_comment(lexer: &mut logos::Lexer<'_, Token>) -> bool {
    let Some(length) = lexer.remainder().find("*/") else { return false };
    lexer.bump(length + 2);
    true
}

/// The tokens of one file with their spans. The last one is [`Token::End`].
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    kinds: Vec<Token>,
    spans: Vec<Span>,
    pub(crate) comments: Vec<Span>,
}

impl Tokens {
    /// Cuts `text`, whose first byte is at position `base`.
    pub(crate) fn new(text: &str, base: u32) -> Self {
        let mut tokens = Tokens::default();
        let end = base + text.len() as u32;
        for (token, range) in Token::lexer(text).spanned() {
            let span = Span { start: base + range.start as u32, end: base + range.end as u32 };
            match token {
                Ok(Token::LineComment | Token::BlockComment) => tokens.comments.push(span),
                Ok(Token::Word) if range.len() > LONGEST_WORD => tokens.push(Token::Unknown, span),
                Ok(kind) => tokens.push(kind, span),
                Err(()) if text[range.clone()].starts_with("/*") => {
                    tokens.push(Token::Unterminated, Span { start: span.start, end });
                    break;
                }
                // A run of garbage is one token, and so one message.
                Err(()) => match tokens.spans.last_mut() {
                    Some(last) if tokens.kinds.last() == Some(&Token::Unknown) && last.end == span.start => {
                        last.end = span.end;
                    }
                    _ => tokens.push(Token::Unknown, span),
                },
            }
        }
        tokens.push(Token::End, Span { start: end, end });
        tokens
    }

    fn push(&mut self, kind: Token, span: Span) {
        self.kinds.push(kind);
        self.spans.push(span);
    }

    /// The kind of a token; `End` from the end on.
    pub(crate) fn kind(&self, index: usize) -> Token {
        self.kinds.get(index).copied().unwrap_or(Token::End)
    }

    /// The span of a token.
    pub(crate) fn span(&self, index: usize) -> Span {
        self.spans[index.min(self.spans.len() - 1)]
    }

    /// How many tokens there are, `End` not counted.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_cut_as_long_as_they_go() {
        let kinds = |text: &str| {
            let tokens = Tokens::new(text, 0);
            (0..tokens.len()).map(|i| tokens.kind(i)).collect::<Vec<_>>()
        };
        use Token::*;
        assert_eq!(kinds("a||b|c:=0..7"), [Word, Parallel, Word, Bar, Word, Assign, Number, DotDot, Number]);
        assert_eq!(kinds("p<->q // r\n/* s\n*/!t"), [Word, Iff, Word, Not, Word]);
        assert_eq!(kinds("x $$% y"), [Word, Unknown, Word]);
        assert_eq!(kinds("x /* y"), [Word, Unterminated]);
    }
}
