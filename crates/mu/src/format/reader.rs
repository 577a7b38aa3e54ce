//! Where the lines of a property may break.
//!
//! ```text
//! name : nu Z. [-]Z
//!              && [out(question)]
//!                   ((mu Y. <->tt && [-in(answer)]Y)
//!                    && (mu X. <->tt && [-in(price)]X)) ;
//! ```
//!
//! A part that is too long for a line breaks before each operator of its outermost chain. A short
//! prefix stays on the line of its operand, whose lines are aligned; after a long prefix a new line
//! begins.
//!
//! The reader sees only tokens that the parser has accepted, so it does not check for mistakes and
//! recurses no deeper than the parser did.

use masque_text::{Break, Doc, Indent};

use crate::lexer::{Token, Tokens};
use crate::parser::{RESERVED, is_variable};
use crate::tree::PathOperator;

/// Maximum width in columns of a name or prefix whose operand begins on the same line.
const MAX_HANGING_PREFIX: usize = 14;
/// Indentation of a part that begins a line below its prefix, in columns.
const INDENT: usize = 2;

/// Reads the tokens of a property.
pub(super) struct Reader<'t> {
    tokens: &'t Tokens<'t>,
    at: usize,
    /// Number of columns written so far, on one line.
    width: usize,
    pub(super) doc: Doc<'t>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: &'t Tokens<'t>, at: usize) -> Self {
        Reader { tokens, at, width: 0, doc: Doc::default() }
    }

    /// Reads `name : formula ;`. Returns the index of the token after it.
    pub(super) fn property(&mut self) -> usize {
        self.doc.open(Indent::Inner(INDENT));
        self.put(false);
        self.put(true);
        if self.width >= MAX_HANGING_PREFIX {
            self.doc.line_break(Break::Always);
        }
        self.chain(0, true);
        self.put(true);
        self.doc.close();
        self.at
    }

    fn kind(&self) -> Token {
        self.tokens.kind(self.at)
    }

    /// The current word, or the empty text if the current token is no word.
    fn word(&self) -> &'t str {
        if self.kind() == Token::Word { self.tokens.text(self.at) } else { "" }
    }

    /// Adds one token in ASCII.
    fn put(&mut self, has_space: bool) {
        let text = match self.kind() {
            Token::And => "&&",
            Token::Or => "||",
            Token::Not => "!",
            Token::Arrow => "->",
            Token::Mu => "mu",
            Token::Nu => "nu",
            _ => self.tokens.text(self.at),
        };
        self.width += usize::from(has_space) + text.chars().count();
        self.doc.text(self.at..self.at + 1, has_space, text);
        self.at += 1;
    }

    /// Reads chains of `->`, of `||` and of `&&`, in this order. Returns the group of the chain, if there
    /// is more than one operand.
    fn chain(&mut self, level: usize, has_space: bool) -> Option<usize> {
        let group = self.doc.open(Indent::Inner(0));
        let first = self.link(level, has_space);
        let is_chain = self.is_sign(level);
        if is_chain {
            self.doc.set_indent(group, Indent::Here(0));
            // Operators that bind tighter are indented further than those of this chain.
            if let Some(first) = first {
                self.doc.set_indent(first, Indent::Here(INDENT));
            }
        }
        while self.is_sign(level) {
            self.doc.line_break(Break::Always);
            // After an operand, a minus is the first half of an arrow.
            let is_half = self.kind() == Token::Minus;
            self.put(true);
            if is_half {
                self.put(false);
            }
            self.link(level, true);
        }
        self.doc.close();
        if is_chain { Some(group) } else { first }
    }

    fn link(&mut self, level: usize, has_space: bool) -> Option<usize> {
        if level < 2 {
            return self.chain(level + 1, has_space);
        }
        self.prefixed(has_space);
        None
    }

    /// Whether a chain continues.
    fn is_sign(&self, level: usize) -> bool {
        matches!(
            (level, self.kind(), self.word()),
            (0, Token::Minus | Token::Arrow, _)
                | (1, Token::Or, _)
                | (1, _, "or")
                | (2, Token::And, _)
                | (2, _, "and")
        )
    }

    /// Reads prefix operators and their operand. A fixpoint extends as far right as it can.
    fn prefixed(&mut self, mut has_space: bool) {
        let group = self.doc.open(Indent::Inner(0));
        let start = self.width + usize::from(has_space);
        let mut is_fixpoint = false;
        while !is_fixpoint {
            match (self.kind(), self.word()) {
                (Token::Not, _) => {
                    self.put(has_space);
                    has_space = false;
                }
                (Token::Mu | Token::Nu, _) | (_, "mu" | "nu") => {
                    // `mu X. `
                    self.put(has_space);
                    self.put(true);
                    self.put(false);
                    (has_space, is_fixpoint) = (true, true);
                }
                (_, word)
                    if word == "not" || PathOperator::ALL.iter().any(|operator| operator.word() == word) =>
                {
                    self.put(has_space);
                    has_space = true;
                }
                (Token::Less, _) => self.patterns(Token::Greater, std::mem::take(&mut has_space)),
                (Token::OpenBracket, _) => self.patterns(Token::CloseBracket, std::mem::take(&mut has_space)),
                _ => break,
            }
        }
        // A leaf cannot be broken, so a new line would not help.
        let is_leaf = !is_fixpoint && self.kind() != Token::Open;
        if (self.width + usize::from(has_space)).saturating_sub(start) > MAX_HANGING_PREFIX && !is_leaf {
            self.doc.set_indent(group, Indent::Here(INDENT));
            self.doc.line_break(Break::Always);
        }
        if is_fixpoint {
            self.chain(0, has_space);
        } else {
            self.operand(has_space);
        }
        self.doc.close();
    }

    fn operand(&mut self, has_space: bool) {
        let word = self.word();
        match self.kind() {
            Token::Open => {
                self.put(has_space);
                self.doc.open(Indent::Here(0));
                self.chain(0, false);
                self.doc.close();
                self.put(false);
            }
            _ if matches!(word, "inev" | "resp") => {
                self.put(has_space);
                self.patterns(Token::Close, false);
            }
            _ if RESERVED.contains(&word) || is_variable(word) => self.put(has_space),
            _ => self.primitive(false, has_space),
        }
    }

    /// Reads an opening bracket, patterns and their operators, up to the matching bracket.
    fn patterns(&mut self, close: Token, mut has_space: bool) {
        let mut n_open = 0;
        while self.at < self.tokens.len() {
            let kind = self.kind();
            match kind {
                Token::Word | Token::Hash | Token::Quoted => self.primitive(true, has_space),
                _ => self.put(has_space || matches!(kind, Token::Bar | Token::Dot)),
            }
            has_space = matches!(kind, Token::Bar | Token::Dot | Token::Comma);
            n_open += usize::from(kind == Token::Open);
            // Round brackets may nest; the first bracket of another kind closes.
            let is_inner = kind == Token::Close && n_open > 1;
            n_open -= usize::from(kind == Token::Close && n_open > 0);
            if kind == close && !is_inner {
                return;
            }
        }
    }

    /// Reads text of the language of the model. It stays as it is, but on one line.
    fn primitive(&mut self, is_pattern: bool, has_space: bool) {
        let from = self.at;
        self.at += 1;
        self.argument();
        if is_pattern && self.kind() == Token::At {
            self.at += 2;
            self.argument();
        }
        let text = self.tokens.slice(self.tokens.span(from).to(self.tokens.span(self.at - 1)));
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let text = lines.join(" ");
        self.width += usize::from(has_space) + text.chars().count();
        self.doc.text(from..self.at, has_space, text);
    }

    fn argument(&mut self) {
        if self.kind() != Token::Open {
            return;
        }
        let mut n_open = 0;
        while self.at < self.tokens.len() {
            match self.kind() {
                Token::Open | Token::OpenBracket | Token::OpenBrace => n_open += 1,
                Token::Close | Token::CloseBracket | Token::CloseBrace => n_open -= 1,
                _ => {}
            }
            self.at += 1;
            if n_open == 0 {
                return;
            }
        }
    }
}
