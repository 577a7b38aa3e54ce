//! The formatter. It keeps tokens and comments in their order and changes the white space.
//!
//! The tree determines where lines may break ([`mod@plan`]); the space between two tokens of a line
//! depends only on their kinds ([`spacing`]). Of the white space of the input, only blank lines and
//! comments on their own line matter, so formatting twice changes nothing.

mod plan;
mod spacing;

use masque_text::{Diagnostic, FileId, Sources, Span};

use crate::lexer::{Token, Tokens};
use crate::parser::parse;
use crate::tree::Item;
use plan::Plan;

/// Maximum line length in columns. A comment at the end of a line is not counted.
const WIDTH: usize = 100;

/// Returns the text of a file in the standard layout, or its syntax errors.
///
/// ```
/// let mut sources = masque_text::Sources::default();
/// let file = sources.add("tiny.lcc", "a(hen,H)::egg⇒a(farmer,_)then a(hen,H).agent a(hen,h).").unwrap();
/// let text = masque_lcc::format(&sources, file).unwrap();
/// assert_eq!(text, "a(hen, H) :: egg => a(farmer, _) then a(hen, H).\nagent a(hen, h).\n");
/// ```
pub fn format(sources: &Sources, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let (tree, diagnostics) = parse(sources, file);
    Diagnostic::no_errors(diagnostics)?;
    let tokens = Tokens::new(sources.text(file), sources.span(file).start);
    let plan = Plan::new(&tokens, &tree);
    let formulas = tree.items.iter().filter_map(|item| match item {
        Item::Property(property) => {
            Some((tokens.at(property.formula.start), tokens.at(property.formula.end)))
        }
        _ => None,
    });
    let mut printer = Printer {
        tokens: &tokens,
        plan: &plan,
        formulas: formulas.collect(),
        out: String::new(),
        line: String::new(),
        indent: 0,
        next_comment: 0,
    };
    Ok(printer.file())
}

struct Printer<'t> {
    tokens: &'t Tokens<'t>,
    plan: &'t Plan,
    /// Token ranges of formulas, which are copied unchanged.
    formulas: Vec<(usize, usize)>,
    out: String,
    line: String,
    indent: usize,
    next_comment: usize,
}

impl Printer<'_> {
    fn file(&mut self) -> String {
        let mut at = 0;
        while at < self.tokens.len() {
            let must_break = self.comments(at);
            match self.plan.breaks[at] {
                Some(indent) => {
                    self.end_line();
                    self.blank(self.tokens.span(at).start, at);
                    self.indent = indent;
                }
                None if must_break => self.end_line(),
                None => {
                    let is_spaced = self.plan.spaced[at] || spacing::is_spaced(self.tokens, at);
                    if is_spaced && !self.line.is_empty() {
                        self.line.push(' ');
                    }
                }
            }
            at = self.token(at);
        }
        self.comments(at);
        self.end_line();
        std::mem::take(&mut self.out)
    }

    /// Prints a token or a whole formula. Returns the token after it.
    fn token(&mut self, at: usize) -> usize {
        if let Some((_, end)) = self.formulas.iter().find(|(start, _)| *start == at).copied() {
            let text = self.tokens.slice(self.tokens.span(at).to(self.tokens.span(end - 1)));
            let lines = text.lines().map(str::trim);
            self.line.push_str(&lines.collect::<Vec<_>>().join("\n    "));
            let inside = |before: u32| (before as usize) < end;
            while self.tokens.comments().get(self.next_comment).is_some_and(|comment| inside(comment.before))
            {
                self.next_comment += 1;
            }
            return end;
        }
        self.line.push_str(spacing::written(self.tokens, at));
        at + 1
    }

    /// The source text before a position.
    fn before(&self, position: u32) -> &str {
        self.tokens.slice(Span { start: self.tokens.base(), end: position })
    }

    /// Prints the comments before a token. Returns whether the token must begin a line.
    fn comments(&mut self, at: usize) -> bool {
        let mut must_break = false;
        while let Some(comment) = self.tokens.comments().get(self.next_comment) {
            if comment.before as usize > at {
                break;
            }
            let start = comment.span.start;
            let before = self.before(start).trim_end_matches([' ', '\t']);
            let is_first = before.is_empty() || before.ends_with('\n');
            if is_first {
                self.end_line();
                self.blank(start, at);
                self.indent = self.plan.breaks.get(at).copied().flatten().unwrap_or(self.indent);
            } else if !self.line.is_empty() {
                self.line.push_str("  ");
            }
            self.line.push_str(self.tokens.slice(comment.span).trim_end());
            must_break = true;
            self.next_comment += 1;
        }
        must_break
    }

    /// Keeps a blank line of the input before a statement, or before a comment on it.
    fn blank(&mut self, position: u32, at: usize) {
        let begins = at >= self.tokens.len() || self.plan.begins.contains(&at);
        let before = self.before(position);
        let gap = &before[before.trim_end().len()..];
        let is_blank = gap.bytes().filter(|byte| *byte == b'\n').count() > 1;
        if begins && is_blank && !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn end_line(&mut self) {
        if !self.line.trim().is_empty() {
            self.out.push_str(&" ".repeat(self.indent));
            self.out.push_str(self.line.trim_end());
            self.out.push('\n');
        }
        self.line.clear();
    }
}

/// Whether a token closes a bracket.
fn is_close(token: Token) -> bool {
    matches!(token, Token::Close | Token::CloseBracket | Token::CloseBrace)
}

/// Whether a token opens a bracket.
fn is_open(token: Token) -> bool {
    matches!(token, Token::Open | Token::OpenBracket | Token::OpenBrace)
}
