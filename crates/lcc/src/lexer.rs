//! Names, numbers and signs; comments on the side.
//!
//! Keywords are words that the parser meets where it expects one. The mathematical signs of the
//! paper and the arrows of OpenKnowledge become the signs of this language here, so that no later
//! stage knows of them.

use logos::{Lexer, Logos};
use masque_text::Span;

/// Words longer than this are no names: messages quote names, and nobody could read them.
const LONGEST_WORD: usize = 255;

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
pub(crate) enum Token {
    /// A constant, a keyword or a functor.
    #[regex(r"[a-z$][A-Za-z0-9_$]*")]
    Word,
    #[regex(r"[A-Z_][A-Za-z0-9_$]*")]
    Variable,
    #[regex(r"[0-9]+(\.[0-9]+)?")]
    Number,
    /// `'X.509'` or `"r0"`: the constant with that text.
    #[regex(r"'[^'\n]*'")]
    #[regex("\"[^\"\n]*\"")]
    Quoted,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[regex(r"%[^\n]*", allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(".")]
    Stop,
    #[token(":")]
    Colon,
    #[token("::")]
    Defines,
    #[token("=>")]
    #[token("⇒")]
    Sends,
    #[token("<=")]
    #[token("⇐")]
    Receives,
    #[token("<-")]
    #[token("<--")]
    #[token("←")]
    If,
    #[token("->")]
    #[token("→")]
    To,
    #[token("/\\")]
    #[token("&&")]
    #[token("∧")]
    And,
    #[token("\\/")]
    #[token("||")]
    #[token("∨")]
    Or,
    #[token(";")]
    Semicolon,
    #[token("~")]
    #[token("!")]
    #[token("\\+")]
    #[token("¬")]
    Not,
    #[token("=")]
    Equal,
    #[token("\\=")]
    Differs,
    #[token("==")]
    Same,
    #[token("\\==")]
    #[token("!=")]
    NotSame,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("=<")]
    AtMost,
    #[token(">=")]
    AtLeast,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    #[token("#")]
    Hash,
    /// A quote that does not end on its line, or a comment that does not end.
    #[regex("['\"]", priority = 1)]
    Unclosed,
    /// What is no token, or a word that is too long; never produced by the grammar above.
    Unknown,
    /// After the last token.
    End,
}

/// Skips to the end of a `/* .. */`; a comment without end is no token.
fn block_comment(lexer: &mut Lexer<'_, Token>) -> bool {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            true
        }
        None => {
            lexer.bump(lexer.remainder().len());
            false
        }
    }
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
                Ok(Token::Word | Token::Variable) if range.len() > LONGEST_WORD => {
                    tokens.push(Token::Unknown, span);
                }
                Ok(kind) => tokens.push(kind, span),
                Err(()) if text[range.clone()].starts_with("/*") => tokens.push(Token::Unclosed, span),
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
        assert_eq!(
            kinds("m(X)=>a(r,B)<-p."),
            [Word, Open, Variable, Close, Sends, Word, Open, Word, Comma, Variable, Close, If, Word, Stop]
        );
        assert_eq!(kinds("c <-- m <= n"), [Word, If, Word, Receives, Word]);
        assert_eq!(
            kinds("X=<1.5 \\== != 'X.509' \"r0\" 7."),
            [Variable, AtMost, Number, NotSame, NotSame, Quoted, Quoted, Number, Stop]
        );
        assert_eq!(kinds("⇒ ⇐ ← ∧ ∨ ¬ →"), [Sends, Receives, If, And, Or, Not, To]);
        assert_eq!(kinds("x ?^? y /* z */ % w\n _q // r"), [Word, Unknown, Word, Variable]);
        assert_eq!(kinds("'x\ny /* z"), [Unclosed, Word, Word, Unclosed]);
    }
}
