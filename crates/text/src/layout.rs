//! One layout algorithm for the formatters of all languages, after Oppen [Opp80].
//!
//! A formatter splits a file into lines and describes each as a [`Doc`]: its tokens, groups of tokens, and
//! the places where a line may break. A group that fits is written on one line. In a group that does not
//! fit, the [`Break`]s directly inside it decide, from left to right and without backtracking, so the time
//! is linear. [`LayoutWriter`] adds what no language needs to know: comments stay with the token that they
//! are written beside, and of several blank lines one remains.
//!
//! Differs from the paper: whether a break is consistent is a property of the break, not of the group, so
//! that large operands of a chain get lines of their own while small ones share lines.

use std::borrow::Cow;
use std::ops::Range;

use crate::tokens::{Kind, Tokens};
use crate::{Comment, Span};

/// Maximum indentation in columns, at any nesting depth.
const MAX_INDENT: usize = 60;
/// Column up to which a [`Break::Far`] keeps the line.
const MAX_NEAR_COLUMN: usize = 60;

/// Column to which the breaks of a group return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// That of the enclosing group, plus this number of columns.
    Inner(usize),
    /// That of the enclosing group, plus this number of columns if the group begins a broken line.
    Hanging(usize),
    /// The column in which the group begins, plus this number of columns.
    Here(usize),
    /// The indentation of the line in which the group begins, plus this number of columns.
    Line(usize),
}

/// A place where a line may break if the group around it does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Always breaks.
    Always,
    /// Breaks if what follows up to the next break of this group does not fit.
    Fill,
    /// Breaks if what follows up to the next break of this group fits into a new line, but not into this one.
    Below,
    /// As [`Break::Fill`], but only far to the right.
    Far,
    /// Breaks if what follows up to the next break of any group does not fit. It is the last resort: a group
    /// before it does not count on it.
    Wrap,
}

#[derive(Debug)]
enum Step<'t> {
    Open(Indent),
    Close,
    Break(Break, isize),
    Pad,
    Text(Text<'t>),
}

/// Text of some tokens.
#[derive(Debug)]
struct Text<'t> {
    text: Cow<'t, str>,
    tokens: Range<usize>,
    has_space: bool,
}

/// A line of a file before it is broken.
#[derive(Debug, Default)]
pub struct Doc<'t> {
    steps: Vec<Step<'t>>,
}

impl<'t> Doc<'t> {
    /// Removes everything.
    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// Begins a group. Returns its number for [`Doc::set_indent`].
    pub fn open(&mut self, indent: Indent) -> usize {
        self.steps.push(Step::Open(indent));
        self.steps.len() - 1
    }

    /// Changes the indentation of a group.
    pub fn set_indent(&mut self, group: usize, indent: Indent) {
        self.steps[group] = Step::Open(indent);
    }

    /// Ends the last group that is open.
    pub fn close(&mut self) {
        self.steps.push(Step::Close);
    }

    /// Allows a line to break here.
    pub fn line_break(&mut self, kind: Break) {
        self.indented_break(kind, 0);
    }

    /// Allows a line to break here. A new line is indented `offset` columns more than the group.
    pub fn indented_break(&mut self, kind: Break, offset: isize) {
        self.steps.push(Step::Break(kind, offset));
    }

    /// Adds a space, if the group around it does not fit.
    pub fn pad(&mut self) {
        self.steps.push(Step::Pad);
    }

    /// Index of the token after the last one.
    fn end(&self) -> usize {
        let end = |step: &Step<'_>| if let Step::Text(text) = step { Some(text.tokens.end) } else { None };
        self.steps.iter().rev().find_map(end).unwrap_or(0)
    }

    /// Adds the text of some tokens, after a space unless it begins a line. Comments between the tokens are
    /// part of the text.
    pub fn text(&mut self, tokens: Range<usize>, has_space: bool, text: impl Into<Cow<'t, str>>) {
        self.steps.push(Step::Text(Text { text: text.into(), tokens, has_space }));
    }
}

/// Where a line of a file stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinePlace {
    /// Index of its first token.
    pub start: usize,
    /// Indentation in columns.
    pub indent: usize,
    /// Indentation of the comments before it.
    pub comment_indent: usize,
    /// Whether a blank line stands before it and its comments in any case.
    pub is_apart: bool,
    /// Whether it begins a block: there is no blank line after it.
    pub opens: bool,
    /// Whether it ends a block: there is no blank line before it.
    pub closes: bool,
}

