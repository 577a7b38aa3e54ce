//! Breaking lines that are too long.
//!
//! An expression that fits is written on one line. Otherwise it breaks at its loosest operators, and
//! its operands are laid out in the same way. Operators begin the new lines. The algorithm is greedy
//! and does not backtrack: a token is inspected once for each level of operators, so the time is
//! linear.
//!
//! ```text
//! recv1 = r0 if
//!   Environment.s_r_3 = b0 and recv1 = empty
//!   and (Environment.Action = SR or Environment.Action = S)
//!   and Environment.s_r_3_seq = 1;
//! ```

use super::outline::LineKind;
use super::print::Printer;
use super::spacing::Rank;
use super::{INDENT, WIDTH};
use crate::lexer::Token;

/// Maximum width in columns of operands that share a line.
const MAX_SHARED_OPERAND: usize = 35;
/// Column up to which an opening bracket whose contents do not fit stays on its line.
const MAX_BRACKET_COLUMN: usize = 60;

/// Indentation of the continuation lines of an expression.
#[derive(Clone, Copy, Debug)]
struct Indents {
    /// Column of its own operators.
    operators: usize,
    /// Column of the contents of its brackets, if it is a single operand.
    brackets: usize,
    /// Number of columns that follow it on its last line.
    tail: usize,
}

