//! Recursive descent with recovery: one message per broken statement, then on to the next.
//!
//! Time is linear in the text: a token is looked at a bounded number of times, and recovery only
//! moves forward.

mod file;
mod formula;
mod program;
mod recover;

use masque_text::{Diagnostic, FileId, Sources, Span};

use crate::lexer::{Token, Tokens, is_reserved};
use crate::tree::{Name, Op, Term, Tree};

/// Brackets, blocks and prefix operators may nest this deep; flat chains may be of any length.
pub const NESTING_LIMIT: u32 = 200;

/// A syntax error that has been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'t> {
    text: &'t str,
    base: u32,
    tokens: Tokens,
    position: usize,
    diagnostics: Vec<Diagnostic>,
    depth: u32,
    n_errors: usize,
    /// Where the last error was found.
    last_error: Option<u32>,
}

/// Reads a file. The tree holds whatever could be read.
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, file);
    let mut tree = Tree { span: sources.span(file), ..Tree::default() };
    parser.file(&mut tree);
    (tree, parser.diagnostics)
}

/// Reads one more property for a parsed file: `FORMULA`, or `PATH : FORMULA`.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.bdi", "agent a is loop p := any endloop").unwrap();
/// let (mut tree, _) = masque_bdi::parse(&sources, file);
/// let more = sources.add("--property", "a : EF p").unwrap();
/// assert!(masque_bdi::parse_property(&sources, more, &mut tree).is_empty());
/// assert_eq!(tree.properties.len(), 1);
/// ```
pub fn parse_property(sources: &Sources, file: FileId, tree: &mut Tree) -> Vec<Diagnostic> {
    let mut parser = Parser::new(sources, file);
    if let Ok(property) = parser.bare_property() {
        tree.properties.push(property);
    }
    parser.diagnostics
}

/// Tokens.
impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, file: FileId) -> Self {
        let (text, base) = (sources.text(file), sources.span(file).start);
        Parser {
            text,
            base,
            tokens: Tokens::new(text, base),
            position: 0,
            diagnostics: Vec::new(),
            depth: 0,
            n_errors: 0,
            last_error: None,
        }
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
        self.word_ahead(0)
    }

    fn word_ahead(&self, ahead: usize) -> &'t str {
        match self.kind_ahead(ahead) {
            Token::Word => self.text_of(self.tokens.span(self.position + ahead)),
            _ => "",
        }
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.kind() != Token::End {
            self.position += 1;
        }
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

    fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.word() == word { Ok(self.advance()) } else { Err(self.expected(&format!("`{word}`"))) }
    }
}

/// Names and terms.
impl Parser<'_> {
    /// A name; reserved words are refused.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let word = self.word();
        if word.is_empty() {
            return Err(self.expected(what));
        }
        if is_reserved(word) {
            let message = format!("`{word}` cannot be a name");
            let diagnostic = Diagnostic::error("bdi/reserved-word", self.span(), message)
                .label(format!("expected {what}"))
                .hint("this word belongs to the language; choose another, such as one with a `_` at its end");
            return Err(self.error(diagnostic));
        }
        let text = word.to_string();
        Ok(Name { text, span: self.advance() })
    }

    /// `sent(p, !q)`
    fn term(&mut self, what: &str) -> Parsed<Term> {
        let start = self.position;
        let name = self.name(what)?;
        let mut args = None;
        if self.eat(Token::Open) {
            self.deepen()?;
            let mut list = Vec::new();
            if self.kind() != Token::Close {
                list.push(self.formula()?);
                while self.eat(Token::Comma) {
                    list.push(self.formula()?);
                }
            }
            self.expect(Token::Close, "`,` or `)`")?;
            self.depth -= 1;
            args = Some(list);
        }
        Ok(Term { name, args, span: self.span_from(start) })
    }

    /// `B(` and the like at this place, without reading it: the attitude and whether it is `PB`.
    fn attitude_ahead(&self) -> Option<(Op, bool)> {
        if self.kind_ahead(1) != Token::Open {
            return None;
        }
        match self.word() {
            "B" => Some((Op::B, false)),
            "D" => Some((Op::D, false)),
            "I" => Some((Op::I, false)),
            "PB" => Some((Op::B, true)),
            "PD" => Some((Op::D, true)),
            "PI" => Some((Op::I, true)),
            _ => None,
        }
    }

    /// `B`, `D` or `I`
    fn op(&mut self) -> Parsed<Op> {
        let op = match self.word() {
            "B" => Op::B,
            "D" => Op::D,
            "I" => Op::I,
            _ => return Err(self.expected("`B`, `D` or `I`")),
        };
        self.advance();
        Ok(op)
    }

    /// One level deeper; the caller undoes it unless it fails.
    fn deepen(&mut self) -> Parsed<()> {
        if self.depth >= NESTING_LIMIT {
            let message = format!("this is nested more than {NESTING_LIMIT} levels deep");
            let diagnostic = Diagnostic::error("bdi/too-deep", self.clipped(self.span()), message)
                .hint("flat chains may be of any length; keep part of the formula in a variable");
            return Err(self.error(diagnostic));
        }
        self.depth += 1;
        Ok(())
    }
}
