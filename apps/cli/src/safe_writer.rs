//! A writer that lets no foreign control character through.
//!
//! Reports print names that a model or a file system chose. Line breaks, tabs and the colours of reports pass;
//! every other control character is written as an escape such as `\u{1b}`.

use std::io::{self, Write};

use masque_text::printable;

/// Writes text with control characters escaped.
pub(crate) struct SafeWriter<'w> {
    inner: &'w mut dyn Write,
    /// Whether colour sequences (`ESC [ .. m`) pass.
    has_color: bool,
}

impl<'w> SafeWriter<'w> {
    pub(crate) fn new(inner: &'w mut dyn Write, has_color: bool) -> Self {
        SafeWriter { inner, has_color }
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        let is_safe = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
        let mut rest = text;
        loop {
            let plain = rest.find(|c: char| !is_safe(c)).unwrap_or(rest.len());
            let (before, after) = rest.split_at(plain);
            self.write_lines(before)?;
            let Some(c) = after.chars().next() else { return Ok(()) };
            let length = if self.has_color { color_length(after) } else { None };
            let taken = length.unwrap_or(c.len_utf8());
            match length {
                Some(length) => self.inner.write_all(&after.as_bytes()[..length])?,
                None => self.inner.write_all(printable(&after[..taken]).as_bytes())?,
            }
            rest = &after[taken..];
        }
    }

    /// Writes text whose only control characters are line breaks and tabs.
    fn write_lines(&mut self, text: &str) -> io::Result<()> {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.inner.write_all(b"\n")?;
            }
            for (index, part) in line.split('\t').enumerate() {
                if index > 0 {
                    self.inner.write_all(b"\t")?;
                }
                self.inner.write_all(printable(part).as_bytes())?;
            }
        }
        Ok(())
    }
}

impl Write for SafeWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match str::from_utf8(bytes) {
            Ok(text) => self.write_text(text)?,
            Err(error) if error.valid_up_to() > 0 => return self.write(&bytes[..error.valid_up_to()]),
            Err(_) => {
                // A byte of no text: it cannot control a terminal that expects UTF-8.
                self.inner.write_all(&bytes[..1])?;
                return Ok(1);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The length of the colour sequence with which a text begins: `ESC [`, numbers and semicolons, `m`. Blinking,
/// inverse and hidden text (5 to 8) are not colours of reports.
fn color_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let is_color = parameters[end..].starts_with('m') && end <= 16;
    let is_hidden = parameters[..end].split(';').any(|number| matches!(number, "5" | "6" | "7" | "8"));
    let is_indexed = parameters.starts_with("38;5;") || parameters.starts_with("48;5;");
    (is_color && (!is_hidden || is_indexed)).then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, has_color: bool) -> String {
        let mut out = Vec::new();
        SafeWriter::new(&mut out, has_color).write_all(text.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[rustfmt::skip]
    #[test]
    fn control_characters_do_not_pass() {
        for (text, plain, colored) in [
            ("a\n\tb é\n",               "a\n\tb é\n",                   "a\n\tb é\n"),
            ("\u{1b}[1;31mno\u{1b}[0m",  r"\u{1b}[1;31mno\u{1b}[0m",     "\u{1b}[1;31mno\u{1b}[0m"),
            ("\u{1b}[38;5;9mx",          r"\u{1b}[38;5;9mx",             "\u{1b}[38;5;9mx"),
            ("\u{1b}[8mhidden",          r"\u{1b}[8mhidden",             r"\u{1b}[8mhidden"),
            ("\u{1b}[4A\u{1b}[2K\rholds", r"\u{1b}[4A\u{1b}[2K\rholds",  r"\u{1b}[4A\u{1b}[2K\rholds"),
            ("\u{1b}]0;t\u{7}\u{9b}2J",  r"\u{1b}]0;t\u{7}\u{9b}2J",     r"\u{1b}]0;t\u{7}\u{9b}2J"),
            ("\u{202e}x\u{1b}",          r"\u{202e}x\u{1b}",             r"\u{202e}x\u{1b}"),
        ] {
            assert_eq!(written(text, false), plain);
            assert_eq!(written(text, true), colored);
        }
    }

    #[test]
    fn bytes_that_are_no_text_pass() {
        let mut out = Vec::new();
        SafeWriter::new(&mut out, false).write_all(b"a\xff\x1bb").unwrap();
        assert_eq!(out, b"a\xff\\u{1b}b");
    }
}