/// Writes the lines of a file in their order.
#[derive(Debug)]
pub struct LayoutWriter<'t, K> {
    tokens: &'t Tokens<'t, K>,
    width: usize,
    /// Space between a token and a comment beside it.
    comment_gap: &'static str,
    /// The comments that are not yet written.
    comments: &'t [Comment],
    out: String,
    column: usize,
    /// Number of spaces that the current line begins with.
    line_indent: usize,
    /// Whether the current line has no text.
    is_fresh: bool,
    /// Indentation of the line to begin before the next text, and of the comments before that text.
    pending: Option<(usize, usize)>,
    /// Whether the last line began a block.
    was_opening: bool,
}

/// What is known about a step before the line is written.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// Columns up to the step to which a group or a break looks ahead, without the space before the next text.
    width: usize,
    /// Whether a space precedes the next text.
    is_spaced: bool,
    /// Whether a line begins at the next text because of the comments before it.
    is_commented: bool,
    /// Whether a line must end inside a group.
    is_forced: bool,
}

/// A group that is being written.
#[derive(Clone, Copy, Debug)]
struct Group {
    indent: usize,
    is_broken: bool,
}

impl<'t, K: Kind> LayoutWriter<'t, K> {
    /// A writer of lines of at most `width` columns. A comment at the end of a line is not counted.
    pub fn new(tokens: &'t Tokens<'t, K>, width: usize, comment_gap: &'static str) -> Self {
        let n_bytes = (tokens.span(tokens.len()).end - tokens.base()) as usize;
        LayoutWriter {
            tokens,
            width,
            comment_gap,
            comments: tokens.comments(),
            out: String::with_capacity(n_bytes + n_bytes / 4),
            column: 0,
            line_indent: 0,
            is_fresh: true,
            pending: None,
            was_opening: true,
        }
    }

    /// Writes a line, and the comments before it.
    pub fn line(&mut self, place: LinePlace, doc: &Doc<'_>) {
        self.between(place);
        self.was_opening = place.opens;
        let extents = self.measure(doc);
        self.write(doc, &extents, place.indent);
    }

