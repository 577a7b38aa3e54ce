//! The formatter of property files. It keeps tokens and comments in their order, changes the white
//! space, and writes mathematical signs in ASCII (`∧` becomes `&&`).
//!
//! A property that fits is written on one line. Otherwise its lines break at the operators that bind
//! least ([`reader`]). A property with a comment inside keeps its lines, because the comment refers to
//! what stands beside it; so does a property with text that only the language of the model may
//! understand. Of the white space of the input, only blank lines and comments on their own line matter,
//! so formatting twice changes nothing.

mod reader;

use masque_text::{Diagnostic, Doc, FileId, LayoutWriter, LinePlace, Sources};

use crate::lexer::{Token, Tokens};
use crate::parser::parse_properties;
use reader::Reader;

/// Maximum line length in columns.
const WIDTH: usize = 100;

/// Returns the text of a property file in the standard layout, or its syntax errors.
///
/// ```
/// let mut sources = masque_text::Sources::default();
/// let file = sources.add("tiny.mu", "safe:AG¬deadlock; // always\nloop:νX.<-*.a>X∧p;").unwrap();
/// let text = masque_mu::format(&sources, file).unwrap();
/// assert_eq!(text, "safe : AG !deadlock ;  // always\nloop : nu X. <-* . a>X && p ;\n");
/// ```
pub fn format(sources: &Sources, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let span = sources.span(file);
    let (_, diagnostics) = parse_properties(sources, span);
    Diagnostic::no_errors(diagnostics)?;
    let tokens = Tokens::new(sources.text(file), span.start);
    let mut writer = LayoutWriter::new(&tokens, WIDTH, "  ");
    let mut start = 0;
    while start < tokens.len() {
        let mut reader = Reader::new(&tokens, start);
        let end = reader.property();
        let kept = kept_lines(&tokens, start, end);
        writer.line(LinePlace { start, ..LinePlace::default() }, kept.as_ref().unwrap_or(&reader.doc));
        start = end;
    }
    Ok(writer.finish())
}

/// The text of a property that keeps its lines.
fn kept_lines<'t>(tokens: &Tokens<'t>, start: usize, end: usize) -> Option<Doc<'t>> {
    let has_comment = !tokens.comments_within(start + 1..end).is_empty();
    // Text that is no token here may extend to the end of its line in the language of the model.
    if !has_comment && !tokens.kinds()[start..end].contains(&Token::Unknown) {
        return None;
    }
    let text = tokens.slice(tokens.span(start).to(tokens.span(end - 1)));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut doc = Doc::default();
    doc.text(start..end, false, lines.join("\n"));
    Some(doc)
}
