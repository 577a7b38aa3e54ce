//! The output: lines and indentation, comments, blank lines.

use masque_text::{Comment, Span};

use super::outline::{Line, LineKind, Mark};
use super::spacing::{Piece, Spacing};
use super::{INDENT, WIDTH};
use crate::lexer::Tokens;

/// Maximum indentation of continuation lines in columns; brackets may nest 500 levels deep.
const MAX_INDENT: usize = 60;

/// Writes the lines of a file.
pub(super) struct Printer<'t> {
    text: &'t str,
    tokens: &'t Tokens<'t>,
    spacing: Spacing<'t>,
    /// The comments not yet written.
    comments: &'t [Comment],
    out: String,
    /// Offset in `out` at which the current line begins, and the number of spaces it begins with.
    line_start: usize,
    pub(super) line_indent: usize,
    /// The line being laid out: its tokens, the index of the first one, and its indentation.
    pub(super) pieces: Vec<Piece>,
    first_token: usize,
    pub(super) indent: usize,
    /// The piece before which comments and white space have been written by [`Printer::lead`].
    led: Option<usize>,
}

impl<'t> Printer<'t> {
    pub(super) fn new(text: &'t str, tokens: &'t Tokens<'t>, marks: &'t [(u32, Mark)]) -> Self {
        Printer {
            text,
            tokens,
            spacing: Spacing::new(tokens, marks),
            comments: tokens.comments(),
            out: String::with_capacity(text.len() + text.len() / 4),
            line_start: 0,
            line_indent: 0,
            pieces: Vec::new(),
            first_token: 0,
            indent: 0,
            led: None,
        }
    }

    /// Writes the whole file.
    pub(super) fn file(mut self, lines: &[Line]) -> String {
        let mut before = None;
        for (i, &line) in lines.iter().enumerate() {
            let end = lines.get(i + 1).map_or(self.tokens.len(), |next| next.start as usize);
            self.between(before, Some(line), line.start as usize);
            let mut pieces = std::mem::take(&mut self.pieces);
            self.spacing.read(line, end, &mut pieces);
            self.pieces = pieces;
            self.first_token = line.start as usize;
            self.indent = line.level as usize * INDENT;
            self.led = Some(0);
            self.layout(line.kind);
            before = Some(line.kind);
        }
        self.between(before, None, self.tokens.len());
        self.out
    }

    /// Writes what stands between two lines: comments, at most one blank line in a row, and the
    /// indentation of the line `next`, whose first token is `token`. At either end of the file one of
    /// the lines is missing.
    fn between(&mut self, before: Option<LineKind>, next: Option<Line>, token: usize) {
        let level = next.map_or(0, |line| line.level as usize);
        let is_close = next.is_some_and(|line| line.kind == LineKind::Close);
        // Comments before the end of a section are indented like the section.
        let indent = (level + usize::from(is_close)) * INDENT;
        let mut end = match token {
            0 => self.tokens.base(),
            _ => self.tokens.span(token - 1).end,
        };
        if let Some(comment) = self.comment_before(token)
            && !self.out.is_empty()
            && self.newlines(end, comment.span) == 0
        {
            end = self.comment_beside(token);
        }
        let mut may_be_blank = before.is_some_and(|kind| kind != LineKind::Open);
        let mut needs_blank = is_apart(before, next) && !self.has_blank(end, token);
        while let Some(comment) = self.comment_before(token) {
            let is_blank = needs_blank || may_be_blank && self.newlines(end, comment.span) > 1;
            self.line_break(is_blank, indent);
            (may_be_blank, needs_blank) = (true, false);
            end = self.comment();
        }
        match next {
            Some(line) => {
                let newlines = self.newlines(end, self.tokens.span(token));
                let is_blank = needs_blank || may_be_blank && !is_close && newlines > 1;
                self.line_break(is_blank, line.level as usize * INDENT);
            }
            None if !self.out.is_empty() => self.out.push('\n'),
            None => {}
        }
    }

    /// Whether the input has a blank line between a position and a token.
    fn has_blank(&self, mut end: u32, token: usize) -> bool {
        let comments = self.comments.iter().take_while(|comment| comment.before as usize <= token);
        comments.map(|comment| comment.span).chain([self.tokens.span(token)]).any(|span| {
            let is_blank = self.newlines(end, span) > 1;
            end = span.end;
            is_blank
        })
    }

