//! The formatter. It keeps tokens and comments in their order and changes the white space.
//!
//! The tree determines the lines of a file ([`mod@outline`]); inside a line only tokens matter.
//! [`spacing`] decides where spaces stand and where a line may break, [`layout`] breaks the lines that
//! are too long. Of the white space of the input, only blank lines and comments on their own line
//! matter, so formatting twice changes nothing. Every step is linear in the text: a 33 MB model is
//! formatted in seconds.

mod layout;
mod outline;
mod print;
mod spacing;

use masque_text::{Diagnostic, FileId, Sources};

use crate::lexer::Tokens;
use crate::parser::parse;
use outline::outline;
use print::Printer;

/// Maximum line length in columns. A comment at the end of a line is not counted.
const WIDTH: usize = 100;
/// Number of spaces per level of indentation.
const INDENT: usize = 2;

/// Returns the text of a file in the standard layout, or its syntax errors.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.ispl", "Groups g={Alice,Bob};-- all\nend Groups").unwrap();
/// let text = masque_ispl::format(&sources, file).unwrap();
/// assert_eq!(text, "Groups\n  g = {Alice, Bob}; -- all\nend Groups\n");
/// ```
pub fn format(sources: &Sources, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let (tree, diagnostics) = parse(sources, file);
    Diagnostic::no_errors(diagnostics)?;
    let text = sources.text(file);
    let tokens = Tokens::new(text, sources.span(file).start);
    let outline = outline(&tree, &tokens);
    // The tree of a large file takes much more memory than its text and is no longer needed.
    drop(tree);
    Ok(Printer::new(text, &tokens, &outline.marks).file(&outline.lines))
}
