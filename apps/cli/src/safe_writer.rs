//! A writer that lets no foreign control character through.
//!
//! Reports print names that a model or a file system chose. Line breaks (also CR LF), tabs and the colours of reports
//! pass;
//! every other control character is written as an escape such as `\u{1b}`.

use std::io::{self, Write};

use masque_text::{first_unprintable, is_printable, printable};

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
        let passes = |c: char| c == '\t' || is_printable(c);
        let mut rest = text;
        while let Some(start) = first_unprintable(rest, passes) {
            self.inner.write_all(&rest.as_bytes()[..start])?;
            rest = &rest[start..];
            if let Some(behind) = rest.strip_prefix("\r\n") {
                self.inner.write_all(b"\r\n")?;
                rest = behind;
                continue;
            }
            let color = if self.has_color { color_length(rest) } else { None };
            let length = color.or(rest.chars().next().map(char::len_utf8)).unwrap_or(rest.len());
            let (first, behind) = rest.split_at(length);
            let written = if color.is_some() { first.into() } else { printable(first) };
            self.inner.write_all(written.as_bytes())?;
            rest = behind;
        }
        self.inner.write_all(rest.as_bytes())
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
