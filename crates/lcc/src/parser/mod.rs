//! Recursive descent with recovery: one message per broken statement, then on to the next.
//!
//! Files in the manner of LiJ and OpenKnowledge are read as they are: role declarations, clauses
//! without full stops, postconditions before a message, `<--` for `<-`.

mod constraint;
mod pattern;
mod process;
mod recover;
mod statement;
mod term;

use std::ops::{Deref, DerefMut};

use masque_text::{Cursor, Diagnostic, FileId, Parsed, Sources};

use self::recover::Lcc;
use crate::tree::Tree;

pub(crate) use pattern::{Action, parse_action};
pub(crate) use recover::RESERVED;

/// Brackets and prefix operators may nest this deep; chains may be of any length.
pub const NESTING_LIMIT: u32 = 200;

/// A cursor that leaves a tree behind.
pub(crate) struct Parser<'t> {
    cursor: Cursor<'t, Lcc>,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t, Lcc>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Reads a file. The tree holds whatever could be read.
///
/// ```
/// let mut sources = masque_text::Sources::default();
/// let file = sources.add("ping.lcc", "a(pinger, P) :: ping => a(ponger, Q).").unwrap();
/// let (tree, diagnostics) = masque_lcc::parse(&sources, file);
/// assert_eq!((tree.items.len(), diagnostics.len()), (1, 0));
/// ```
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources.text(file), sources.span(file).start);
    let tree = parser.file();
    (tree, parser.cursor.into_diagnostics())
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, base: u32) -> Self {
        Parser { cursor: Cursor::new(text, base) }
    }

    /// Reads something one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.deepen()?;
        let value = read(self);
        self.depth -= 1;
        value
    }
}
