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

/// Calls `receive` with each token of a text of a language, without comments. There is no list of tokens, because
/// it would be many times as long as the text, and a formula may have several megabytes.
pub fn for_each_piece<'t, K: Kind>(text: &'t str, receive: &mut dyn FnMut(Piece<'t>)) {
    let mut end = 0;
    for (kind, range) in K::cut(text) {
        if kind.is_ok_and(K::is_comment) {
            continue;
        }
        let is_word = kind == Ok(K::WORD);
        receive(Piece { text: &text[range.clone()], is_word, follows_gap: end < range.start });
        end = range.end;
    }
}

/// Pieces on one line: one space stands for each gap but a first one.
#[derive(Clone, Debug, Default)]
pub struct OneLine {
    /// The text so far.
    pub text: String,
}

impl OneLine {
    /// Adds a piece at the end.
    pub fn push(&mut self, piece: Piece<'_>) {
        if piece.follows_gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(piece.text);
    }
}

/// Returns a text of a language on one line and without comments.
pub fn on_one_line<K: Kind>(text: &str) -> String {
    let mut line = OneLine::default();
    for_each_piece::<K>(text, &mut |piece| line.push(piece));
    line.text
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
