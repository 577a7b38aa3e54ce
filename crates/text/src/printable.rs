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

#[cfg(test)]
mod tests {
    use super::*;

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
