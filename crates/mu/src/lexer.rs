//! The lexer: words, signs and quoted texts, with comments kept separately.
//!
//! A keyword is a word where the parser expects one. The brackets of a pattern or an atom contain text
//! of another language, in which any character is allowed.

masque_text::token_kinds! {
    comment: Comment,
    // Words may have any length, as labels of transition systems may, so no token counts as a name.
    names: Token::End,
    #[logos(skip r"[ \t\r\n\f\u{feff}]+")]
    enum Token {
        #[regex(r"(//|%)[^\n]*", allow_greedy = true)]
        #[regex(r"/\*([^*]|\*+[^*/])*\*+/")]
        Comment,
        #[regex("[a-zA-Z_$][a-zA-Z_$0-9]*")]
        #[token("τ")]
        Word,
        #[regex(r"[0-9]+")]
        Number,
        #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
        #[regex(r"'([^'\\\n]|\\[^\n])*'")]
        Quoted,
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
        #[token(".")]
        Dot,
        #[token("*")]
        Star,
        #[token("#")]
        Hash,
        #[token("@")]
        At,
    }
}

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