impl Printer<'_> {
    /// Lays out the pieces of a line.
    pub(super) fn layout(&mut self, kind: LineKind) {
        let n = self.pieces.len();
        if self.fits(0, n, 0) {
            return self.put_all(0, n, self.indent);
        }
        // The lines after a heading are indented too, so its continuation is indented further.
        let next = self.indent + if kind == LineKind::Open { 2 * INDENT } else { INDENT };
        let end = n - usize::from(self.pieces[n - 1].kind == Token::Semicolon);
        let tail = n - end;
        match self.separator(0, end) {
            Some((at, Rank::If)) => {
                let indents = Indents { operators: next + INDENT, brackets: next + INDENT, tail: 3 };
                self.expr(0, at, indents);
                self.lead(at, next, false);
                // A comment may have moved the `if` to the line of its condition.
                let is_alone = self.is_fresh();
                self.put(at, next);
                self.lead(at + 1, next, !is_alone);
                let operators = if is_alone { next + INDENT } else { next };
                self.expr(at + 1, end, Indents { operators, brackets: next + INDENT, tail });
            }
            Some((at, Rank::Colon)) if self.pieces[at + 1].kind == Token::OpenBrace => {
                self.choice(at, end, next, tail);
            }
            Some((at, Rank::Colon)) => {
                self.expr(0, at, Indents { operators: next, brackets: next, tail: 2 });
                self.put(at, next);
                self.lead(at + 1, next, true);
                self.expr(at + 1, end, Indents { operators: next, brackets: next + INDENT, tail });
            }
            _ => self.expr(0, end, Indents { operators: next, brackets: next, tail }),
        }
        self.put_all(end, n, next);
    }

    /// `condition : {a, b}`, the colon at `at`.
    fn choice(&mut self, at: usize, end: usize, next: usize, tail: usize) {
        let list = self.width(at, end) + tail;
        // A short list stays with the last line of the condition.
        let beside = if list <= MAX_SHARED_OPERAND { list + 1 } else { 2 };
        self.expr(0, at, Indents { operators: next, brackets: next, tail: beside });
        let breaks = self.column() + 1 + list > WIDTH && next + list <= WIDTH && !self.has_comments(at, end);
        self.lead(at, next, breaks);
        self.put(at, next);
        self.operand(at + 1, end, next, tail);
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

    fn expr(&mut self, from: usize, to: usize, indents: Indents) {
        if from >= to {
            return;
        }
        self.lead(from, indents.operators, false);
        if self.fits(from, to, indents.tail) {
            return self.put_all(from, to, indents.operators);
        }
        match self.loosest(from, to) {
            Rank::Never => self.operand(from, to, indents.brackets, indents.tail),
            Rank::Relation => self.comparison(from, to, indents),
            rank => self.chain(from, to, rank, indents),
        }
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
    fn comparison(&mut self, from: usize, to: usize, indents: Indents) {
        let sign = self.find(from, to, Rank::Relation);
        self.expr(from, sign, Indents { tail: self.width(sign, sign + 1) + 1, ..indents });
        let width = self.width(sign, to) + indents.tail;
        let is_whole = self.pieces[sign + 1].kind != Token::OpenBrace
            && self.loosest(sign + 1, to) == Rank::Never
            && indents.operators + width <= WIDTH;
        self.lead(sign, indents.operators, is_whole && self.column() + 1 + width > WIDTH);
        self.put(sign, indents.operators);
        self.expr(sign + 1, to, indents);
    }

    /// Operands of one level. Each operand of an implication or until gets its own line, and so does
    /// each large operand of another operator; small ones share lines.
    fn chain(&mut self, from: usize, to: usize, rank: Rank, indents: Indents) {
        let shares = !matches!(rank, Rank::LoosestUntil | Rank::Iff | Rank::Implies | Rank::Until);
        let inside =
            Indents { operators: indents.operators + INDENT, brackets: indents.operators + INDENT, tail: 0 };
        let (mut start, mut was_large) = (from, true);
        loop {
            // The operand with the operator before it.
            let operand = if start == from { start } else { start + 1 };
            let end = self.find(operand, to, rank);
            let tail = if end == to { indents.tail } else { 0 };
            let is_large = !shares || self.is_large(operand, end);
            if start != from {
                let fits = self.column() + 1 + self.width(start, end) + tail <= WIDTH;
                self.lead(start, indents.operators, was_large || is_large || !fits);
                self.put(start, indents.operators);
            }
            self.expr(operand, end, Indents { tail, ..inside });
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
    fn operand(&mut self, from: usize, to: usize, indent: usize, tail: usize) {
        let mut piece = from;
        while piece < to {
            let next = self.after(piece);
            if self.pieces[piece].close > 0 {
                let rest = if next < to { self.width(next, to) } else { 0 };
                self.brackets(piece, indent, rest + tail);
            } else {
                let breaks = self.pieces[piece].has_space
                    && self.column() + 1 + self.width(piece, self.word_end(piece, to)) > WIDTH;
                self.lead(piece, indent, breaks);
                self.put(piece, indent);
            }
            piece = next;
        }
    }

    /// The end of the pieces that are not separated by spaces, up to a bracket.
    fn word_end(&self, from: usize, to: usize) -> usize {
        let ends = |piece: &usize| self.pieces[*piece].has_space || self.pieces[*piece].close > 0;
        (from + 1..to).find(ends).unwrap_or(to)
    }

    fn brackets(&mut self, open: usize, indent: usize, tail: usize) {
        let close = self.pieces[open].close as usize;
        self.lead(open, indent, false);
        if self.fits(open, close + 1, tail) {
            return self.put_all(open, close + 1, indent);
        }
        if self.pieces[open].kind == Token::OpenBrace {
            return self.braces(open, close);
        }
        self.put(open, indent);
        self.lead(open + 1, indent, self.column() > MAX_BRACKET_COLUMN);
        let (mut from, mut inside) = (open + 1, Indents { operators: indent, brackets: indent, tail: 2 });
        while let Some((at, rank)) = self.separator(from, close) {
            let is_binder = rank == Rank::Colon;
            let binder = Indents { operators: indent + INDENT, brackets: indent + INDENT, tail: 2 };
            self.expr(from, at, if is_binder { binder } else { inside });
            self.put(at, indent);
            let end = self.separator(at + 1, close).map_or(close, |next| next.0);
            let after = if end == close { tail } else { 0 };
            let fits = self.column() + 2 + self.width(at + 1, end) + after <= WIDTH;
            let breaks = !fits && (is_binder || self.column() > MAX_BRACKET_COLUMN);
            self.lead(at + 1, indent, breaks);
            inside.brackets = indent + if breaks { INDENT } else { 0 };
            from = at + 1;
        }
        self.expr(from, close, Indents { tail: tail + 1, ..inside });
        // Hundreds of brackets may close here.
        self.lead(close, indent, self.column() + 2 > WIDTH);
        self.put(close, indent);
    }

    /// `{a, b, ..}`, with its entries filled into lines like the words of a paragraph.
    fn braces(&mut self, open: usize, close: usize) {
        let outside = self.line_indent;
        let inside = outside + INDENT;
        self.put(open, inside);
        let mut from = open + 1;
        while from < close {
            let end = self.separator(from, close).map_or(close, |comma| comma.0);
            let fits = self.column() + 1 + self.width(from, end) < WIDTH;
            self.lead(from, inside, from == open + 1 || !fits);
            self.expr(from, end, Indents { operators: inside + INDENT, brackets: inside + INDENT, tail: 1 });
            self.put_all(end, (end + 1).min(close), inside);
            from = end + 1;
        }
        // A comment before the brace is indented like the entries.
        self.lead(close, inside, true);
        self.break_to(outside);
        self.put(close, outside);
    }
}
