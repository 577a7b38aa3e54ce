//! Lines of a text, and positions in the units of the protocol.
//!
//! The protocol counts lines, and inside a line UTF-16 code units or, if the client offers it, bytes. A line ends with
//! `\n`, `\r\n` or `\r`.

use gen_lsp_types::{Position, Range};

/// The unit in which the client counts inside a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client supports.
    #[default]
    Utf16,
}

impl Encoding {
    /// Number of units of a text.
    fn units(self, text: &str) -> u32 {
        match self {
            Encoding::Utf8 => text.len() as u32,
            Encoding::Utf16 if text.is_ascii() => text.len() as u32,
            Encoding::Utf16 => text.chars().map(|c| c.len_utf16() as u32).sum(),
        }
    }

    /// Offset in bytes of a number of units; the end of the text if it is shorter. An offset inside a character is
    /// moved to the beginning of the character.
    fn offset(self, text: &str, units: u32) -> usize {
        let mut seen = 0;
        for (at, c) in text.char_indices() {
            let width = match self {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            };
            seen += width as u32;
            if seen > units {
                return at;
            }
        }
        text.len()
    }
}

/// Offsets in bytes at which the lines of a text begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStarts(Vec<u32>);

impl LineStarts {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> LineStarts {
        let mut starts = vec![0];
        find_starts(text.as_bytes(), 0, text.len(), &mut starts);
        LineStarts(starts)
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no lines, which never happens.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Updates the lines after the bytes `from..to` of the old text were replaced by `n_new` bytes. `text` is the new
    /// text.
    pub(crate) fn replace(&mut self, text: &str, from: usize, to: usize, n_new: usize) {
        // A sign before or after the change may now begin or end a line, because of `\r\n`.
        let kept = self.0.partition_point(|start| (*start as usize) < from.max(1)).max(1);
        let behind = self.0.partition_point(|start| (*start as usize) < to + 2);
        let tail: Vec<u32> = self.0[behind.max(kept)..]
            .iter()
            .map(|start| (*start as usize + from + n_new - to) as u32)
            .collect();
        self.0.truncate(kept);
        let first = self.0.last().copied().unwrap_or(0) as usize;
        find_starts(text.as_bytes(), first, (from + n_new + 1).min(text.len()), &mut self.0);
        self.0.extend(tail);
    }

    /// The line of an offset.
    fn line_of(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start as usize <= offset).max(1) - 1
    }

    /// The position of an offset in bytes.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = floor_boundary(text, offset);
        let line = self.line_of(offset);
        let start = self.0[line] as usize;
        Position { line: line as u32, character: encoding.units(&text[start..offset]) }
    }

    /// The range of the bytes `from..to`.
    pub fn range(&self, text: &str, from: usize, to: usize, encoding: Encoding) -> Range {
        Range { start: self.position(text, from, encoding), end: self.position(text, to.max(from), encoding) }
    }

    /// The offset in bytes of a position. Behind the last line this is the end of the text, behind the last sign of a
    /// line the end of the line.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        let Some(start) = self.0.get(line).map(|start| *start as usize) else { return text.len() };
        let end = self.0.get(line + 1).map_or(text.len(), |start| *start as usize);
        let content = text[start..end].trim_end_matches(['\n', '\r']);
        start + encoding.offset(content, position.character)
    }

    /// The bytes of a line, its end included; none if there is no such line.
    pub fn line(&self, text: &str, line: usize) -> Option<(usize, usize)> {
        let start = *self.0.get(line)? as usize;
        Some((start, self.0.get(line + 1).map_or(text.len(), |start| *start as usize)))
    }
}

/// Adds the starts of the lines whose last sign lies in `from..to`.
fn find_starts(bytes: &[u8], from: usize, to: usize, starts: &mut Vec<u32>) {
    for (at, byte) in bytes.iter().enumerate().take(to).skip(from) {
        let ends = match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        if ends {
            starts.push(at as u32 + 1);
        }
    }
}

/// The largest boundary between characters that is at most `offset`.
pub(crate) fn floor_boundary(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_utf16_units_or_bytes() {
        let text = "a é 😀 b\r\nx\rlast";
        let lines = LineStarts::new(text);
        assert_eq!(lines.len(), 3);
        let b = text.find('b').unwrap();
        assert_eq!(lines.position(text, b, Encoding::Utf16), at(0, 7));
        assert_eq!(lines.position(text, b, Encoding::Utf8), at(0, b as u32));
        assert_eq!(lines.offset(text, at(0, 7), Encoding::Utf16), b);
        // The middle of the pair of units of the smiley is its beginning.
        assert_eq!(lines.offset(text, at(0, 5), Encoding::Utf16), text.find('😀').unwrap());
        // Behind the line, and behind the text.
        assert_eq!(&text[lines.offset(text, at(0, 99), Encoding::Utf16)..][..2], "\r\n");
        assert_eq!(lines.offset(text, at(9, 0), Encoding::Utf16), text.len());
        assert_eq!(lines.position(text, text.len(), Encoding::Utf16), at(2, 4));
    }

    /// Lines are updated as if they were found again, whatever is replaced by whatever.
    #[test]
    fn lines_are_updated() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..3_000 {
            let mut piece = |max: usize| -> String {
                let n = random.usize(..=max);
                (0..n).map(|_| *random.choice(&['a', '\n', '\r', 'é']).unwrap_or(&'a')).collect()
            };
            let (old, new) = (piece(12), piece(4));
            let cut = || floor_boundary(&old, fastrand::usize(..=old.len()));
            let (a, b) = (cut(), cut());
            let (from, to) = (a.min(b), a.max(b));
            let text = format!("{}{new}{}", &old[..from], &old[to..]);
            let mut lines = LineStarts::new(&old);
            lines.replace(&text, from, to, new.len());
            assert_eq!(lines, LineStarts::new(&text), "{old:?}[{from}..{to}] -> {new:?}");
        }
    }
}
