//! The formatter of property files. It keeps tokens and comments in their order, changes the white
//! space, and writes mathematical signs in ASCII (`∧` becomes `&&`).
//!
//! A property that fits is written on one line. Otherwise its lines break at the operators that bind
//! least ([`layout`]). A property with a comment inside keeps its lines, because the comment refers to
//! what stands beside it; so does a property with text that only the language of the model may
//! understand. Of the white space of the input, only blank lines and comments on their own line matter,
//! so formatting twice changes nothing.

mod layout;
mod part;

use masque_text::{Diagnostic, FileId, Sources, Span};

use crate::lexer::{Token, Tokens};
use crate::parser::parse_properties;
use part::Reader;

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
    let mut printer = Printer { tokens: &tokens, out: String::new() };
    let mut at = 0;
    while at < tokens.len() {
        printer.comments(at);
        at = printer.property(at);
    }
    printer.comments(at);
    printer.end_line();
    Ok(printer.out)
}

/// The spans of all comments of a property file, in the order of the text.
pub fn comments(sources: &Sources, file: FileId) -> Vec<Span> {
    let tokens = Tokens::new(sources.text(file), sources.span(file).start);
    let mut spans = Vec::new();
    for at in 0..=tokens.len() {
        let mut rest = tokens.gap(at);
        while let Some((_, comment, behind)) = next_comment(rest) {
            let end = tokens.span(at).start - behind.len() as u32;
            // The comment ends before the white space that may follow it.
            let before_behind = &rest[..rest.len() - behind.len()];
            let end = end - (before_behind.len() - before_behind.trim_end().len()) as u32;
            spans.push(Span { start: end - comment.len() as u32, end });
            rest = behind;
        }
    }
    spans
}

struct Printer<'t> {
    tokens: &'t Tokens<'t>,
    out: String,
}

impl Printer<'_> {
    /// Prints the property that begins with a token. Returns the token after it.
    fn property(&mut self, at: usize) -> usize {
        let mut reader = Reader::new(self.tokens, at);
        // `name : formula ;`
        let name = reader.next().to_string();
        reader.next();
        let formula = reader.formula();
        let end = reader.position();
        let has_comment = (at + 1..=end).any(|token| !self.tokens.gap(token).trim().is_empty());
        // Text that is no token here may extend to the end of its line in the language of the model.
        let is_strange = self.tokens.kinds()[at..end].contains(&Token::Unknown);
        if has_comment || is_strange {
            let text = self.tokens.slice(self.tokens.span(at).to(self.tokens.span(end)));
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            self.out.push_str(&lines.join("\n"));
        } else {
            self.out.push_str(&layout::property(&name, &formula));
        }
        end + 1
    }

    /// Ends the line before a token, prints the comments there, and leaves a line blank where the
    /// author did.
    fn comments(&mut self, at: usize) {
        let mut rest = self.tokens.gap(at);
        let mut is_first = true;
        while let Some((blank, comment, behind)) = next_comment(rest) {
            if is_first && at > 0 && !blank.contains('\n') {
                self.out.push_str("  ");
            } else {
                self.break_line(blank);
            }
            self.out.push_str(comment);
            (rest, is_first) = (behind, false);
        }
        if at < self.tokens.len() {
            self.break_line(rest);
        }
    }

    /// Begins a line, after a blank one if the white space contains one.
    fn break_line(&mut self, white: &str) {
        self.end_line();
        let is_blank = white.bytes().filter(|byte| *byte == b'\n').count() > 1;
        if is_blank && !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }
}

/// Splits at the first comment: the white space before it, the comment, and the rest.
fn next_comment(gap: &str) -> Option<(&str, &str, &str)> {
    let start = gap.find(['/', '%'])?;
    let (blank, rest) = gap.split_at(start);
    let length = match rest.strip_prefix("/*") {
        Some(inside) => inside.find("*/").map_or(rest.len(), |end| end + 4),
        None => rest.find('\n').unwrap_or(rest.len()),
    };
    let (comment, behind) = rest.split_at(length);
    Some((blank, comment.trim_end(), behind))
}

/// Whether a token opens a modality.
fn opens_modality(token: Token) -> bool {
    matches!(token, Token::Less | Token::OpenBracket)
}
