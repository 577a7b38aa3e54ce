//! The lexical pieces of a text in each language, and where its keywords and operators are found.
//!
//! Pieces are found by the rules that all four lexers share, so that they exist in half-typed texts, too.

use std::ops::Range;
use std::path::Path;

use masque_driver::{Language, is_properties};
use masque_text::Operator;

/// A language with words of its own. Files of properties differ from protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tongue {
    /// Interpreted systems.
    Ispl,
    /// Programs of agents.
    Bdi,
    /// Protocols and policies.
    Lcc,
    /// Properties in the mu-calculus.
    Mu,
    /// Transition systems.
    Aut,
}

impl Tongue {
    /// The language of a file, by its name; ISPL if the name does not show it.
    pub(crate) fn of(path: &Path) -> Tongue {
        match Language::of_path(path) {
            Some(Language::Bdi) => Tongue::Bdi,
            Some(Language::Lcc) if is_properties(path) => Tongue::Mu,
            Some(Language::Lcc) => Tongue::Lcc,
            Some(Language::Aut) => Tongue::Aut,
            Some(Language::Ispl) | None => Tongue::Ispl,
        }
    }

    /// The words that begin or divide constructs, also those that are names in other places.
    pub(crate) fn keywords(self) -> Vec<&'static str> {
        match self {
            Tongue::Ispl => masque_ispl::KEYWORDS.to_vec(),
            Tongue::Bdi => masque_bdi::keywords().collect(),
            Tongue::Lcc => masque_lcc::keywords().collect(),
            Tongue::Mu => masque_mu::keywords().collect(),
            Tongue::Aut => vec!["des"],
        }
    }

    /// The operators that hover and signature help explain.
    pub(crate) fn operators(self) -> &'static [Operator] {
        match self {
            Tongue::Ispl => &masque_ispl::OPERATORS,
            Tongue::Bdi => &masque_bdi::OPERATORS,
            Tongue::Lcc => &masque_lcc::OPERATORS,
            Tongue::Mu => &masque_mu::OPERATORS,
            Tongue::Aut => &[],
        }
    }

    /// The operator with this sign.
    pub(crate) fn operator(self, sign: &str) -> Option<&'static Operator> {
        self.operators().iter().find(|operator| operator.word == sign)
    }

    /// Whether a text can be a name of this language.
    pub(crate) fn is_name(self, text: &str) -> bool {
        let mut chars = text.chars();
        let Some(first) = chars.next() else { return false };
        let starts = match self {
            Tongue::Ispl => first.is_ascii_alphabetic(),
            Tongue::Bdi => first.is_ascii_alphabetic() || first == '_',
            Tongue::Lcc | Tongue::Mu | Tongue::Aut => {
                first.is_ascii_alphabetic() || first == '$' || first == '_'
            }
        };
        let may_have_dollar = !matches!(self, Tongue::Ispl | Tongue::Bdi);
        let continues = |c: char| c.is_ascii_alphanumeric() || c == '_' || (c == '$' && may_have_dollar);
        starts
            && chars.all(continues)
            && text.len() <= masque_text::LONGEST_NAME
            && !self.keywords().contains(&text)
    }

    /// The signs that begin a comment up to the end of the line.
    fn line_comments(self) -> &'static [&'static str] {
        match self {
            Tongue::Ispl => &["--"],
            Tongue::Bdi | Tongue::Aut => &["//"],
            Tongue::Lcc | Tongue::Mu => &["//", "%"],
        }
    }
}

/// The operands between the brackets of the form, as ranges of bytes.
pub(crate) fn parameters(operator: &Operator) -> Vec<Range<usize>> {
    let (Some(open), Some(close)) = (operator.form.find('('), operator.form.rfind(')')) else {
        return Vec::new();
    };
    let mut parameters = Vec::new();
    let mut start = open + 1;
    for (at, sign) in operator.form[..close].match_indices(", ").chain([(close, "")]) {
        if at > open {
            parameters.push(start..at);
            start = at + sign.len();
        }
    }
    parameters
}

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Comment,
    Text,
    Number,
    Word,
    Sign,
}

/// Splits a text into comments, quoted texts, numbers, words and single signs. White space is left out.
pub(crate) fn pieces(tongue: Tongue, text: &str) -> Vec<(PieceKind, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let up_to = |end: Option<usize>| end.unwrap_or(rest.len());
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let (kind, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if tongue.line_comments().iter().any(|sign| rest.starts_with(sign)) {
            (PieceKind::Comment, up_to(rest.find(['\n', '\r'])))
        } else if tongue != Tongue::Ispl && rest.starts_with("/*") {
            (PieceKind::Comment, up_to(rest.find("*/").map(|end| end + 2)))
        } else if first == '"' || (first == '\'' && matches!(tongue, Tongue::Lcc | Tongue::Mu)) {
            let end = rest[1..].find([first, '\n']).map(|end| end + 1);
            (PieceKind::Text, up_to(end.map(|end| end + usize::from(rest[end..].starts_with(first)))))
        } else if first.is_ascii_digit() {
            (PieceKind::Number, up_to(rest.find(|c: char| !c.is_ascii_digit())))
        } else if is_word(first) {
            (PieceKind::Word, up_to(rest.find(|c| !is_word(c))))
        } else {
            (PieceKind::Sign, first.len_utf8())
        };
        found.push((kind, at..at + length));
        at += length;
    }
    found
}

/// The word around an offset, or just before it.
pub(crate) fn word_at(text: &str, offset: usize) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let offset = crate::lines::floor_boundary(text, offset);
    let start = text[..offset]
        .rfind(|c| !is_word(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end = text[offset..].find(|c| !is_word(c)).map_or(text.len(), |at| offset + at);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_half_typed_text() {
        let text = "AG x=12 -- é, \"no\"\n\"open";
        let kinds: Vec<_> =
            pieces(Tongue::Ispl, text).into_iter().map(|(kind, at)| (kind, &text[at])).collect();
        assert_eq!(
            kinds,
            [
                (PieceKind::Word, "AG"),
                (PieceKind::Word, "x"),
                (PieceKind::Sign, "="),
                (PieceKind::Number, "12"),
                (PieceKind::Comment, "-- é, \"no\""),
                (PieceKind::Text, "\"open"),
            ]
        );
        assert_eq!(pieces(Tongue::Lcc, "/* x").len(), 1);
        assert_eq!(pieces(Tongue::Mu, "'a' \u{a0}b").len(), 2);
    }

    #[test]
    fn words_at_their_ends() {
        let text = "é ab.cd";
        assert_eq!(&text[word_at(text, 4)], "ab");
        assert_eq!(&text[word_at(text, 5)], "ab");
        assert_eq!(&text[word_at(text, 6)], "cd");
        assert_eq!(&text[word_at(text, 99)], "cd");
    }

    #[test]
    fn names_are_valid_or_not() {
        assert!(Tongue::Ispl.is_name("bit2") && Tongue::Lcc.is_name("$x"));
        for bad in ["", "2bit", "a b", "end", "a-b", "é", "_x", "$x"] {
            assert!(!Tongue::Ispl.is_name(bad), "{bad}");
        }
    }

    #[test]
    fn operands_of_operators() {
        let operator = Tongue::Ispl.operator("KH").unwrap();
        let names: Vec<_> = parameters(operator).into_iter().map(|at| &operator.form[at]).collect();
        assert_eq!(names, ["agent", "group", "phi"]);
        assert!(parameters(Tongue::Ispl.operator("AG").unwrap()).is_empty());
    }
}
