//! Recursive descent with recovery: one message per broken statement, then on to the next.
//!
//! Time is linear in the text: a token is looked at a bounded number of times, and recovery only
//! moves forward.

mod file;
mod formula;
mod program;
mod recover;

use std::ops::{Deref, DerefMut};

use masque_text::{Cursor, Diagnostic, FileId, Parsed, Sources};

use self::recover::Bdi;
use crate::lexer::{Token, is_reserved};
use crate::tree::{Name, Op, Term, Tree};

/// Brackets, blocks and prefix operators may nest this deep; flat chains may be of any length.
pub const NESTING_LIMIT: u32 = 200;

/// A cursor that leaves a tree behind.
struct Parser<'t> {
    cursor: Cursor<'t, Bdi>,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t, Bdi>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Reads a file. The tree holds whatever could be read.
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, file);
    let mut tree = Tree { span: sources.span(file), ..Tree::default() };
    parser.file(&mut tree);
    (tree, parser.cursor.into_diagnostics())
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
    parser.cursor.into_diagnostics()
}

/// Names and terms.
impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, file: FileId) -> Self {
        Parser { cursor: Cursor::new(sources.text(file), sources.span(file).start) }
    }

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
}
