//! The lexer: words, numbers and signs, with comments kept separately.
//!
//! There are no keyword tokens. Some words are reserved ([`RESERVED`]); others are keywords only where
//! the parser expects them.

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

masque_text::token_kinds! {
    comment: Comment,
    unclosed: Unclosed,
    #[logos(skip r"[ \t\r\n\f]+")]
    enum Token {
        #[regex("[a-zA-Z_][a-zA-Z_0-9]*")]
        Word,
        #[regex("[0-9]+")]
        Number,
        /// The path of an import.
        #[regex("\"[^\"\n]*\"")]
        Quoted,
        #[regex(r"//[^\n]*", allow_greedy = true)]
        #[token("/*", block_comment)]
        Comment,
        #[token("<")]
        Less,
        #[token(">")]
        Greater,
        #[token("<=")]
        #[token("≤")]
        AtMost,
        #[token(">=")]
        #[token("≥")]
        AtLeast,
        #[token("!=")]
        #[token("≠")]
        Unequal,
        #[token("=")]
        Equal,
        #[token(":=")]
        Assign,
        #[token("->")]
        #[token("→")]
        #[token("⇒")]
        #[token("⊃")]
        Implies,
        #[token("<->")]
        #[token("↔")]
        #[token("⇔")]
        #[token("≡")]
        Iff,
        #[token("!")]
        #[token("¬")]
        Not,
        #[token(".")]
        Dot,
        #[token("..")]
        DotDot,
        #[token("-")]
        Minus,
        #[token("&")]
        #[token("∧")]
        Ampersand,
        /// A disjunction, never a choice.
        #[token("∨")]
        Vee,
        #[token("||")]
        #[token("∥")]
        #[token("‖")]
        Parallel,
        #[token("∀")]
        ForAll,
        #[token("∃")]
        Exists,
        #[token("∈")]
        Element,
        #[token("⊤")]
        Verum,
        #[token("⊥")]
        Falsum,
        /// A comment without `*/`, which extends to the end of the file.
        Unclosed,
    }
}

/// How the formatter writes a sign of the paper, or `None` for all other tokens. `∀` and `∃` depend on what follows.
pub(crate) fn ascii(kind: Token, text: &str) -> Option<&'static str> {
    if text.is_ascii() {
        return None;
    }
    Some(match kind {
        Token::AtMost => "<=",
        Token::AtLeast => ">=",
        Token::Unequal => "!=",
        Token::Implies => "->",
        Token::Iff => "<->",
        Token::Not => "!",
        Token::Ampersand => "&",
        Token::Vee => "|",
        Token::Parallel => "||",
        Token::Element => " in ",
        Token::Verum => " true ",
        Token::Falsum => " false ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_sign_wins() {
        let kinds = |text: &str| Tokens::new(text, 0).kinds().to_vec();
        use Token::*;
        assert_eq!(kinds("a||b|c:=0..7"), [Word, Parallel, Word, Bar, Word, Assign, Number, DotDot, Number]);
        assert_eq!(kinds("p<->q // r\n/* s\n*/!t"), [Word, Iff, Word, Not, Word]);
        assert_eq!(kinds("x $$% y"), [Word, Unknown, Word]);
        assert_eq!(kinds("x /* y"), [Word, Unclosed]);
        assert_eq!(
            kinds("∀p∈AP:¬p∧q⊃r"),
            [ForAll, Word, Element, Word, Colon, Not, Word, Ampersand, Word, Implies, Word]
        );
    }
}
