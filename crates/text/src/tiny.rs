//! A tiny language for the tests of this crate.

use std::ops::Range;

use crate::Kind;

/// Runs of ASCII letters are words, `#` begins a comment up to the end of the line, `/*` one up to `*/`, and other
/// ASCII punctuation is signs of one character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Word,
    Sign,
    Comment,
    Unknown,
    End,
}

impl Kind for Token {
    const WORD: Self = Token::Word;
    const UNKNOWN: Self = Token::Unknown;
    const END: Self = Token::End;

    fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, Range<usize>)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            at += text[at..].find(|c: char| !c.is_whitespace())?;
            let rest = &text[at..];
            let word = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let (kind, len) = match rest.chars().next()? {
                _ if word > 0 => (Ok(Token::Word), word),
                '#' => (Ok(Token::Comment), rest.find('\n').unwrap_or(rest.len())),
                '/' if rest.starts_with("/*") => {
                    (Ok(Token::Comment), rest.find("*/").map_or(rest.len(), |end| end + 2))
                }
                c if c.is_ascii_punctuation() => (Ok(Token::Sign), 1),
                c => (Err(()), c.len_utf8()),
            };
            at += len;
            Some((kind, at - len..at))
        })
    }

    fn is_comment(self) -> bool {
        self == Token::Comment
    }
}
