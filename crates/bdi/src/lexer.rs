//! The lexer: words, numbers and signs, with comments kept separately.
//!
//! There are no keyword tokens. Some words are reserved ([`RESERVED`]); others are keywords only where
//! the parser expects them.

use logos::Logos;

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

/// A kind of token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(crate) enum Token {
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
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token(";")]
    Semicolon,
    #[token("-")]
    Minus,
    #[token("+")]
    Plus,
    #[token("&")]
    #[token("∧")]
    Ampersand,
    /// In a program a choice, in a formula a disjunction.
    #[token("|")]
    Bar,
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
    /// Text that is no token, or a word that is too long. The grammar above never produces it.
    Unknown,
    /// A comment without `*/`, which extends to the end of the file.
    Unclosed,
    /// The end of the text, after the last token.
    End,
}

masque_text::token_kinds!(Token, comment: Comment, unclosed: Unclosed);

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
