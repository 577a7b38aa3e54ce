//! The lexer: words, numbers and signs, with comments kept separately.
//!
//! There are no keyword tokens. Keywords depend on context: a keyword is a [`Token::Word`] where the
//! parser expects one.

masque_text::token_kinds! {
    comment: Comment,
    #[logos(skip r"[ \t\r\n\f]+")]
    enum Token {
        #[regex("[a-zA-Z][a-zA-Z_0-9]*")]
        Word,
        #[regex("[0-9]+")]
        Number,
        /// The path of an import.
        #[regex("\"[^\"\n]*\"")]
        Quoted,
        #[regex(r"--[^\n]*", allow_greedy = true)]
        Comment,
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
        #[token(".")]
        Dot,
        #[token("..")]
        DotDot,
        #[token("-")]
        Minus,
        #[token("*")]
        Star,
        #[token("/")]
        Slash,
        #[token("&")]
        Ampersand,
        #[token("~")]
        Tilde,
        #[token("^")]
        Caret,
    }
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