    /// Writes the comments after the last line. Returns the text of the file.
    pub fn finish(mut self) -> String {
        self.between(LinePlace { start: self.tokens.len(), closes: true, ..LinePlace::default() });
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Measures the steps of a line, from right to left.
    fn measure(&self, doc: &Doc<'_>) -> Vec<Extent> {
        let first = doc.steps.iter().position(|step| matches!(step, Step::Text(_)));
        let has_comments = self.comments.first().is_some_and(|comment| (comment.before as usize) < doc.end());
        let mut extents = vec![Extent::default(); doc.steps.len()];
        let mut lead = Extent::default();
        // Columns from here to the end of the line, and from the next break of any group to the end; number of
        // places to the right at which a line must end.
        let (mut right, mut any_break, mut n_forced) = (0, 0, 0);
        // For each open group the columns from its next break to the end, and the forced line ends after the group.
        let mut open = vec![(0, 0)];
        for (at, step) in doc.steps.iter().enumerate().rev() {
            let next_break = open.last().map_or(0, |group| group.0);
            let (mut stop, mut is_forced) = (right, false);
            match step {
                Step::Text(text) => {
                    let token = text.tokens.start;
                    let comments: &[Comment] =
                        if has_comments { self.tokens.comments_within(token..token + 1) } else { &[] };
                    let (ending, in_front) = comments.split_at(self.n_ending(comments, token));
                    lead.is_spaced = text.has_space && first != Some(at);
                    lead.is_commented = !ending.is_empty() && first != Some(at);
                    n_forced += usize::from(lead.is_commented) + usize::from(text.text.contains('\n'));
                    right += usize::from(lead.is_spaced) + columns(&text.text);
                    right += in_front.iter().map(|c| columns(self.tokens.slice(c.span)) + 1).sum::<usize>();
                }
                Step::Close => open.push((next_break, n_forced)),
                Step::Open(_) => {
                    // Comments before the first token of a group are outside it.
                    let outside = usize::from(lead.is_commented) + open.pop().map_or(0, |group| group.1);
                    is_forced = n_forced > outside;
                    stop = open.last().map_or(0, |group| group.0);
                }
                Step::Break(kind, _) => {
                    stop = if *kind == Break::Wrap { any_break } else { next_break };
                    any_break = right;
                    if let Some(group) = open.last_mut().filter(|_| *kind != Break::Wrap) {
                        group.0 = right;
                    }
                }
                Step::Pad => {}
            }
            let width = (right - stop).saturating_sub(usize::from(lead.is_spaced));
            extents[at] = Extent { width, is_forced, ..lead };
        }
        extents
    }

    fn write(&mut self, doc: &Doc<'_>, extents: &[Extent], indent: usize) {
        let mut groups = vec![Group { indent, is_broken: true }];
        let (mut is_padded, mut is_first) = (false, true);
        for (at, step) in doc.steps.iter().enumerate() {
            let Some(&group) = groups.last() else { return };
            let extent = extents[at];
            match step {
                Step::Open(indent) => {
                    let begins_line = self.pending.is_some();
                    if extent.is_commented && !begins_line {
                        let more = if let Indent::Inner(more) = *indent { more } else { 0 };
                        self.pending = Some((group.indent + more, group.indent + more));
                    }
                    let indent = match *indent {
                        Indent::Inner(more) => group.indent + more,
                        Indent::Hanging(more) => group.indent + if begins_line { more } else { 0 },
                        Indent::Here(more) => self.next_column(extent) + more,
                        Indent::Line(more) => self.pending.map_or(self.line_indent, |(line, _)| line) + more,
                    };
                    let fits = self.fits(self.next_column(extent), extent);
                    let is_broken = group.is_broken && (extent.is_forced || !fits);
                    groups.push(Group { indent, is_broken });
                }
                Step::Close => {
                    groups.pop();
                }
                Step::Pad => is_padded |= group.is_broken,
                Step::Break(kind, offset) => {
                    let indent = group.indent.saturating_add_signed(*offset);
                    let column = self.next_column(extent);
                    let breaks = match kind {
                        Break::Always => true,
                        Break::Fill | Break::Wrap => !self.fits(column, extent),
                        Break::Below => !self.fits(column, extent) && self.fits(indent, extent),
                        Break::Far => !self.fits(column, extent) && column > MAX_NEAR_COLUMN,
                    };
                    if group.is_broken && breaks && !is_first {
                        self.pending = Some((indent, group.indent));
                    } else if extent.is_commented {
                        self.pending.get_or_insert((indent, group.indent));
                    }
                }
                Step::Text(text) => {
                    if extent.is_commented {
                        let (_, indent) = *self.pending.get_or_insert((group.indent, group.indent));
                        self.comments_inside(text.tokens.start, indent);
                    }
                    self.text(text, std::mem::take(&mut is_padded) || text.has_space);
                    is_first = false;
                }
            }
        }
    }

    /// Column in which the next text begins.
    fn next_column(&self, extent: Extent) -> usize {
        let here = self.column + usize::from(extent.is_spaced && !self.is_fresh);
        self.pending.map_or(here, |(indent, _)| indent.min(MAX_INDENT))
    }

    /// Whether what follows a step fits into a line if it begins in this column.
    fn fits(&self, column: usize, extent: Extent) -> bool {
        column.saturating_add(extent.width) <= self.width
    }

    fn text(&mut self, text: &Text<'_>, has_space: bool) {
        if let Some((indent, _)) = self.pending.take() {
            self.break_to(indent);
        } else if has_space && !self.is_fresh {
            self.push(" ");
        }
        while self.comment_before(text.tokens.start).is_some() {
            self.comment("");
            self.push(" ");
        }
        self.push(&text.text);
        // Comments between the tokens are part of the text.
        while self.comment_before(text.tokens.end.saturating_sub(1)).is_some() {
            self.comments = &self.comments[1..];
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.is_fresh &= text.is_empty();
        match text.rfind('\n') {
            Some(newline) => self.column = columns(&text[newline + 1..]),
            None => self.column += columns(text),
        }
    }

    /// Begins a new line, unless the current one is empty.
    fn break_to(&mut self, indent: usize) {
        if self.is_fresh {
            self.out.truncate(self.out.len() - self.column);
        } else {
            self.out.push('\n');
        }
        self.line_indent = indent.min(MAX_INDENT);
        self.out.extend(std::iter::repeat_n(' ', self.line_indent));
        (self.column, self.is_fresh) = (self.line_indent, true);
    }
}

/// Comments and blank lines.
impl<'t, K: Kind> LayoutWriter<'t, K> {
    /// Writes what stands between two lines: comments, and at most one blank line in a row.
    fn between(&mut self, place: LinePlace) {
        let token = place.start;
        let mut end = token.checked_sub(1).map_or(self.tokens.base(), |last| self.tokens.span(last).end);
        let is_beside = |comment: &Comment| token > 0 && self.n_newlines(end, comment.span) == 0;
        if self.comment_before(token).is_some_and(is_beside) {
            end = self.comments_beside(token);
        }
        let mut may_be_blank = token > 0 && !self.was_opening;
        let mut needs_blank = place.is_apart && !self.has_blank(end, token);
        for at in 0..self.n_ending_comments(token) {
            let next = self.comments[0].span;
            let n_newlines = self.n_newlines(end, next);
            if n_newlines > 0 || token == 0 && at == 0 {
                self.begin(needs_blank || may_be_blank && n_newlines > 1, place.comment_indent);
            }
            (may_be_blank, needs_blank) = (true, false);
            end = self.comment(self.comment_gap);
        }
        if token < self.tokens.len() {
            let next = self.comment_before(token).map_or(self.tokens.span(token), |comment| comment.span);
            let is_blank = may_be_blank && !place.closes && self.n_newlines(end, next) > 1;
            self.begin(needs_blank || is_blank, place.indent);
        }
    }

    /// Begins a line, after a blank one if asked for.
    fn begin(&mut self, is_blank: bool, indent: usize) {
        if is_blank {
            self.out.push('\n');
        }
        self.break_to(indent);
    }

    /// Writes the comments before a token inside a line, except those that stay in front of it.
    fn comments_inside(&mut self, token: usize, indent: usize) {
        let mut end = self.tokens.span(token - 1).end;
        for _ in 0..self.n_ending_comments(token) {
            if self.n_newlines(end, self.comments[0].span) > 0 {
                self.break_to(indent);
            }
            end = self.comment(self.comment_gap);
        }
    }

    /// The next comment, if it precedes a token.
    fn comment_before(&self, token: usize) -> Option<&'t Comment> {
        self.comments.first().filter(|comment| comment.before as usize <= token)
    }

    /// Number of comments before a token that are not yet written and after which a line must begin.
    fn n_ending_comments(&self, token: usize) -> usize {
        let n = self.comments.iter().take_while(|comment| comment.before as usize <= token).count();
        self.n_ending(&self.comments[..n], token)
    }

    /// Of the comments before a token, the number of those after which a line must begin. The others, such
    /// as the one in `a /* b */ c`, stay in front of the token.
    fn n_ending(&self, comments: &[Comment], token: usize) -> usize {
        let ends_line = |at: &usize| {
            let comment = comments[*at].span;
            let next = comments.get(at + 1).map_or(self.tokens.span(token), |next| next.span);
            token == self.tokens.len()
                || self.n_newlines(comment.end, next) > 0
                || self.tokens.slice(comment).contains('\n')
        };
        (0..comments.len()).rev().find(ends_line).map_or(0, |last| last + 1)
    }

    /// Number of line ends between a position and the next token or comment.
    fn n_newlines(&self, end: u32, next: Span) -> usize {
        let gap = self.tokens.slice(Span { start: end, end: next.start });
        gap.bytes().filter(|&byte| byte == b'\n').count()
    }

    /// Whether the input has a blank line between a position and a token.
    fn has_blank(&self, mut end: u32, token: usize) -> bool {
        let comments = self.comments.iter().take_while(|comment| comment.before as usize <= token);
        comments.map(|comment| comment.span).chain([self.tokens.span(token)]).any(|span| {
            let is_blank = self.n_newlines(end, span) > 1;
            end = span.end;
            is_blank
        })
    }

    /// Writes a comment at the end of the current line, and below it the comments that continue it:
    /// those in the same column on the following lines. Returns where the last one ends in the input.
    fn comments_beside(&mut self, token: usize) -> u32 {
        let column = self.column + self.comment_gap.len();
        let mut above = self.comments.first();
        let mut end = self.comment(self.comment_gap);
        while let (Some(first), Some(next)) = (above, self.comment_before(token))
            && self.n_newlines(end, next.span) == 1
            && self.source_column(first) == self.source_column(next)
        {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', column));
            self.column = column;
            above = Some(next);
            end = self.comment("");
        }
        end
    }

    fn source_column(&self, comment: &Comment) -> usize {
        let before = self.tokens.slice(Span { start: self.tokens.base(), end: comment.span.start });
        before.len() - before.rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Writes the next comment. Returns where it ends in the input.
    fn comment(&mut self, gap: &str) -> u32 {
        let Some((comment, rest)) = self.comments.split_first() else { return 0 };
        self.comments = rest;
        if !self.is_fresh {
            self.push(gap);
        }
        self.push(self.tokens.slice(comment.span).trim_end());
        comment.span.end
    }
}

/// Width of a text in columns.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny::Token;

    /// Lays out a text in lines of 16 columns. `(` and `)` are a group whose lines are indented by two, `[` and `]` one
    /// whose lines are aligned; `,` is followed by a break of the given kind, and each `;` ends a line of the file.
    fn laid_out(text: &str, kind: Break) -> String {
        let tokens: Tokens<'_, Token> = Tokens::new(text, 0);
        let mut writer = LayoutWriter::new(&tokens, 16, "  ");
        let (mut doc, mut start, mut has_space) = (Doc::default(), 0, false);
        for at in 0..tokens.len() {
            let text = tokens.text(at);
            match text {
                "(" => _ = doc.open(Indent::Inner(2)),
                "[" => _ = doc.open(Indent::Here(1)),
                _ => {}
            }
            doc.text(at..at + 1, has_space && !matches!(text, "," | ";" | ")" | "]"), text);
            has_space = !matches!(text, "(" | "[");
            match text {
                ")" | "]" => doc.close(),
                "," => doc.line_break(kind),
                ";" => {
                    writer.line(LinePlace { start, ..LinePlace::default() }, &doc);
                    doc.clear();
                    (start, has_space) = (at + 1, false);
                }
                _ => {}
            }
        }
        writer.finish()
    }

    #[rustfmt::skip]
    #[test]
    fn breaks() {
        let check = |text, kind, expected| assert_eq!(laid_out(text, kind), expected, "{text} {kind:?}");
        check("a(b,c);",                        Break::Always, "a (b, c);\n");
        check("aa(bbb,cccc,dddd);",             Break::Always, "aa (bbb,\n  cccc,\n  dddd);\n");
        check("aa(bbb,cccc,dddd,e);",           Break::Fill,   "aa (bbb, cccc,\n  dddd, e);\n");
        check("aa[bbb,cccc,dddd];",             Break::Always, "aa [bbb,\n    cccc,\n    dddd];\n");
        // What follows a group counts, up to the next break of the groups around it.
        check("(aaaa,(bb,cc)ddddd);",           Break::Always, "(aaaa,\n  (bb,\n    cc) ddddd);\n");
        check("(aaaa,(bb,cc),dd);",             Break::Always, "(aaaa,\n  (bb, cc),\n  dd);\n");
        // The last resort comes after all groups.
        check("(aaaa,(bbbb,cccc));",            Break::Wrap,   "(aaaa, (bbbb,\n    cccc));\n");
        // Nothing is far to the right here.
        check("(aaaaaaaa,bbbbbbbbbb);",         Break::Far,    "(aaaaaaaa, bbbbbbbbbb);\n");
    }

    #[rustfmt::skip]
    #[test]
    fn comments() {
        let check = |text, expected: &str| {
            assert_eq!(laid_out(text, Break::Always), expected, "{text:?}");
            assert_eq!(laid_out(expected, Break::Always), expected, "{text:?}, again");
        };
        check("# a\n\n\n# b\na;#c\n\n#d", "# a\n\n# b\na;  #c\n\n#d\n");
        // A comment ends its line, so the group around it does not fit.
        check("(a,b#c\n,d);",               "(a,\n  b  #c\n  ,\n  d);\n");
        check("(a,\n#c\nb,d);",             "(a,\n  #c\n  b,\n  d);\n");
        // Those in the column of a comment beside a line belong to it.
        check("a; # b\n   # c\n # d\ne;",   "a;  # b\n    # c\n# d\ne;\n");
        // Inside a line they may stand between tokens, and count.
        check("(a,/* b */ c);",             "(a, /* b */ c);\n");
        check("(a,/* b */ cc,d);",          "(a,\n  /* b */ cc,\n  d);\n");
    }
}
