//! The formatter. It keeps tokens and comments in their order and changes the white space. The notation of the paper
//! (`∀F`, `¬`, `B_i f`) becomes ASCII first.
//!
//! Line breaks of the input are kept, and no others are added, except that each item of the file
//! begins a line. What changes is the indentation, which follows blocks and brackets, the spaces
//! inside lines, and blank lines, of which at most one in a row remains. Formatting twice changes
//! nothing. The time is linear in the text.

use masque_text::{Diagnostic, FileId, Sources, Span};

use crate::lexer::{Token, Tokens, ascii};
use crate::parser::{Rewrite, parse_with_rewrites};

/// Spaces for each level of indentation.
const INDENT: usize = 2;
/// Maximum indentation in columns, at any nesting depth.
const MAX_INDENT: usize = 40;

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
    let pieces = pieces(&tokens);
    Ok(Printer { out: String::new(), depth: 0, is_in_item: false, is_statement_open: false }.file(&pieces))
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

/// A token or a comment.
struct Piece<'t> {
    text: &'t str,
    kind: Option<Token>,
    /// Number of line breaks before it in the input.
    breaks: usize,
    /// Whether it begins an item of the file.
    is_item: bool,
}

fn pieces<'t>(tokens: &Tokens<'t>) -> Vec<Piece<'t>> {
    let mut spans: Vec<(Span, Option<Token>)> =
        tokens.comments().iter().map(|comment| (comment.span, None)).collect();
    spans.extend((0..tokens.len()).map(|i| (tokens.span(i), Some(tokens.kind(i)))));
    spans.sort_by_key(|(span, _)| span.start);
    let mut pieces: Vec<Piece<'t>> = Vec::new();
    let mut end = tokens.base();
    for (index, &(span, kind)) in spans.iter().enumerate() {
        let breaks = tokens.slice(Span { start: end, end: span.start }).matches('\n').count();
        end = span.end;
        let word = tokens.slice(span);
        let next = spans[index + 1..].iter().find(|(_, kind)| kind.is_some());
        let is_item = kind == Some(Token::Word)
            && match word {
                "agent" | "view" | "mas" | "property" | "option" => true,
                // `in top :` and `subworld top in a` have paths, `check := true` is an assignment.
                "top" => {
                    let before = pieces.iter().rev().find(|p| p.kind.is_some());
                    next.is_some_and(|(_, kind)| *kind == Some(Token::Word))
                        && before.is_none_or(|p| !matches!(p.text, "in" | "subworld"))
                }
                "check" => next.is_some_and(|(_, kind)| *kind == Some(Token::Word)),
                "import" => next.is_some_and(|(_, kind)| *kind == Some(Token::Quoted)),
                _ => false,
            };
        pieces.push(Piece { text: word.trim_end(), kind, breaks, is_item });
    }
    pieces
}

struct Printer {
    out: String,
    /// Number of open blocks and brackets.
    depth: usize,
    /// Whether an agent or a view has begun: the lines after its heading are indented.
    is_in_item: bool,
    /// Whether the last token leaves a statement unfinished.
    is_statement_open: bool,
}

impl Printer {
    fn file(mut self, pieces: &[Piece<'_>]) -> String {
        let mut last: Option<&Piece<'_>> = None;
        let mut before: Option<&Piece<'_>> = None;
        for (index, piece) in pieces.iter().enumerate() {
            let closes = closes(piece);
            if closes {
                self.depth = self.depth.saturating_sub(1);
            }
            // A comment on its own line belongs to what follows.
            let leads = pieces[index..].iter().find(|p| p.kind.is_some()).is_none_or(|p| p.is_item);
            if piece.is_item || (piece.kind.is_none() && leads && piece.breaks > 0) {
                (self.depth, self.is_in_item, self.is_statement_open) = (0, false, false);
            }
            match last {
                None => {}
                Some(last) if piece.breaks > 0 || piece.is_item || last.text.starts_with("//") => {
                    self.new_line(piece, last);
                }
                Some(last) if is_spaced(before, last, piece) => self.out.push(' '),
                Some(_) => {}
            }
            self.out.push_str(piece.text);
            self.after(piece);
            (before, last) = (last, Some(piece));
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    fn new_line(&mut self, piece: &Piece<'_>, last: &Piece<'_>) {
        self.out.push('\n');
        if piece.breaks > 1 && !last.text.is_empty() {
            self.out.push('\n');
        }
        let goes_on = self.is_statement_open && !closes(piece) && !begins(piece);
        let depth = self.depth + usize::from(self.is_in_item) + usize::from(goes_on);
        self.out.push_str(&" ".repeat((depth * INDENT).min(MAX_INDENT)));
    }

    fn after(&mut self, piece: &Piece<'_>) {
        if piece.kind.is_none() {
            return;
        }
        let opens = matches!(piece.kind, Some(Token::Open | Token::OpenBrace | Token::OpenBracket))
            || piece.text == "loop";
        self.depth += usize::from(opens);
        self.is_in_item |= matches!(piece.text, "agent" | "view");
        let ends = opens
            || matches!(piece.kind, Some(Token::Semicolon | Token::CloseBrace))
            || matches!(piece.text, "is" | "endloop" | "then" | "else" | "|");
        self.is_statement_open = !ends;
        if piece.kind == Some(Token::Semicolon) && !self.is_in_item {
            self.depth = 0;
        }
    }
}

fn closes(piece: &Piece<'_>) -> bool {
    matches!(piece.kind, Some(Token::Close | Token::CloseBrace | Token::CloseBracket))
        || (piece.kind.is_some() && piece.text == "endloop")
}

/// Words at the beginning of a line that are not indented further.
fn begins(piece: &Piece<'_>) -> bool {
    piece.kind == Some(Token::Bar) || (piece.kind.is_some() && matches!(piece.text, "else" | "loop" | "init"))
}

/// Whether two pieces of one line are separated by a space.
fn is_spaced(before: Option<&Piece<'_>>, last: &Piece<'_>, piece: &Piece<'_>) -> bool {
    let (Some(left), Some(right)) = (last.kind, piece.kind) else { return true };
    let is_operand = |p: &Piece<'_>| match p.kind {
        Some(Token::Word) => !crate::lexer::is_reserved(p.text) || matches!(p.text, "true" | "false" | "any"),
        Some(kind) => matches!(kind, Token::Number | Token::Close | Token::CloseBracket),
        None => false,
    };
    match (left, right) {
        (_, Token::Comma | Token::Semicolon | Token::Dot | Token::DotDot) => false,
        (_, Token::Close | Token::CloseBracket) | (Token::Open | Token::OpenBracket, _) => false,
        (Token::Dot | Token::DotDot | Token::Not, _) => false,
        // `E[f U g]`, `f(x)`; but `if (p)`, `AF (p)` and a block after a word of the language.
        (Token::Word, Token::OpenBracket) => false,
        (Token::Word, Token::Open) => {
            !is_operand(last) || matches!(last.text, "in" | "U" | "R" | "W" | "unless" | "not")
        }
        // `property p: f` has no space before its colon, `var n : 0..7` has one.
        (Token::Word | Token::Close, Token::Colon) => {
            matches!(before, Some(b) if b.text == "var" || b.kind == Some(Token::Comma)) || last.text == "AP"
        }
        // No space after a sign.
        (Token::Minus, _) => before.is_some_and(is_operand),
        _ => true,
    }
}
