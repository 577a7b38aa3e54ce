//! Where a line that is too long may break.
//!
//! An expression that fits is written on one line. Otherwise it breaks at its loosest operators, and
//! its operands are laid out in the same way. Operators begin the new lines. A token is inspected once
//! for each level of operators, so the time is linear.
//!
//! ```text
//! recv1 = r0 if
//!   Environment.s_r_3 = b0 and recv1 = empty
//!   and (Environment.Action = SR or Environment.Action = S)
//!   and Environment.s_r_3_seq = 1;
//! ```

use masque_text::{Break, Doc, Indent, Span};

use super::outline::{Line, LineKind, Mark};
use super::spacing::{Piece, Rank, Spacing};
use super::{INDENT, WIDTH};
use crate::lexer::{Token, Tokens};

/// Maximum width in columns of operands that share a line.
const MAX_SHARED_OPERAND: usize = 35;

/// Describes one line after the other.
pub(super) struct Layout<'t> {
    tokens: &'t Tokens<'t>,
    spacing: Spacing<'t>,
    /// The tokens of the current line, and the index of the first one.
    pieces: Vec<Piece>,
    first_token: usize,
    doc: Doc<'t>,
}

impl<'t> Layout<'t> {
    pub(super) fn new(tokens: &'t Tokens<'t>, marks: &'t [(u32, Mark)]) -> Self {
        let spacing = Spacing::new(tokens, marks);
        Layout { tokens, spacing, pieces: Vec::new(), first_token: 0, doc: Doc::default() }
    }

