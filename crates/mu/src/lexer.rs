//! Words, signs and quoted texts; comments are skipped.
//!
//! Keywords are words that the parser meets where it expects them. What stands in the brackets of a
//! pattern or an atom belongs to another language: there, any character is allowed.

use logos::Logos;

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

// Words may have any length, as labels of transition systems do: no token of a text is a name.
masque_text::token_kinds!(Token, names: Token::End);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_cut_as_long_as_they_go() {
        let kinds = |text: &str| Tokens::new(text, 0).kinds().to_vec();
        use Token::*;
        assert_eq!(kinds("<->tt -> X"), [Less, Minus, Greater, Word, Minus, Greater, Word]);
        assert_eq!(kinds("<-*|a||b>"), [Less, Minus, Star, Bar, Word, Or, Word, Greater]);
        assert_eq!(kinds("a /* b ** */ // c\n /\\ % d\n 'e f' \"g\\\"\""), [Word, And, Quoted, Quoted]);
        assert_eq!(kinds("μX. ??é X"), [Mu, Word, Dot, Unknown, Word]);
    }
}
