//! Words, signs and quoted texts; comments are skipped.
//!
//! Keywords are words that the parser meets where it expects them. What stands in the brackets of a
//! pattern or an atom belongs to another language: there, any character is allowed.

use logos::Logos;
use masque_text::Span;

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
#[logos(skip(r"(//|%)[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(crate) enum Token {
    #[regex("[a-zA-Z_$][a-zA-Z_$0-9]*")]
    #[token("τ")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[regex(r"'([^'\\\n]|\\[^\n])*'")]
    Quoted,
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
    #[token("-")]
    Minus,
    #[token("→")]
    Arrow,
    #[token("&&")]
    #[token("/\\")]
    #[token("∧")]
    And,
    #[token("||")]
    #[token("\\/")]
    #[token("∨")]
    Or,
    #[token("!")]
    #[token("~")]
    #[token("¬")]
    Not,
    #[token("μ")]
    Mu,
    #[token("ν")]
    Nu,
    #[token("|")]
    Bar,
    #[token(".")]
    Dot,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    #[token("#")]
    Hash,
    #[token("@")]
    At,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    /// What is no token; never produced by the grammar above.
    Unknown,
    /// After the last token.
    End,
}

/// The tokens of one text with their spans. The last one is [`Token::End`].
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    kinds: Vec<Token>,
    spans: Vec<Span>,
}

impl Tokens {
    /// Cuts `text`, whose first byte is at position `base`.
    pub(crate) fn new(text: &str, base: u32) -> Self {
        let mut tokens = Tokens::default();
        for (token, range) in Token::lexer(text).spanned() {
            let span = Span { start: base + range.start as u32, end: base + range.end as u32 };
            match (token, tokens.spans.last_mut()) {
                // A run of garbage is one token, and so one message.
                (Err(()), Some(last))
                    if tokens.kinds.last() == Some(&Token::Unknown) && last.end == span.start =>
                {
                    last.end = span.end;
                }
                (token, _) => tokens.push(token.unwrap_or(Token::Unknown), span),
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
        assert_eq!(kinds("<->tt -> X"), [Less, Minus, Greater, Word, Minus, Greater, Word]);
        assert_eq!(kinds("<-*|a||b>"), [Less, Minus, Star, Bar, Word, Or, Word, Greater]);
        assert_eq!(kinds("a /* b ** */ // c\n /\\ % d\n 'e f' \"g\\\"\""), [Word, And, Quoted, Quoted]);
        assert_eq!(kinds("μX. ??é X"), [Mu, Word, Dot, Unknown, Word]);
    }
}