    /// Describes a line, which ends before token `end`.
    pub(super) fn line(&mut self, line: Line, end: usize) -> &Doc<'t> {
        self.doc.clear();
        self.spacing.read(line, end, &mut self.pieces);
        self.first_token = line.start as usize;
        let n = self.pieces.len();
        let fits = line.level as usize * INDENT + self.width(0, n) <= WIDTH && !self.has_comments(0, n);
        // The lines after a heading are indented too, so its continuation is indented further.
        self.doc.open(Indent::Inner(if line.kind == LineKind::Open { 2 * INDENT } else { INDENT }));
        if fits {
            self.put_all(0, n);
        } else {
            let end = n - usize::from(self.pieces[n - 1].kind == Token::Semicolon);
            self.statement(end);
            self.put_all(end, n);
        }
        self.doc.close();
        &self.doc
    }

    /// A statement without its semicolon.
    fn statement(&mut self, end: usize) {
        match self.separator(0, end) {
            Some((at, Rank::If)) => {
                self.doc.open(Indent::Inner(INDENT));
                self.expr(0, at, 0);
                self.doc.close();
                self.put(at);
                // After a comment the `if` begins a line, and its condition stays there.
                let begins_line = self.has_comments(at - 1, at + 1);
                self.doc.line_break(if begins_line { Break::Fill } else { Break::Always });
                self.expr(at + 1, end, INDENT);
            }
            // `condition : {a, b}`: a short list stays with the last line of the condition.
            Some((at, Rank::Colon)) if self.pieces[at + 1].kind == Token::OpenBrace => {
                self.expr(0, at, 0);
                if self.width(at, end) >= MAX_SHARED_OPERAND {
                    self.doc.line_break(Break::Below);
                }
                self.put(at);
                self.operand(at + 1, end);
            }
            Some((at, Rank::Colon)) => {
                self.expr(0, at, 0);
                self.put(at);
                self.doc.line_break(Break::Always);
                self.expr(at + 1, end, INDENT);
            }
            _ => self.expr(0, end, 0),
        }
    }

    /// The first `if`, `:` or `,` outside brackets.
    fn separator(&self, from: usize, to: usize) -> Option<(usize, Rank)> {
        let mut piece = from;
        while piece < to {
            let rank = self.pieces[piece].rank;
            if rank <= Rank::Comma {
                return Some((piece, rank));
            }
            piece = self.after(piece);
        }
        None
    }

    /// The next piece outside brackets.
    fn after(&self, piece: usize) -> usize {
        piece.max(self.pieces[piece].close as usize) + 1
    }

    /// An expression. If it is a single operand that begins a line, the contents of its brackets are indented
    /// `hanging` columns more.
    fn expr(&mut self, from: usize, to: usize, hanging: usize) {
        if from >= to {
            return;
        }
        match self.loosest(from, to) {
            Rank::Never => {
                self.doc.open(Indent::Hanging(hanging));
                self.operand(from, to);
            }
            Rank::Relation => {
                self.doc.open(Indent::Inner(0));
                self.comparison(from, to, hanging);
            }
            rank => {
                self.doc.open(Indent::Inner(0));
                self.chain(from, to, rank);
            }
        }
        self.doc.close();
    }

    fn loosest(&self, from: usize, to: usize) -> Rank {
        let (mut piece, mut rank) = (from, Rank::Never);
        while piece < to {
            rank = rank.min(self.pieces[piece].rank);
            piece = self.after(piece);
        }
        rank
    }

    /// The next operator of a rank outside brackets, or the end.
    fn find(&self, from: usize, to: usize, rank: Rank) -> usize {
        let mut piece = from;
        while piece < to && self.pieces[piece].rank != rank {
            piece = self.after(piece);
        }
        piece.min(to)
    }

    /// `a < b`: breaks before the sign only if the right side is a single operand.
    fn comparison(&mut self, from: usize, to: usize, hanging: usize) {
        let sign = self.find(from, to, Rank::Relation);
        self.expr(from, sign, hanging);
        let is_set = self.pieces[sign + 1].kind == Token::OpenBrace;
        if !is_set && self.loosest(sign + 1, to) == Rank::Never {
            self.doc.line_break(Break::Below);
        }
        self.put(sign);
        self.expr(sign + 1, to, hanging);
    }

    /// Operands of one level. Each operand of an implication or until gets its own line, and so does
    /// each large operand of another operator; small ones share lines.
    fn chain(&mut self, from: usize, to: usize, rank: Rank) {
        let shares = !matches!(rank, Rank::LoosestUntil | Rank::Iff | Rank::Implies | Rank::Until);
        let (mut start, mut was_large) = (from, true);
        loop {
            // The operand with the operator before it.
            let operand = if start == from { start } else { start + 1 };
            let end = self.find(operand, to, rank);
            let is_large = !shares || self.is_large(operand, end);
            if start != from {
                self.doc.line_break(if was_large || is_large { Break::Always } else { Break::Fill });
                self.put(start);
            }
            self.doc.open(Indent::Inner(INDENT));
            self.expr(operand, end, 0);
            self.doc.close();
            if end == to {
                return;
            }
            (start, was_large) = (end, is_large);
        }
    }

    fn is_large(&self, from: usize, to: usize) -> bool {
        self.pieces[to - 1].n_logical > self.pieces[from].n_logical
            || self.width(from, to) > MAX_SHARED_OPERAND
            || self.has_comments(from, to)
    }

    /// A name, brackets or prefix operators: breaks inside brackets, and elsewhere only if it is too
    /// long.
    fn operand(&mut self, from: usize, to: usize) {
        let mut piece = from;
        while piece < to {
            if self.pieces[piece].close > 0 {
                self.brackets(piece);
            } else {
                if self.pieces[piece].has_space {
                    self.doc.line_break(Break::Wrap);
                }
                self.put(piece);
            }
            piece = self.after(piece);
        }
    }

    fn brackets(&mut self, open: usize) {
        if self.pieces[open].kind == Token::OpenBrace {
            return self.braces(open);
        }
        let close = self.pieces[open].close as usize;
        self.doc.open(Indent::Inner(0));
        self.put(open);
        self.doc.line_break(Break::Far);
        let mut from = open + 1;
        while let Some((at, rank)) = self.separator(from, close) {
            let is_binder = rank == Rank::Colon;
            self.doc.open(Indent::Inner(if is_binder { INDENT } else { 0 }));
            self.expr(from, at, if from == open + 1 { 0 } else { INDENT });
            self.doc.close();
            self.put(at);
            self.doc.line_break(if is_binder { Break::Fill } else { Break::Far });
            from = at + 1;
        }
        self.expr(from, close, if from == open + 1 { 0 } else { INDENT });
        // Hundreds of brackets may close here.
        self.doc.line_break(Break::Wrap);
        self.put(close);
        self.doc.close();
    }

    /// `{a, b, ..}`, with its entries filled into lines like the words of a paragraph.
    fn braces(&mut self, open: usize) {
        let close = self.pieces[open].close as usize;
        self.doc.open(Indent::Line(INDENT));
        self.put(open);
        let mut from = open + 1;
        while from < close {
            let end = self.separator(from, close).map_or(close, |comma| comma.0);
            self.doc.line_break(if from == open + 1 { Break::Always } else { Break::Fill });
            self.doc.open(Indent::Inner(INDENT));
            self.expr(from, end, 0);
            self.doc.close();
            self.put_all(end, (end + 1).min(close));
            from = end + 1;
        }
        self.doc.indented_break(Break::Always, -(INDENT as isize));
        self.put(close);
        self.doc.close();
    }

    fn put(&mut self, piece: usize) {
        let Piece { start, end, has_space, .. } = self.pieces[piece];
        let token = self.first_token + piece;
        self.doc.text(token..token + 1, has_space, self.tokens.slice(Span { start, end }));
    }

    fn put_all(&mut self, from: usize, to: usize) {
        (from..to).for_each(|piece| self.put(piece));
    }

    /// Width of pieces on one line, in bytes.
    fn width(&self, from: usize, to: usize) -> usize {
        match to.checked_sub(1).filter(|&last| last >= from) {
            Some(last) => {
                let Piece { column, start, end, .. } = self.pieces[last];
                (column + (end - start) - self.pieces[from].column) as usize
            }
            None => 0,
        }
    }

    /// Whether there are comments between pieces.
    fn has_comments(&self, from: usize, to: usize) -> bool {
        from < to
            && !self.tokens.comments_within(self.first_token + from + 1..self.first_token + to).is_empty()
    }
}
