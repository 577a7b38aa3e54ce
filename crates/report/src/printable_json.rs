//! JSON without characters that control a terminal.
//!
//! Texts of a model may contain characters that control a terminal or reorder text. JSON allows most of them in
//! strings; they are written as escapes such as `\u202e`, which mean the same to every reader.

use std::io::{self, BufWriter, Write};

use masque_text::{first_unprintable, is_printable};
use serde::Serialize;

/// Number of bytes that are escaped and written together.
const BUFFER_BYTES: usize = 64 << 10;

/// Writes a value as JSON, with a newline at its end.
pub(crate) fn write_printable_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    // The buffer collects the small pieces of JSON, and does not split them.
    let mut buffered = BufWriter::with_capacity(BUFFER_BYTES, EscapingWriter(out));
    serde_json::to_writer_pretty(&mut buffered, value)?;
    writeln!(buffered)?;
    buffered.flush()
}

/// Writes a value as JSON on one line.
pub(crate) fn write_json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut buffered = BufWriter::with_capacity(BUFFER_BYTES, EscapingWriter(out));
    serde_json::to_writer(&mut buffered, value)?;
    writeln!(buffered)?;
    buffered.flush()
}

/// Writes JSON with unprintable characters as escapes. Every piece that is written must be whole characters.
struct EscapingWriter<'w>(&'w mut dyn Write);

impl Write for EscapingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(bytes).map_err(io::Error::other)?;
        let mut rest = text;
        while let Some(start) = first_unprintable(rest, is_printable) {
            self.0.write_all(&rest.as_bytes()[..start])?;
            let Some(unprintable) = rest[start..].chars().next() else { break };
            for unit in unprintable.encode_utf16(&mut [0; 2]) {
                write!(self.0, "\\u{unit:04x}")?;
            }
            rest = &rest[start + unprintable.len_utf8()..];
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_escaped_and_read_back() {
        let text = "é ∧ \u{7f} \u{9b}2J \u{202e}x\u{feff} \u{1b}[2J \n\t\"\\";
        let mut out = Vec::new();
        write_printable_json(&mut out, &[text]).unwrap();
        let json = String::from_utf8(out).unwrap();
        assert!(json.chars().all(|c| c == '\n' || is_printable(c)), "{json:?}");
        assert!(json.contains(r"\u007f \u009b2J \u202ex\ufeff \u001b[2J \n\t"), "{json:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }
}
