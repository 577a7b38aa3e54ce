//! The formatter of property files: the same tokens and comments in the same order, other white
//! space, and the signs of papers as they are typed (`∧` becomes `&&`).
//!
//! A property that fits stands on one line. Else its lines break at the operators that bind least
//! ([`layout`]). A property with a comment inside keeps the lines that its author gave it, since a
//! comment is about what stands beside it; so does one with text that only the language of the model
//! may know. Nothing else depends on the white space of the input but
//! where the author left a line blank, and whether a comment has a line of its own; so formatting
//! twice changes nothing.

mod layout;
mod part;

use masque_text::{Diagnostic, FileId, Sources};

use crate::lexer::{Token, Tokens};
use crate::parser::parse_properties;
use part::Reader;

/// The text of a property file in the standard layout, or its syntax errors.
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
    let text = sources.text(file);
    let tokens = Tokens::new(text, span.start);
    let mut printer = Printer { text, base: span.start, tokens: &tokens, out: String::new() };
    let mut at = 0;
    while at < tokens.len() {
        printer.comments(at);
        at = printer.property(at);
    }
    printer.comments(at);
    printer.end_line();
    Ok(printer.out)
}

struct Printer<'t> {
    text: &'t str,
    base: u32,
    tokens: &'t Tokens,
    out: String,
}

impl<'t> Printer<'t> {
    /// Prints the property that begins with a token; the token after it.
    fn property(&mut self, at: usize) -> usize {
        let mut reader = Reader::new(self.text, self.base, self.tokens, at);
        // `name : formula ;`
        let name = reader.next().to_string();
        reader.next();
        let formula = reader.formula();
        let end = reader.position();
        let has_comment = (at + 1..=end).any(|token| !self.gap(token).trim().is_empty());
        // What is no token here may end with its line in the language of the model.
        let is_strange = self.tokens.kinds()[at..end].contains(&Token::Unknown);
        match has_comment || is_strange {
            true => {
                let (from, to) = (self.start(at), self.end(end));
                let lines: Vec<&str> = self.text[from..to].lines().map(str::trim_end).collect();
                self.out.push_str(&lines.join("\n"));
            }
            false => self.out.push_str(&layout::property(&name, &formula)),
        }
        end + 1
    }

    /// Ends the line before a token, prints the comments there, and leaves a line blank where the
    /// author did.
    fn comments(&mut self, at: usize) {
        let gap = self.gap(at);
        let mut rest = gap;
        let mut is_first = true;
        while let Some((blank, comment, behind)) = next_comment(rest) {
            match is_first && at > 0 && !blank.contains('\n') {
                true => self.out.push_str("  "),
                false => self.break_line(blank),
            }
            self.out.push_str(comment);
            (rest, is_first) = (behind, false);
        }
        if at < self.tokens.len() {
            self.break_line(rest);
        }
    }

    /// Begins a line, after a blank one if the white space has one.
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

    /// What stands between a token and the one before: white space and comments.
    fn gap(&self, at: usize) -> &'t str {
        let from = at.checked_sub(1).map_or(0, |before| self.end(before));
        &self.text[from..self.start(at)]
    }

    fn start(&self, at: usize) -> usize {
        (self.tokens.span(at).start - self.base) as usize
    }

    fn end(&self, at: usize) -> usize {
        (self.tokens.span(at).end - self.base) as usize
    }
}

/// Splits at the first comment: white space, the comment, and what is behind it.
fn next_comment(gap: &str) -> Option<(&str, &str, &str)> {
    let start = gap.find(['/', '%'])?;
    let (blank, rest) = gap.split_at(start);
    let length = match rest.starts_with("/*") {
        true => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
        false => rest.find('\n').unwrap_or(rest.len()),
    };
    let (comment, behind) = rest.split_at(length);
    Some((blank, comment.trim_end(), behind))
}

/// Whether a token of the grammar opens a modality.
fn opens_modality(token: Token) -> bool {
    matches!(token, Token::Less | Token::OpenBracket)
}
