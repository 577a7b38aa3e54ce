//! Lines of a log, from bytes that arrive in pieces.

/// Default maximum length of a line in bytes.
pub const DEFAULT_LINE_BYTES: usize = 16 << 20;

/// Splits bytes into lines. The memory in use is at most one line and one piece.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Bytes that are not yet returned.
    buffer: Vec<u8>,
    /// Position in the buffer up to which there is no line break.
    searched: usize,
    /// Position of the first byte that is not yet returned.
    start: usize,
    /// Number of the last line that was returned or skipped.
    number: u64,
    max_bytes: usize,
    /// Whether the rest of a line that is too long is skipped.
    is_skipping: bool,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the line, from 1.
    pub number: u64,
    /// What was read.
    pub content: LineContent,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineContent {
    /// A line of text, without the line break.
    Text(String),
    /// A line that is not UTF-8.
    NotText,
    /// A line that exceeds the limit, which is this number of bytes.
    TooLong(usize),
}

impl Lines {
    /// No bytes yet; lines have at most this many bytes.
    pub fn new(max_bytes: usize) -> Lines {
        Lines { buffer: Vec::new(), searched: 0, start: 0, number: 0, max_bytes, is_skipping: false }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line. Empty lines are counted and skipped.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let found = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(offset) = found else {
                self.searched = self.buffer.len();
                return self.too_long();
            };
            let end = self.searched + offset;
            let (from, was_skipping) = (self.start, std::mem::take(&mut self.is_skipping));
            (self.start, self.searched) = (end + 1, end + 1);
            if was_skipping {
                continue;
            }
            self.number += 1;
            if let Some(line) = self.line(from, end) {
                return Some(line);
            }
        }
    }

    /// The bytes behind the last line break as a line, at the end of the log.
    pub fn last_line(&mut self) -> Option<Line> {
        let (from, end) = (self.start, self.buffer.len());
        (self.start, self.searched) = (end, end);
        if std::mem::take(&mut self.is_skipping) || from == end {
            return None;
        }
        self.number += 1;
        self.line(from, end)
    }

    /// Whether a line is incomplete: it has bytes, but no line break yet.
    pub fn has_part(&self) -> bool {
        self.start < self.buffer.len() || self.is_skipping
    }

    /// Begins a new log. What was incomplete is dropped.
    pub fn restart(&mut self) {
        *self = Lines::new(self.max_bytes);
    }

    /// Skips the current line if it already exceeds the limit.
    fn too_long(&mut self) -> Option<Line> {
        let n_bytes = self.buffer.len() - self.start;
        if self.is_skipping {
            self.start = self.buffer.len();
            return None;
        }
        if n_bytes <= self.max_bytes {
            return None;
        }
        self.start = self.buffer.len();
        self.is_skipping = true;
        self.number += 1;
        Some(Line { number: self.number, content: LineContent::TooLong(self.max_bytes) })
    }

    /// The line in a part of the buffer; none if it is empty.
    fn line(&self, from: usize, end: usize) -> Option<Line> {
        let bytes = &self.buffer[from..end];
        // A byte-order mark at the beginning of a file is not part of its first line.
        let bytes =
            if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let content = if bytes.len() > self.max_bytes {
            LineContent::TooLong(self.max_bytes)
        } else {
            let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
            str::from_utf8(bytes).map_or(LineContent::NotText, |text| LineContent::Text(text.to_string()))
        };
        Some(Line { number: self.number, content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: u64, text: &str) -> Line {
        Line { number, content: LineContent::Text(text.to_string()) }
    }

    /// The lines of a log that arrives in pieces of this many bytes.
    fn all(bytes: &[u8], piece: usize, max_bytes: usize) -> Vec<Line> {
        let (mut lines, mut found) = (Lines::new(max_bytes), Vec::new());
        for piece in bytes.chunks(piece) {
            lines.push(piece);
            while let Some(line) = lines.next_line() {
                found.push(line);
            }
            assert!(lines.buffer.len() - lines.start <= max_bytes + piece.len());
        }
        found.extend(lines.last_line());
        assert!(!lines.has_part());
        found
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        let log = b"\xef\xbb\xbfone\r\n\n  \nfour\n0123456789abc\nsix\n\xff\nlast";
        let expected = vec![
            text(1, "one"),
            text(4, "four"),
            Line { number: 5, content: LineContent::TooLong(10) },
            text(6, "six"),
            Line { number: 7, content: LineContent::NotText },
            text(8, "last"),
        ];
        for piece in 1..40 {
            assert_eq!(all(log, piece, 10), expected, "pieces of {piece} bytes");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_line() {
        for log in [&b"\xef\xbb\xbf"[..], b"\xef\xbb\xbf\n", b"\xef\xbb\xbf \r\n\n"] {
            assert_eq!(all(log, 2, 10), [], "{log:?}");
        }
        assert_eq!(all(b"\xef\xbb\xbf\none", 2, 10), [text(2, "one")]);
    }

    #[test]
    fn half_a_line_waits() {
        let mut lines = Lines::new(100);
        lines.push(b"{\"a\":");
        assert_eq!(lines.next_line(), None);
        assert!(lines.has_part());
        lines.push(b" 1}\n");
        assert_eq!(lines.next_line(), Some(text(1, "{\"a\": 1}")));
        assert!(!lines.has_part());
    }
}
