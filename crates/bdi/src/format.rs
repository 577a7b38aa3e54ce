//! The formatter. It keeps tokens and comments in their order and changes the white space. The notation of the paper
//! (`∀F`, `¬`, `B_i f`) becomes ASCII first.
//!
//! Line breaks of the input are kept, and no others are added, except that each item of the file
//! begins a line. What changes is the indentation, which follows blocks and brackets, the spaces
//! inside lines, and blank lines, of which at most one in a row remains. Formatting twice changes
//! nothing. The time is linear in the text.

use masque_text::{Diagnostic, Doc, FileId, LayoutWriter, LinePlace, Sources};

use crate::lexer::{Token, Tokens, ascii};
use crate::parser::{Rewrite, parse_with_rewrites};

/// Spaces for each level of indentation.
const INDENT: usize = 2;

/// Returns the text of a file in the standard layout, or its syntax errors.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.bdi", "agent a is\nloop p:=any// toss\nendloop\n\n\nmas=a;").unwrap();
/// let text = masque_bdi::format(&sources, file).unwrap();
/// assert_eq!(text, "agent a is\n  loop p := any // toss\n  endloop\n\nmas = a;\n");
/// ```
pub fn format(sources: &Sources, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics, rewrites) = parse_with_rewrites(sources, file);
    Diagnostic::no_errors(diagnostics)?;
    let ascii = in_ascii(sources, file, rewrites);
    let tokens = Tokens::new(&ascii, 0);
    let mut blocks = Blocks { tokens: &tokens, depth: 0, is_in_item: false, is_statement_open: false };
    let mut writer = LayoutWriter::new(&tokens, usize::MAX, " ");
    let mut start = 0;
    while start < tokens.len() {
        let (place, mut doc, mut at) = (blocks.place(start), Doc::default(), start);
        while at == start || at < tokens.len() && !blocks.is_item(at) && !begins_line(&tokens, at) {
            doc.text(at..at + 1, is_spaced(&tokens, at), tokens.text(at));
            blocks.pass(at);
            at += 1;
        }
        writer.line(place, &doc);
        start = at;
    }
    Ok(writer.finish())
}

/// Returns the text of a file with the signs of the paper in ASCII, and `B_i f` as `B(i, f)`. Comments stay.
fn in_ascii(sources: &Sources, file: FileId, mut rewrites: Vec<Rewrite>) -> String {
    let (text, base) = (sources.text(file), sources.span(file).start);
    let tokens = Tokens::new(text, base);
    for index in 0..tokens.len() {
        if let Some(sign) = ascii(tokens.kind(index), tokens.text(index)) {
            rewrites.push(Rewrite { span: tokens.span(index), text: sign.to_string() });
        }
    }
    // Insertions come before the replacement of what begins at the same place.
    rewrites.sort_by_key(|rewrite| (rewrite.span.start, rewrite.span.end));
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for Rewrite { span, text: new } in rewrites {
        let start = (span.start - base) as usize;
        out.push_str(&text[end..start]);
        out.push_str(&new);
        end = (span.end - base) as usize;
    }
    out.push_str(&text[end..]);
    out
}

/// Indentation of the lines of a file.
struct Blocks<'t> {
    tokens: &'t Tokens<'t>,
    /// Number of open blocks and brackets.
    depth: usize,
    /// Whether an agent or a view has begun: the lines after its heading are indented.
    is_in_item: bool,
    /// Whether the last token leaves a statement unfinished.
    is_statement_open: bool,
}

