//! Words, numbers and signs; comments on the side.
//!
//! There are no keyword tokens: keywords are contextual, so a keyword is a [`Token::Word`] that
//! the parser meets where it expects one.

use logos::Logos;
use masque_text::Span;

/// Words longer than this are no names: messages quote names, and nobody could read them.
pub(crate) const LONGEST_WORD: usize = 255;

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(crate) enum Token {
    #[regex("[a-zA-Z][a-zA-Z_0-9]*")]
    Word,
    #[regex("[0-9]+")]
    Number,
    #[regex(r"--[^\n]*", allow_greedy = true)]
    Comment,
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
    #[token("<>")]
    #[token("!=")]
    Unequal,
    #[token("=")]
    Equal,
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
    #[token(";")]
    Semicolon,
    #[token("..")]
    DotDot,
    #[token("-")]
    Minus,
    #[token("+")]
    Plus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("&")]
    Ampersand,
    #[token("|")]
    Bar,
    #[token("~")]
    Tilde,
    #[token("^")]
    Caret,
    /// What is no token, or a word that is too long; never produced by the grammar above.
    Unknown,
    /// After the last token.
    End,
}

/// A comment, and the token it stands before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comment {
    pub(crate) span: Span,
    /// The index of the next token.
    pub(crate) before: u32,
}

/// The tokens of one file with their spans. The last one is [`Token::End`].
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    kinds: Vec<Token>,
    spans: Vec<Span>,
    pub(crate) comments: Vec<Comment>,
}

impl Tokens {
    /// Cuts `text`, whose first byte is at position `base`.
    pub(crate) fn new(text: &str, base: u32) -> Self {
        let mut tokens = Tokens::default();
        for (token, range) in Token::lexer(text).spanned() {
            let span = Span { start: base + range.start as u32, end: base + range.end as u32 };
            match token {
                Ok(Token::Comment) => {
                    tokens.comments.push(Comment { span, before: tokens.kinds.len() as u32 });
                }
                Ok(Token::Word) if range.len() > LONGEST_WORD => tokens.push(Token::Unknown, span),
                Ok(kind) => tokens.push(kind, span),
                // A run of garbage is one token, and so one message.
                Err(()) => match tokens.spans.last_mut() {
                    Some(last) if tokens.kinds.last() == Some(&Token::Unknown) && last.end == span.start => {
                        last.end = span.end;
                    }
                    _ => tokens.push(Token::Unknown, span),
                },
            }
        }
        let end = base + text.len() as u32;
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

    /// The first token at or after a position.
    pub(crate) fn at(&self, position: u32) -> usize {
        self.spans.partition_point(|span| span.start < position)
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
        assert_eq!(kinds("a<->b<-1..N"), [Word, Iff, Word, Less, Minus, Number, DotDot, Word]);
        assert_eq!(kinds("<g>X p -- <g>\n!=<>"), [Less, Word, Greater, Word, Word, Unequal, Unequal]);
        assert_eq!(kinds("x $$% y"), [Word, Unknown, Word]);
    }
}
