//! Source files, concatenated into one range of byte positions.
//!
//! A [`Span`] is two positions in that range: eight bytes that also identify the file. Syntax trees
//! of a 33 MB model hold millions of them.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use crate::ReadLimits;

/// A file of [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

impl FileId {
    /// Number of texts that were added before this one.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of bytes in one source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte, counted from the beginning of the first source.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from the start of `self` to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end.max(self.end) }
    }

    /// The bytes `from..to` of this span, counted from its beginning.
    pub fn slice(self, from: u32, to: u32) -> Span {
        Span { start: self.start + from, end: self.start + to }
    }

    /// The empty span just after this one, for text that is missing there.
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }
}

/// Line and column of a byte, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Location {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// An option that overrides the files, such as `--option NAME=VALUE` of the command line.
#[derive(Clone, Debug)]
pub struct OptionOverride {
    /// Name of the option.
    pub name: String,
    /// Value of the option, as text.
    pub value: String,
    /// Location of the option, for diagnostics.
    pub span: Span,
}

/// The sources of one run exceed the 32-bit range of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
    base: u32,
    /// Offsets in `text` at which lines begin. Computed on first use.
    lines: OnceCell<Vec<u32>>,
    /// The last offset that was located, and its location: the next one is often on the same line, and a
    /// line may be as long as the file.
    last: Cell<(u32, Location)>,
}

/// All source texts of one run: files and formulas from the command line.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<File>,
    limits: ReadLimits,
}

impl Sources {
    /// No texts yet; reading them must stay within limits.
    pub fn with_limits(limits: ReadLimits) -> Self {
        Sources { files: Vec::new(), limits }
    }

    /// The limits on reading these texts.
    pub fn limits(&self) -> &ReadLimits {
        &self.limits
    }

    /// Adds a text under the name that diagnostics show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> Result<FileId, TooLarge> {
        let text = text.into();
        // One position lies between two files, so an empty span at the end of a file names it.
        let base = self.files.last().map_or(0, |f| f.base + f.text.len() as u32 + 1);
        if u64::from(base) + text.len() as u64 + 1 > u64::from(u32::MAX) {
            return Err(TooLarge);
        }
        let last = Cell::new((0, Location { line: 1, column: 1 }));
        self.files.push(File { name: name.into(), text, base, lines: OnceCell::new(), last });
        Ok(FileId(self.files.len() as u32 - 1))
    }

    /// Sets the limits on reading further texts.
    pub fn set_limits(&mut self, limits: ReadLimits) {
        self.limits = limits;
    }

    /// Removes the limits, once the texts are read: later texts, such as formulas of a dialogue, are short.
    pub fn lift_limits(&mut self) {
        self.limits = ReadLimits::default();
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// All texts, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Total size of all texts in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.text.len() as u64).sum()
    }

    /// Removes all texts but the first `len`. Spans into the removed ones become invalid.
    pub fn truncate(&mut self, len: usize) {
        self.files.truncate(len);
    }

    /// Removes the texts that `keep` does not accept. Their positions are not used again, unless they were the last
    /// ones, so spans into the other texts stay valid. The ids of later texts change: the result has the id of each
    /// text by its old one.
    pub fn retain(&mut self, mut keep: impl FnMut(FileId) -> bool) -> Vec<Option<FileId>> {
        let (mut n_kept, mut ids) = (0, Vec::with_capacity(self.files.len()));
        let mut old = 0;
        self.files.retain(|_| {
            let is_kept = keep(FileId(old));
            ids.push(is_kept.then_some(FileId(n_kept)));
            n_kept += u32::from(is_kept);
            old += 1;
            is_kept
        });
        ids
    }

    /// The names of all texts, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// The name of a file, as given to [`Sources::add`].
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The whole text of a file.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The span of a whole file.
    pub fn span(&self, file: FileId) -> Span {
        let file = &self.files[file.0 as usize];
        Span { start: file.base, end: file.base + file.text.len() as u32 }
    }

    /// The file that a span lies in.
    pub fn file_of(&self, span: Span) -> FileId {
        FileId(self.files.partition_point(|f| f.base <= span.start) as u32 - 1)
    }

    /// The text that a span covers.
    pub fn slice(&self, span: Span) -> &str {
        let file = &self.files[self.file_of(span).0 as usize];
        &file.text[(span.start - file.base) as usize..(span.end - file.base) as usize]
    }

    /// Locations of the start and the end of a span.
    pub fn locate(&self, span: Span) -> (Location, Location) {
        let file = &self.files[self.file_of(span).0 as usize];
        (file.location(span.start - file.base), file.location(span.end - file.base))
    }

    /// The lines that a span touches: the number of the first one, and their byte range in the file.
    pub(crate) fn lines_of(&self, span: Span) -> (u32, Range<usize>) {
        let file = &self.files[self.file_of(span).0 as usize];
        let (start, end) = (span.start - file.base, span.end - file.base);
        let lines = file.lines();
        let first = lines.partition_point(|&l| l <= start) - 1;
        let last = lines.partition_point(|&l| l <= end) - 1;
        let to = lines.get(last + 1).map_or(file.text.len(), |&l| l as usize);
        (first as u32 + 1, lines[first] as usize..to)
    }

    /// The byte range of a span in its file.
    pub(crate) fn in_file(&self, span: Span) -> Range<usize> {
        let base = self.files[self.file_of(span).0 as usize].base;
        (span.start - base) as usize..(span.end - base) as usize
    }
}

