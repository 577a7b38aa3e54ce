//! Open documents: their texts as the editor has them.

use std::path::PathBuf;
use std::sync::Arc;

use gen_lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};

use crate::lines::{Encoding, LineStarts};

/// Maximum size of a document in bytes.
const MAX_BYTES: usize = 1 << 30;

/// A document that is open in the editor.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Name of the document, as the client gave it.
    pub(crate) uri: Uri,
    /// Path of the file, in the form that identifies it.
    pub(crate) path: PathBuf,
    /// Version of the text, which grows with each change.
    pub(crate) version: i32,
    /// The text, which analyses share.
    pub(crate) text: Arc<String>,
    /// The lines of the text, which analyses share.
    pub(crate) lines: Arc<LineStarts>,
}

impl Document {
    /// A document with its first text.
    pub(crate) fn new(uri: Uri, path: PathBuf, version: i32, text: String) -> Document {
        let lines = Arc::new(LineStarts::new(&text));
        Document { uri, path, version, text: Arc::new(text), lines }
    }

    /// Applies changes in their order. A range that exceeds the text ends with it.
    pub(crate) fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) {
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(partial) => {
                    self.replace(partial.range, &partial.text, encoding);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    self.lines = Arc::new(LineStarts::new(&whole.text));
                    self.text = Arc::new(whole.text);
                }
            }
        }
    }

    fn replace(&mut self, range: Range, new: &str, encoding: Encoding) {
        let from = self.offset(range.start, encoding);
        let to = self.offset(range.end, encoding).max(from);
        if self.text.len() - (to - from) + new.len() > MAX_BYTES {
            return;
        }
        Arc::make_mut(&mut self.text).replace_range(from..to, new);
        Arc::make_mut(&mut self.lines).replace(&self.text, from, to, new.len());
    }

    /// The lines for an analysis: path, length of the text, and lines.
    pub(crate) fn shared_lines(&self) -> (PathBuf, (usize, Arc<LineStarts>)) {
        (self.path.clone(), (self.text.len(), Arc::clone(&self.lines)))
    }

    /// The offset in bytes of a position.
    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> usize {
        self.lines.offset(&self.text, position, encoding)
    }

    /// The range of the bytes `from..to`.
    pub(crate) fn range(&self, from: usize, to: usize, encoding: Encoding) -> Range {
        self.lines.range(&self.text, from, to, encoding)
    }
}