    /// The next comment, if it precedes a token.
    fn comment_before(&self, token: usize) -> Option<&'t Comment> {
        self.comments.first().filter(|comment| comment.before as usize <= token)
    }

    /// Number of line ends between a position and the next token or comment.
    fn newlines(&self, end: u32, next: Span) -> usize {
        let gap = self.tokens.slice(Span { start: end, end: next.start });
        gap.bytes().filter(|&byte| byte == b'\n').count()
    }

    /// Writes a comment at the end of the current line, and below it the comments that continue it:
    /// those in the same column on the following lines. Returns where the last one ends in the input.
    fn comment_beside(&mut self, token: usize) -> u32 {
        let column = self.column() + 1;
        let mut above = self.comments.first();
        let mut end = self.comment();
        while let (Some(first), Some(next)) = (above, self.comment_before(token))
            && self.newlines(end, next.span) == 1
            && self.source_column(first) == self.source_column(next)
        {
            self.out.push('\n');
            (self.line_start, self.line_indent) = (self.out.len(), column);
            self.out.extend(std::iter::repeat_n(' ', column));
            above = Some(next);
            end = self.comment();
        }
        end
    }

    fn source_column(&self, comment: &Comment) -> usize {
        let start = (comment.span.start - self.tokens.base()) as usize;
        start - self.text[..start].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Writes the next comment. Returns where it ends in the input.
    fn comment(&mut self) -> u32 {
        let Some((comment, rest)) = self.comments.split_first() else { return 0 };
        self.comments = rest;
        if !self.is_fresh() {
            self.out.push(' ');
        }
        self.out.push_str(self.tokens.slice(comment.span).trim_end());
        comment.span.end
    }

    fn line_break(&mut self, is_blank: bool, indent: usize) {
        if is_blank {
            self.out.push('\n');
        }
        self.break_to(indent);
    }
}

/// Whether a blank line must stand between two lines: around agents and the sections of a file.
fn is_apart(before: Option<LineKind>, next: Option<Line>) -> bool {
    match (before, next) {
        (Some(before), Some(next)) if next.level == 0 => match next.kind {
            LineKind::Close => false,
            LineKind::Open => true,
            _ => before == LineKind::Close,
        },
        _ => false,
    }
}

/// Operations that [`super::layout`] uses.
impl Printer<'_> {
    pub(super) fn column(&self) -> usize {
        self.out.len() - self.line_start
    }

    /// Whether the current line contains only indentation.
    pub(super) fn is_fresh(&self) -> bool {
        self.column() == self.line_indent
    }

    /// Begins a new line, unless the current one is empty.
    pub(super) fn break_to(&mut self, indent: usize) {
        if self.is_fresh() {
            self.out.truncate(self.line_start);
        } else {
            self.out.push('\n');
            self.line_start = self.out.len();
        }
        self.line_indent = indent.min(MAX_INDENT);
        self.out.extend(std::iter::repeat_n(' ', self.line_indent));
    }

    /// Writes what precedes a piece: its comments followed by a line end, or a line end if `breaks`,
    /// or a space if the piece has one.
    pub(super) fn lead(&mut self, piece: usize, indent: usize, breaks: bool) {
        if self.led == Some(piece) {
            return;
        }
        self.led = Some(piece);
        let token = self.first_token + piece;
        let mut has_comment = false;
        let mut end = self.pieces[piece.saturating_sub(1)].end;
        while let Some(comment) = self.comment_before(token) {
            // A comment stays on the line of the token before it.
            if self.newlines(end, comment.span) > 0 {
                self.break_to(indent);
            }
            end = self.comment();
            has_comment = true;
        }
        if has_comment || breaks {
            self.break_to(indent);
        } else if self.pieces[piece].has_space && !self.is_fresh() {
            self.out.push(' ');
        }
    }

    /// Writes a piece and what precedes it.
    pub(super) fn put(&mut self, piece: usize, indent: usize) {
        self.lead(piece, indent, false);
        let Piece { start, end, .. } = self.pieces[piece];
        self.out.push_str(self.tokens.slice(Span { start, end }));
    }

    /// Writes pieces without a line end, except after comments.
    pub(super) fn put_all(&mut self, from: usize, to: usize, indent: usize) {
        for piece in from..to {
            self.put(piece, indent);
        }
    }

    /// Width of pieces on one line, in bytes.
    pub(super) fn width(&self, from: usize, to: usize) -> usize {
        match to.checked_sub(1).filter(|&last| last >= from) {
            Some(last) => {
                let Piece { column, start, end, .. } = self.pieces[last];
                (column + (end - start) - self.pieces[from].column) as usize
            }
            None => 0,
        }
    }

    /// Whether there are comments between pieces.
    pub(super) fn has_comments(&self, from: usize, to: usize) -> bool {
        from < to && self.pieces[to - 1].n_commented != self.pieces[from].n_commented
    }

    /// Whether pieces fit into this line, with `tail` columns to follow.
    pub(super) fn fits(&self, from: usize, to: usize, tail: usize) -> bool {
        !self.has_comments(from, to) && self.column() + self.width(from, to) + tail <= WIDTH
    }
}