impl File {
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let after = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
            std::iter::once(0).chain(after).collect()
        })
    }

    fn location(&self, offset: u32) -> Location {
        let lines = self.lines();
        let line = lines.partition_point(|&l| l <= offset) as u32;
        let begin = (lines[line as usize - 1], Location { line, column: 1 });
        let last = self.last.get();
        let (from, near) = if last.1.line == line && last.0 <= offset { last } else { begin };
        let column = near.column + self.text[from as usize..offset as usize].chars().count() as u32;
        self.last.set((offset, Location { line, column }));
        Location { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_name_file_line_and_column() {
        let mut sources = Sources::default();
        let a = sources.add("a", "one\ntwo\n").unwrap();
        let b = sources.add("b", "drei é vier").unwrap();
        let two = sources.span(a).slice(4, 7);
        assert_eq!(sources.slice(two), "two");
        assert_eq!(sources.locate(two).0, Location { line: 2, column: 1 });
        let vier = sources.span(b).slice(8, 12);
        assert_eq!((sources.file_of(vier), sources.slice(vier)), (b, "vier"));
        assert_eq!(sources.locate(vier).0, Location { line: 1, column: 8 });
        // A location before the last one, on the same line.
        assert_eq!(sources.locate(sources.span(b).slice(5, 7)).1, Location { line: 1, column: 7 });
        let end = sources.span(a).after();
        assert_eq!(sources.file_of(end), a);
        assert_eq!(sources.locate(end).0, Location { line: 3, column: 1 });
    }

    #[test]
    fn the_other_texts_stay_when_some_are_removed() {
        let mut sources = Sources::default();
        let [_, b, c, d] = ["one", "two", "three", "four"].map(|text| sources.add("t", text).unwrap());
        let three = sources.span(c);
        let ids = sources.retain(|file| file != b && file != d);
        assert_eq!(ids, [Some(FileId(0)), None, Some(FileId(1)), None]);
        assert_eq!((sources.slice(three), sources.file_of(three)), ("three", FileId(1)));
        let five = sources.add("t", "five").unwrap();
        assert_eq!((sources.text(five), sources.span(five).start), ("five", three.end + 1));
        assert_eq!((sources.len(), sources.slice(three), sources.bytes()), (3, "three", 12));
    }
}