impl Blocks<'_> {
    fn word(&self, at: usize) -> &str {
        if self.tokens.kind(at) == Token::Word { self.tokens.text(at) } else { "" }
    }

    /// Whether a token begins an item of the file.
    fn is_item(&self, at: usize) -> bool {
        let next = self.tokens.kind(at + 1);
        match self.word(at) {
            "agent" | "view" | "mas" | "property" | "option" => true,
            // `in top :` and `subworld top in a` have paths, `check := true` is an assignment.
            "top" => {
                let before = at.checked_sub(1).map_or("", |before| self.word(before));
                next == Token::Word && !matches!(before, "in" | "subworld")
            }
            "check" => next == Token::Word,
            "import" => next == Token::Quoted,
            _ => false,
        }
    }

    fn opens(&self, at: usize) -> bool {
        matches!(self.tokens.kind(at), Token::Open | Token::OpenBrace | Token::OpenBracket)
            || self.word(at) == "loop"
    }

    fn closes(&self, at: usize) -> bool {
        matches!(self.tokens.kind(at), Token::Close | Token::CloseBrace | Token::CloseBracket)
            || self.word(at) == "endloop"
    }

    /// Where the line stands that begins with a token.
    fn place(&self, at: usize) -> LinePlace {
        if self.is_item(at) {
            return LinePlace { start: at, ..LinePlace::default() };
        }
        let begins = self.tokens.kind(at) == Token::Bar || matches!(self.word(at), "else" | "loop" | "init");
        let goes_on = self.is_statement_open && !self.closes(at) && !begins;
        let levels = self.depth + usize::from(self.is_in_item);
        LinePlace {
            start: at,
            indent: (levels + usize::from(goes_on) - usize::from(self.closes(at) && self.depth > 0)) * INDENT,
            comment_indent: (levels + usize::from(goes_on)) * INDENT,
            ..LinePlace::default()
        }
    }

    /// Passes a token.
    fn pass(&mut self, at: usize) {
        if self.is_item(at) {
            (self.depth, self.is_in_item) = (0, matches!(self.word(at), "agent" | "view"));
        }
        self.depth = (self.depth + usize::from(self.opens(at))).saturating_sub(usize::from(self.closes(at)));
        let kind = self.tokens.kind(at);
        let ends = self.opens(at)
            || matches!(kind, Token::Semicolon | Token::CloseBrace | Token::Bar)
            || matches!(self.word(at), "is" | "endloop" | "then" | "else");
        self.is_statement_open = !ends;
        if kind == Token::Semicolon && !self.is_in_item {
            self.depth = 0;
        }
    }
}

/// Whether a token was the first on its line; line ends in comments do not count.
fn begins_line(tokens: &Tokens<'_>, at: usize) -> bool {
    let n_newlines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    let comments = tokens.comments_within(at..at + 1).iter();
    n_newlines(tokens.gap(at)) > comments.map(|comment| n_newlines(tokens.slice(comment.span))).sum()
}

/// Whether a space precedes a token that does not begin a line.
fn is_spaced(tokens: &Tokens<'_>, at: usize) -> bool {
    let Some(last) = at.checked_sub(1) else { return false };
    let before = last.checked_sub(1);
    let is_operand = |at: usize| match tokens.kind(at) {
        Token::Word => {
            let word = tokens.text(at);
            !crate::lexer::is_reserved(word) || matches!(word, "true" | "false" | "any")
        }
        kind => matches!(kind, Token::Number | Token::Close | Token::CloseBracket),
    };
    match (tokens.kind(last), tokens.kind(at)) {
        (_, Token::Comma | Token::Semicolon | Token::Dot | Token::DotDot) => false,
        (_, Token::Close | Token::CloseBracket) | (Token::Open | Token::OpenBracket, _) => false,
        (Token::Dot | Token::DotDot | Token::Not, _) => false,
        // `E[f U g]`, `f(x)`; but `if (p)`, `AF (p)` and a block after a word of the language.
        (Token::Word, Token::OpenBracket) => false,
        (Token::Word, Token::Open) => {
            !is_operand(last) || matches!(tokens.text(last), "in" | "U" | "R" | "W" | "unless" | "not")
        }
        // `property p: f` has no space before its colon, `var n : 0..7` has one.
        (Token::Word | Token::Close, Token::Colon) => {
            before.is_some_and(|at| tokens.text(at) == "var" || tokens.kind(at) == Token::Comma)
                || tokens.text(last) == "AP"
        }
        // No space after a sign.
        (Token::Minus, _) => before.is_some_and(is_operand),
        _ => true,
    }
}
