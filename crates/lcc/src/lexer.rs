//! The lexer: names, numbers and signs, with comments kept separately.
//!
//! A keyword is a word where the parser expects one. The lexer maps the mathematical signs of the paper
//! and the arrows of OpenKnowledge to the signs of this language.

masque_text::token_kinds! {
    comment: Comment,
    unclosed: Unclosed,
    names: Token::Word | Token::Variable | Token::Dotted,
    #[logos(skip r"[ \t\r\n\f\u{feff}]+")]
    enum Token {
        /// A constant, a keyword or a functor.
        #[regex(r"[a-z$][A-Za-z0-9_$]*")]
        Word,
        #[regex(r"[A-Z_][A-Za-z0-9_$]*")]
        Variable,
        #[regex(r"[0-9]+(\.[0-9]+)?")]
        Number,
        /// `X.509`: a name, a full stop and a digit without space between them are one constant.
        #[regex(r"[A-Za-z$][A-Za-z0-9_$]*(\.[0-9][A-Za-z0-9_$]*)+")]
        Dotted,
        /// `'X.509'` or `"r0"`: the constant with that text.
        #[regex(r"'[^'\n]*'")]
        #[regex("\"[^\"\n]*\"")]
        Quoted,
        #[regex(r"//[^\n]*", allow_greedy = true)]
        #[regex(r"%[^\n]*", allow_greedy = true)]
        #[token("/*", block_comment)]
        Comment,
        #[token(".")]
        Stop,
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
        #[token("-")]
        #[token("−")]
        Minus,
        #[token("*")]
        Star,
        #[token("/")]
        Slash,
        #[token("@")]
        At,
        #[token("#")]
        Hash,
        /// A quote that is not closed on its line, or a comment that is not closed.
        #[regex("['\"]", priority = 1)]
        Unclosed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_sign_wins() {
        let kinds = |text: &str| Tokens::new(text, 0).kinds().to_vec();
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
        assert_eq!(
            kinds("X.509, p.q v1.2.3x. X. 5 _.5"),
            [Dotted, Comma, Word, Stop, Word, Dotted, Stop, Variable, Stop, Number, Variable, Stop, Number]
        );
        assert_eq!(kinds("⇒ ⇐ ← ∧ ∨ ¬ →"), [Sends, Receives, If, And, Or, Not, To]);
        assert_eq!(kinds("x ?^? y /* z */ % w\n _q // r"), [Word, Unknown, Word, Variable]);
        assert_eq!(kinds("'x\ny /* z"), [Unclosed, Word, Word, Unclosed]);
    }
}
