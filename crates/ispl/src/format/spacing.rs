//! Spaces between tokens, and the positions where a line may break.
//!
//! One pass over the tokens of a line. The role of a word depends on its context, so the pass keeps
//! track of whether an operand has just ended: then a word is an infix operator, `-` is minus and `<`
//! compares; otherwise the word is a name or a prefix operator, `-` is a sign and `<` begins a
//! coalition.

use masque_text::Span;

use super::outline::{Line, LineKind, Mark};
use crate::lexer::{Token, Tokens};

/// Preference for breaking a line before a token, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    If,
    Colon,
    Comma,
    /// `U` in CTL and ATL.
    LoosestUntil,
    Iff,
    Implies,
    Or,
    And,
    /// `U` in LTL and CTL*.
    Until,
    Relation,
    BitOr,
    BitAnd,
    Sum,
    Product,
    /// The line never breaks here.
    Never,
}

impl Rank {
    /// Connectives of formulas and conditions: an operand that holds one gets a line of its own.
    fn is_logical(self) -> bool {
        (Rank::LoosestUntil..=Rank::Until).contains(&self)
    }
}

/// A token of the current line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Start of its span.
    pub(super) start: u32,
    /// End of its span.
    pub(super) end: u32,
    /// Whether a space precedes it unless it begins a line.
    pub(super) has_space: bool,
    pub(super) kind: Token,
    pub(super) rank: Rank,
    /// For an opening bracket, the index of the piece that closes it; otherwise 0.
    pub(super) close: u32,
    /// Column at which it begins if the line is not broken.
    pub(super) column: u32,
    /// Number of connectives before it.
    pub(super) n_logical: u32,
}

/// Role of a token, which determines the spaces around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The beginning of the line.
    Nothing,
    Operand,
    /// `AG`, `K`, `sum`: tight before a bracket.
    Prefix,
    /// `LTL`, `param`, `for`: always followed by a space.
    Keyword,
    Infix,
    /// An operator without spaces: `1..N-1`, `uniform-joint`.
    TightInfix,
    /// The star of `CTL*`.
    Star,
    /// `!`, `~`, `-`
    Sign,
    Open,
    Close,
    /// `>` of `<g>`
    CloseCoalition,
    /// `}` of `EX{c}`
    CloseStep,
    /// No space before it: `,`, `;` and the colon of a heading.
    Stop,
    Colon,
    /// No space on either side: `.` and `..`.
    Dot,
}

/// Reads lines in the order of the text.
pub(super) struct Spacing<'t> {
    tokens: &'t Tokens<'t>,
    /// Marks of the lines not yet read.
    marks: &'t [(u32, Mark)],
    /// The open brackets: index of the piece, and whether arithmetic around it has no spaces.
    open: Vec<(u32, bool)>,
    /// Whether arithmetic has no spaces, as in bounds of ranges.
    is_tight: bool,
    after_operand: bool,
}

impl<'t> Spacing<'t> {
    pub(super) fn new(tokens: &'t Tokens<'t>, marks: &'t [(u32, Mark)]) -> Self {
        Spacing { tokens, marks, open: Vec::new(), is_tight: false, after_operand: false }
    }

    /// Fills `pieces` with the tokens of a line, which ends before token `end`.
    pub(super) fn read(&mut self, line: Line, end: usize, pieces: &mut Vec<Piece>) {
        pieces.clear();
        self.open.clear();
        (self.is_tight, self.after_operand) = (false, false);
        let (mut column, mut n_logical) = (0, 0);
        let (mut last, mut last_kind) = (Role::Nothing, Token::End);
        for index in line.start as usize..end {
            let (kind, span) = (self.tokens.kind(index), self.tokens.span(index));
            let (role, rank) = match last {
                Role::Nothing => self.first(line, index),
                _ => self.next(line, index, pieces),
            };
            let has_space = has_space(last, last_kind, role, kind);
            column += u32::from(has_space);
            let Span { start, end } = span;
            pieces.push(Piece { start, end, has_space, kind, rank, close: 0, column, n_logical });
            column += end - start;
            n_logical += u32::from(rank.is_logical());
            (last, last_kind) = (role, kind);
        }
    }

    fn mark(&mut self, index: usize) -> Option<Mark> {
        let start = self.tokens.span(index).start;
        while self.marks.first().is_some_and(|mark| mark.0 < start) {
            self.marks = &self.marks[1..];
        }
        self.marks.first().filter(|mark| mark.0 == start).map(|mark| mark.1)
    }

    /// Role of the first token of a line.
    fn first(&mut self, line: Line, index: usize) -> (Role, Rank) {
        match line.kind {
            LineKind::Open | LineKind::Close | LineKind::Param => (Role::Keyword, Rank::Never),
            _ => self.next(line, index, &mut []),
        }
    }

