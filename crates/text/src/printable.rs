//! Foreign text made safe for terminals and logs.
//!
//! File names, quoted constants, labels of transition systems and messages of other processes may contain
//! any character. Printed as they are, control characters could move the cursor and overwrite a verdict, and
//! a line break could forge a line of a log.

use std::borrow::Cow;

/// Returns the text with an escape such as `\u{1b}` or `\n` in place of each character that controls a
/// terminal or the direction of text.
///
/// ```
/// use masque_text::printable;
/// assert_eq!(printable("quote(fl(lh, 7)) é"), "quote(fl(lh, 7)) é");
/// assert_eq!(printable("x\u{1b}[2Jy\n"), r"x\u{1b}[2Jy\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_printable(c) { safe.push(c) } else { safe.extend(c.escape_default()) }
    }
    Cow::Owned(safe)
}

/// Whether a character neither controls a terminal (C0, C1, delete, line and paragraph separators) nor reorders
/// text.
pub fn is_printable(c: char) -> bool {
    let reorders =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    !c.is_control() && !reorders
}

/// Number of bytes that are looked at together.
const CHUNK_BYTES: usize = 32;

/// Returns the position of the first character that does not pass. Printable characters of ASCII and line breaks always
/// pass; most output has no others, so they are looked at in chunks.
pub fn first_unprintable(text: &str, passes: impl Fn(char) -> bool) -> Option<usize> {
    let is_plain = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
    let bytes = text.as_bytes();
    let mut position = 0;
    loop {
        let rest = &bytes[position..];
        let n_plain = rest.chunks_exact(CHUNK_BYTES).take_while(|chunk| chunk.iter().all(is_plain)).count();
        position += n_plain * CHUNK_BYTES;
        position += bytes[position..].iter().position(|byte| !is_plain(byte))?;
        // Everything before is ASCII or whole characters, so a character begins here.
        let next = text[position..].chars().next()?;
        if !passes(next) {
            return Some(position);
        }
        position += next.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_unprintable_character_is_found() {
        let long = "plain ∧ text with ⟨⟩ signs\n".repeat(10);
        for (text, expected) in [
            ("", None),
            ("plain\n", None),
            (long.as_str(), None),
            ("\t", Some(0)),
            ("é\u{1b}", Some(2)),
            ("∧∧\u{202e}x", Some(6)),
            (&(long.clone() + "\u{7f}"), Some(long.len())),
            (&("x".repeat(33) + "\u{9b}"), Some(33)),
        ] {
            assert_eq!(first_unprintable(text, is_printable), expected, "{text:?}");
        }
        assert_eq!(first_unprintable("a\tb\u{1b}", |c| c == '\t' || is_printable(c)), Some(3));
    }

    #[rustfmt::skip]
    #[test]
    fn control_characters_are_escaped() {
        for (text, safe) in [
            ("",                          ""),
            ("plain ∧ text",              "plain ∧ text"),
            ("\t\r\n\u{7f}",              r"\t\r\n\u{7f}"),
            ("\u{1b}]0;title\u{7}",       r"\u{1b}]0;title\u{7}"),
            ("\u{9b}2J",                  r"\u{9b}2J"),
            ("a\u{202e}b\u{2066}c\u{feff}", r"a\u{202e}b\u{2066}c\u{feff}"),
        ] {
            assert_eq!(printable(text), safe);
        }
    }
}
