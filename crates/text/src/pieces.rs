//! A text as its author wrote it, but on one line and without comments.

use crate::Kind;

/// A token of a text, for printing the text again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'t> {
    /// The token.
    pub text: &'t str,
    /// Whether it is a name or a keyword.
    pub is_word: bool,
    /// Whether white space or a comment precedes it.
    pub follows_gap: bool,
}

/// Splits a text of a language into its tokens, without comments.
pub fn pieces<K: Kind>(text: &str) -> Vec<Piece<'_>> {
    let mut end = 0;
    let mut pieces = Vec::new();
    for (kind, range) in K::cut(text) {
        if kind.is_ok_and(K::is_comment) {
            continue;
        }
        let is_word = kind == Ok(K::WORD);
        pieces.push(Piece { text: &text[range.clone()], is_word, follows_gap: end < range.start });
        end = range.end;
    }
    pieces
}

/// Joins pieces: one space stands for each gap but a first one.
pub fn join_pieces<'t>(pieces: impl IntoIterator<Item = Piece<'t>>) -> String {
    let mut line = String::new();
    for piece in pieces {
        if piece.follows_gap && !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece.text);
    }
    line
}

/// Returns a text of a language on one line and without comments.
pub fn on_one_line<K: Kind>(text: &str) -> String {
    join_pieces(pieces::<K>(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny::Token;

    #[test]
    fn gaps_become_one_space_and_comments_vanish() {
        let check = |text, line| assert_eq!(on_one_line::<Token>(text), line);
        check("", "");
        check("  a", "a");
        check("a(b ,\n\t c)", "a(b , c)");
        check("a # or b\n  or c # or d", "a or c");
        check("a# b\nc", "a c");
        check("é→ ü", "é→ ü");
    }
}
