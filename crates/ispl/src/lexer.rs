//! The lexer: words, numbers and signs, with comments kept separately.
//!
//! There are no keyword tokens. Keywords depend on context: a keyword is a [`Token::Word`] where the
//! parser expects one.

use logos::Logos;

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(crate) enum Token {
    #[regex("[a-zA-Z][a-zA-Z_0-9]*")]
    Word,
    #[regex("[0-9]+")]
    Number,
    /// The path of an import.
    #[regex("\"[^\"\n]*\"")]
    Quoted,
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
    /// Text that is no token, or a word that is too long. The grammar above never produces it.
    Unknown,
    /// The end of the text, after the last token.
    End,
}

masque_text::token_kinds!(Token, comment: Comment);

/// The spans of all comments of a file, in the order of the text.
pub fn comments(sources: &masque_text::Sources, file: masque_text::FileId) -> Vec<masque_text::Span> {
    let tokens = Tokens::new(sources.text(file), sources.span(file).start);
    tokens.comments().iter().map(|comment| comment.span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_sign_wins() {
        let kinds = |text: &str| Tokens::new(text, 0).kinds().to_vec();
        use Token::*;
        assert_eq!(kinds("a<->b<-1..N"), [Word, Iff, Word, Less, Minus, Number, DotDot, Word]);
        assert_eq!(kinds("<g>X p -- <g>\n!=<>"), [Less, Word, Greater, Word, Word, Unequal, Unequal]);
        assert_eq!(kinds("x $$% y"), [Word, Unknown, Word]);
    }
}
