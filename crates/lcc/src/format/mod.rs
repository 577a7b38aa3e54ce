//! The formatter. It keeps tokens and comments in their order and changes the white space.
//!
//! The tree determines where lines may break; the space between two tokens of a line depends only on
//! their kinds ([`spacing`]). Of the white space of the input, only blank lines and comments on their own
//! line matter, so formatting twice changes nothing.

mod spacing;

use masque_text::{Break, Diagnostic, Doc, FileId, Indent, LayoutWriter, LinePlace, Sources, Span};

use crate::lexer::{Token, Tokens};
use crate::parser::parse;
use crate::tree::{Clause, Item, Proc, ProcKind, PropertyText};

/// Maximum line length in columns. A comment at the end of a line is not counted.
const WIDTH: usize = 100;
/// Number of spaces per level of indentation.
const INDENT: usize = 2;

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
    // The first token of each line with its statement, or none for a heading.
    let headings = tree.headings.iter().map(|heading| (tokens.at(heading.start), None));
    let items = tree.items.iter().map(|item| (first_token(&tokens, item), Some(item)));
    let mut starts: Vec<(usize, Option<&Item>)> = headings.chain(items).collect();
    starts.sort_unstable_by_key(|(start, item)| (*start, item.is_some()));
    let mut writer = LayoutWriter::new(&tokens, WIDTH, "  ");
    for (index, &(start, item)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(tokens.len(), |next| next.0);
        let mut layout = Layout { tokens: &tokens, next: start, doc: Doc::default() };
        match item {
            Some(Item::Clause(clause) | Item::Now(clause)) => layout.clause(clause),
            Some(Item::Property(property)) => layout.property(property),
            _ => {}
        }
        layout.up_to(end);
        // A rule below a heading has no enforcer in front and is indented.
        let indent = if item.is_some() && tokens.kind(start) == Token::Open { INDENT } else { 0 };
        let place = LinePlace { start, indent, comment_indent: indent, ..LinePlace::default() };
        if start < end {
            writer.line(place, &layout.doc);
        }
    }
    Ok(writer.finish())
}

/// The first token of a statement: its keyword, if it has one, which the tree does not cover.
fn first_token(tokens: &Tokens<'_>, item: &Item) -> usize {
    let first = tokens.at(item.span().start);
    match item {
        Item::Now(_) | Item::Member(_) | Item::Setting(_) | Item::Property(_) | Item::Import(_) => {
            first.saturating_sub(1)
        }
        _ => first,
    }
}

/// Describes a statement.
struct Layout<'t> {
    tokens: &'t Tokens<'t>,
    /// The next token to add.
    next: usize,
    doc: Doc<'t>,
}

impl Layout<'_> {
    /// Adds the tokens before an index.
    fn up_to(&mut self, end: usize) {
        for at in self.next..end {
            let has_space = spacing::is_spaced(self.tokens, at);
            self.doc.text(at..at + 1, has_space, spacing::written(self.tokens, at));
        }
        self.next = self.next.max(end);
    }

    /// The tokens of a span: the first one, and the one after the last.
    fn range(&self, span: Span) -> (usize, usize) {
        (self.tokens.at(span.start), self.tokens.at(span.end))
    }

    /// `head :: body`
    fn clause(&mut self, clause: &Clause) {
        let (body, _) = self.range(clause.body.span);
        self.doc.open(Indent::Inner(INDENT));
        self.up_to(body);
        self.doc.line_break(Break::Always);
        self.process(&clause.body);
        // The full stop.
        self.up_to(self.next + usize::from(self.tokens.kind(self.next) == Token::Stop));
        self.doc.close();
    }

    /// `property name : formula ;`. The formula is copied unchanged.
    fn property(&mut self, property: &PropertyText) {
        let (from, to) = self.range(property.formula);
        self.up_to(from);
        let text = self.tokens.slice(self.tokens.span(from).to(self.tokens.span(to - 1)));
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        self.doc.text(from..to, spacing::is_spaced(self.tokens, from), lines.join("\n    "));
        self.next = to;
    }

    fn process(&mut self, process: &Proc) {
        let (from, to) = self.range(process.span);
        self.up_to(from);
        self.doc.open(Indent::Inner(0));
        // `( first` .. `last )`: the inside is indented.
        let n_brackets = self.n_brackets(from, to);
        for bracket in 1..=n_brackets {
            self.up_to(from + bracket);
            self.doc.pad();
            self.doc.open(Indent::Inner(INDENT));
        }
        match &process.kind {
            ProcKind::Then(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        self.up_to(self.range(part.span).0);
                        self.doc.line_break(Break::Always);
                    }
                    self.process(part);
                }
            }
            ProcKind::Or(parts) | ProcKind::Par(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        let first = self.range(part.span).0;
                        self.up_to(first - 1);
                        self.doc.line_break(Break::Always);
                        self.up_to(first);
                        self.doc.line_break(Break::Always);
                    }
                    self.process(part);
                }
            }
            ProcKind::Guarded(step, constraint) => {
                let (_, end) = self.range(step.span);
                if step.span.end <= constraint.span.start && self.tokens.kind(end) == Token::If {
                    self.up_to(end);
                    self.doc.indented_break(Break::Always, 2 * INDENT as isize);
                }
            }
            _ => {}
        }
        for bracket in (1..=n_brackets).rev() {
            self.up_to(to - bracket);
            self.doc.pad();
            self.up_to(to - bracket + 1);
            self.doc.close();
        }
        self.up_to(to);
        self.doc.close();
    }

    /// Number of pairs of brackets around all tokens of a range.
    fn n_brackets(&self, from: usize, to: usize) -> usize {
        let kind = |at: usize| self.tokens.kind(at);
        let most = (0..(to - from) / 2)
            .take_while(|n| kind(from + n) == Token::Open && kind(to - 1 - n) == Token::Close)
            .count();
        // The closing brackets may belong to others than the opening ones.
        let (mut n_open, mut least) = (most, most);
        for at in from + most..to - most {
            n_open += usize::from(is_open(kind(at)));
            n_open -= usize::from(is_close(kind(at)));
            least = least.min(n_open);
        }
        least
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