    /// Role of any other token.
    fn next(&mut self, line: Line, index: usize, pieces: &mut [Piece]) -> (Role, Rank) {
        let kind = self.tokens.kind(index);
        let (role, rank) = match kind {
            Token::Word => self.word(line, index),
            Token::Number | Token::Quoted => (Role::Operand, Rank::Never),
            Token::Open | Token::OpenBrace | Token::OpenBracket => self.opening(kind, pieces.len()),
            Token::Less if !self.after_operand => self.opening(kind, pieces.len()),
            Token::CloseBrace if self.in_step(line, pieces) => {
                self.closing(pieces);
                (Role::CloseStep, Rank::Never)
            }
            Token::Close | Token::CloseBrace | Token::CloseBracket => self.closing(pieces),
            Token::Greater if self.in_coalition(pieces) => {
                self.closing(pieces);
                (Role::CloseCoalition, Rank::Never)
            }
            Token::Less | Token::Greater | Token::AtMost | Token::AtLeast | Token::Equal | Token::Unequal => {
                (Role::Infix, Rank::Relation)
            }
            Token::Implies => (Role::Infix, Rank::Implies),
            Token::Iff => (Role::Infix, Rank::Iff),
            Token::Bar | Token::Caret => (Role::Infix, Rank::BitOr),
            Token::Ampersand => (Role::Infix, Rank::BitAnd),
            Token::Not | Token::Tilde => (Role::Sign, Rank::Never),
            Token::Minus if self.in_coalition(pieces) => (Role::TightInfix, Rank::Never),
            Token::Minus if !self.after_operand => (Role::Sign, Rank::Never),
            // Only the star of `CTL*` follows no operand.
            Token::Star if !self.after_operand => (Role::Star, Rank::Never),
            Token::Plus | Token::Minus => self.arithmetic(Rank::Sum),
            Token::Star | Token::Slash => self.arithmetic(Rank::Product),
            Token::Comma => (Role::Stop, Rank::Comma),
            Token::Semicolon => (Role::Stop, Rank::Never),
            Token::Colon if line.kind == LineKind::Open && self.open.is_empty() => (Role::Stop, Rank::Never),
            Token::Colon => (Role::Colon, Rank::Colon),
            // The point after the variable of a fixpoint.
            Token::Dot if index >= 2 && matches!(self.tokens.text(index - 2), "mu" | "nu") => {
                (Role::Stop, Rank::Never)
            }
            Token::Dot | Token::DotDot => (Role::Dot, Rank::Never),
            Token::Comment | Token::Unknown | Token::End => (Role::Operand, Rank::Never),
        };
        match role {
            Role::Colon => self.is_tight = line.kind == LineKind::Variable && self.open.is_empty(),
            Role::Stop => self.is_tight &= self.open.last().is_some_and(|open| open.1),
            _ => {}
        }
        self.after_operand = matches!(role, Role::Operand | Role::Close);
        (role, rank)
    }

    fn arithmetic(&self, rank: Rank) -> (Role, Rank) {
        if self.is_tight { (Role::TightInfix, Rank::Never) } else { (Role::Infix, rank) }
    }

    fn word(&mut self, line: Line, index: usize) -> (Role, Rank) {
        if self.after_operand {
            return (Role::Infix, self.infix_word(line, index));
        }
        let start = self.tokens.span(index).start;
        let role = match self.mark(index) {
            Some(Mark::Prefix) => Role::Prefix,
            Some(Mark::Keyword) => Role::Keyword,
            None if line.kind == (LineKind::Formula { logic: Some(start) }) => Role::Keyword,
            // No name stands before a bracket.
            None if self.tokens.kind(index + 1) == Token::Open => Role::Prefix,
            None => Role::Operand,
        };
        (role, Rank::Never)
    }

    fn infix_word(&mut self, line: Line, index: usize) -> Rank {
        match self.tokens.text(index) {
            "if" => Rank::If,
            "and" => Rank::And,
            "or" => Rank::Or,
            "mod" if !self.is_tight => Rank::Product,
            "U" | "W" | "R" if matches!(line.kind, LineKind::Formula { logic: Some(_) }) => Rank::Until,
            "U" | "W" | "R" => Rank::LoosestUntil,
            "in" => {
                self.is_tight = true;
                Rank::Never
            }
            "where" => {
                self.is_tight = false;
                Rank::Never
            }
            _ => Rank::Never,
        }
    }

    fn opening(&mut self, kind: Token, piece: usize) -> (Role, Rank) {
        self.open.push((piece as u32, self.is_tight));
        // Braces and indices are not part of the range around them.
        self.is_tight &= kind == Token::Open;
        (Role::Open, Rank::Never)
    }

    /// The brace that ends a `for` has no partner in its line, nor has the one that begins it.
    fn closing(&mut self, pieces: &mut [Piece]) -> (Role, Rank) {
        if let Some((open, is_tight)) = self.open.pop() {
            self.is_tight = is_tight;
            pieces[open as usize].close = pieces.len() as u32;
        }
        (Role::Close, Rank::Never)
    }

    /// Directly inside the braces of `EX{c}`.
    fn in_step(&self, line: Line, pieces: &[Piece]) -> bool {
        let is_step = |open: u32| {
            let word = open.checked_sub(1).map(|before| pieces[before as usize].kind);
            pieces[open as usize].kind == Token::OpenBrace && word == Some(Token::Word)
        };
        matches!(line.kind, LineKind::Formula { .. }) && self.open.last().is_some_and(|open| is_step(open.0))
    }

    /// Directly inside `<` and `>`.
    fn in_coalition(&self, pieces: &[Piece]) -> bool {
        self.open.last().is_some_and(|open| pieces[open.0 as usize].kind == Token::Less)
    }
}

fn has_space(last: Role, last_kind: Token, role: Role, kind: Token) -> bool {
    match (last, role) {
        (Role::Nothing, _) => false,
        (_, Role::Close | Role::CloseCoalition | Role::CloseStep | Role::Stop | Role::Dot) => false,
        (_, Role::TightInfix | Role::Star) => false,
        (Role::Open | Role::Dot | Role::CloseCoalition, _) => false,
        // `- -1`: two signs would make a comment.
        (Role::Sign | Role::TightInfix, _) => last_kind == Token::Minus && kind == Token::Minus,
        (Role::Prefix, Role::Open) => !matches!(kind, Token::Open | Token::OpenBrace),
        (Role::CloseStep, Role::Open) => kind != Token::Open,
        (_, Role::Open) => kind != Token::OpenBracket,
        _ => true,
    }
}
