//! The lexer: words, signs and quoted texts. Comments are skipped.
//!
//! A keyword is a word where the parser expects one. The brackets of a pattern or an atom contain text
//! of another language, in which any character is allowed.

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
    #[token("⟨")]
    #[token("〈")]
    Less,
    #[token(">")]
    #[token("⟩")]
    #[token("〉")]
    Greater,
    #[token("-")]
    #[token("−")]
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
    /// Text that is no token. The grammar above never produces it.
    Unknown,
    /// The end of the text, after the last token.
    End,
}

// Words may have any length, as labels of transition systems may, so no token counts as a name.
masque_text::token_kinds!(Token, names: Token::End);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_sign_wins() {
        let kinds = |text: &str| Tokens::new(text, 0).kinds().to_vec();
        use Token::*;
        assert_eq!(kinds("<->tt -> X"), [Less, Minus, Greater, Word, Minus, Greater, Word]);
        assert_eq!(kinds("<-*|a||b>"), [Less, Minus, Star, Bar, Word, Or, Word, Greater]);
        assert_eq!(kinds("a /* b ** */ // c\n /\\ % d\n 'e f' \"g\\\"\""), [Word, And, Quoted, Quoted]);
        assert_eq!(kinds("⟨−⟩tt"), [Less, Minus, Greater, Word]);
        assert_eq!(kinds("μX. ??é X"), [Mu, Word, Dot, Unknown, Word]);
    }
}
