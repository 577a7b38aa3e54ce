//! Recursive descent with recovery: one message per broken statement, then on to the next.
//!
//! Files in the manner of LiJ and OpenKnowledge are read as they are: role declarations, clauses
//! without full stops, postconditions before a message, `<--` for `<-`.

mod constraint;
mod pattern;
mod process;
mod recover;
mod statement;
mod term;

use masque_text::{Diagnostic, FileId, Sources, Span};

use crate::lexer::{Token, Tokens};
use crate::tree::Tree;

pub(crate) use pattern::parse_action;
pub(crate) use recover::RESERVED;

/// Brackets and prefix operators may nest this deep; chains may be of any length.
pub const NESTING_LIMIT: u32 = 200;

/// A syntax error that has been reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

type Parsed<T> = Result<T, Reported>;

pub(crate) struct Parser<'t> {
    text: &'t str,
    base: u32,
    tokens: Tokens,
    position: usize,
    depth: u32,
    diagnostics: Vec<Diagnostic>,
    /// Brackets that are open at this point: their tokens.
    open: Vec<usize>,
}

/// Reads a file. The tree holds whatever could be read.
///
/// ```
/// let mut sources = masque_text::Sources::default();
/// let file = sources.add("ping.lcc", "a(pinger, P) :: ping => a(ponger, Q).").unwrap();
/// let (tree, diagnostics) = masque_lcc::parse(&sources, file);
/// assert_eq!((tree.items.len(), diagnostics.len()), (1, 0));
/// ```
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources.text(file), sources.span(file).start);
    let tree = parser.file();
    (tree, parser.diagnostics)
}

/// Tokens.
impl<'t> Parser<'t> {
    fn new(text: &'t str, base: u32) -> Self {
        let tokens = Tokens::new(text, base);
        Parser { text, base, tokens, position: 0, depth: 0, diagnostics: Vec::new(), open: Vec::new() }
    }

    fn kind(&self) -> Token {
        self.tokens.kind(self.position)
    }

    fn kind_ahead(&self, ahead: usize) -> Token {
        self.tokens.kind(self.position + ahead)
    }

    fn span(&self) -> Span {
        self.tokens.span(self.position)
    }

    fn last_span(&self) -> Span {
        self.tokens.span(self.position.saturating_sub(1))
    }

    /// The span from the token at `start` to the last one read.
    fn span_from(&self, start: usize) -> Span {
        self.tokens.span(start).to(self.last_span())
    }

    fn text_of(&self, span: Span) -> &'t str {
        &self.text[(span.start - self.base) as usize..(span.end - self.base) as usize]
    }

    /// The word at hand, or the empty text.
    fn word(&self) -> &'t str {
        self.word_at(self.position)
    }

    fn word_at(&self, position: usize) -> &'t str {
        match self.tokens.kind(position) {
            Token::Word => self.text_of(self.tokens.span(position)),
            _ => "",
        }
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        match self.kind() {
            Token::End => return span,
            Token::Open | Token::OpenBracket | Token::OpenBrace => self.open.push(self.position),
            Token::Close | Token::CloseBracket | Token::CloseBrace => {
                self.open.pop();
            }
            _ => {}
        }
        self.position += 1;
        span
    }

    fn eat(&mut self, kind: Token) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: Token, what: &str) -> Parsed<Span> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.expected(what)) }
    }

    /// Reads something one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_LIMIT {
            let message = format!("this is nested more than {NESTING_LIMIT} deep");
            return Err(self.error(Diagnostic::error("lcc/too-deep", self.span(), message)));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }
}
