//! Recursive descent parser with recovery: one diagnostic per broken statement, then the next statement.
//!
//! Files written for LiJ and OpenKnowledge are accepted: role declarations, clauses without full
//! stops, postconditions before a message, `<--` for `<-`.

mod constraint;
mod pattern;
mod process;
mod recover;
mod statement;
mod term;
mod tuple;

use masque_text::{Cursor, Diagnostic, FileId, Sources};

use crate::tree::Tree;

pub(crate) use pattern::{Action, parse_action, parse_literal, parse_term};
pub(crate) use recover::{Lcc, RESERVED, ROLE_KINDS, STATEMENTS, begins_rule, begins_statement};
pub(crate) use tuple::{is_tuple, parse_tuple};

/// Maximum depth of nested brackets and prefix operators. Flat chains may have any length.
pub const NESTING_LIMIT: u32 = 200;

/// A cursor that builds a tree.
pub(crate) struct Parser<'t> {
    cursor: Cursor<'t, Lcc>,
}

masque_text::parser_on_cursor!(Parser, Lcc);

/// Parses a file. The tree contains the statements that could be read.
///
/// ```
/// let mut sources = masque_text::Sources::default();
/// let file = sources.add("ping.lcc", "a(pinger, P) :: ping => a(ponger, Q).").unwrap();
/// let (tree, diagnostics) = masque_lcc::parse(&sources, file);
/// assert_eq!((tree.items.len(), diagnostics.len()), (1, 0));
/// ```
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser { cursor: Cursor::of(sources, sources.span(file)) };
    let tree = parser.file(sources.limits());
    (tree, parser.cursor.into_diagnostics())
}
