//! Recursive descent parser with recovery: one diagnostic per broken item, then the next item.
//!
//! The time is linear in the text: a token is inspected a bounded number of times, and recovery only
//! moves forward.

mod file;
mod formula;
mod join;
mod program;
mod recover;
mod subscripts;

use masque_text::{Cursor, Diagnostic, FileId, ImportPath, Parsed, Sources, Span};

use self::recover::Bdi;
use crate::lexer::{Token, is_reserved};
use crate::tree::{Expr, Name, Op, Term, Tree};

pub use join::{System, parse_system};

/// Maximum depth of nested brackets, blocks and prefix operators. Flat chains may have any length.
pub const NESTING_LIMIT: u32 = 200;

/// Estimated bytes of an import and the items before it. They are copied when files are joined.
const BYTES_PER_PIECE: u64 = 3 * size_of::<(Tree, ImportPath)>() as u64;

/// A cursor that builds a tree.
struct Parser<'t> {
    cursor: Cursor<'t, Bdi>,
    /// Whether the right side of an initial assignment is read.
    is_in_init: bool,
    /// Texts that the formatter writes differently.
    rewrites: Vec<Rewrite>,
}

/// A piece of text in the paper's notation, and the ASCII notation for it.
#[derive(Clone, Debug)]
pub(crate) struct Rewrite {
    /// Location in the source; empty for an insertion.
    pub(crate) span: Span,
    /// Text that stands there instead.
    pub(crate) text: String,
}

masque_text::parser_on_cursor!(Parser, Bdi);

/// Parses a file. The tree contains the items that could be read. Imports are not followed; see
/// [`parse_system`].
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let (tree, diagnostics, _) = parse_with_rewrites(sources, file);
    (tree, diagnostics)
}

/// Does what [`parse`] does, and returns also what the formatter writes differently.
pub(crate) fn parse_with_rewrites(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>, Vec<Rewrite>) {
    let (pieces, imports, diagnostics, mut rewrites) = parse_file(sources, file);
    let mut tree = Tree { span: sources.span(file), ..Tree::default() };
    pieces.into_iter().for_each(|piece| tree.append(piece));
    tree.imports = imports;
    rewrites.extend(subscripts::resolve(&mut tree));
    (tree, diagnostics, rewrites)
}

/// Parses the parts of a file before, between and after its imports.
fn parse_pieces(sources: &Sources, file: FileId) -> (Vec<Tree>, Vec<ImportPath>, Vec<Diagnostic>) {
    let (pieces, imports, diagnostics, _) = parse_file(sources, file);
    (pieces, imports, diagnostics)
}

/// What a file consists of: the parts before, between and after its imports, the imports, diagnostics, and what
/// the formatter writes differently.
type ParsedFile = (Vec<Tree>, Vec<ImportPath>, Vec<Diagnostic>, Vec<Rewrite>);

fn parse_file(sources: &Sources, file: FileId) -> ParsedFile {
    let mut parser = Parser::new(sources, file);
    let (mut pieces, mut imports) = (Vec::new(), Vec::new());
    loop {
        let mut piece = Tree::default();
        let import = parser.file(&mut piece);
        pieces.push(piece);
        match import {
            Some(import) if sources.limits().charge(BYTES_PER_PIECE) => imports.push(import),
            _ => return (pieces, imports, parser.cursor.into_diagnostics(), parser.rewrites),
        }
    }
}

/// Parses one more property for a parsed file: `FORMULA`, or `PATH : FORMULA`.
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
        subscripts::resolve(tree);
    }
    parser.cursor.into_diagnostics()
}

/// Parses a file of properties for a parsed system: items `property ..;` and `check ..;`. They follow the
/// properties of the system.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.bdi", "agent a is loop p := any endloop").unwrap();
/// let (mut tree, _) = masque_bdi::parse(&sources, file);
/// let more = sources.add("more.txt", "property possible: EF p; check serial B(a);").unwrap();
/// assert!(masque_bdi::parse_properties(&sources, more, &mut tree).is_empty());
/// assert_eq!(tree.properties.len(), 2);
/// ```
pub fn parse_properties(sources: &Sources, file: FileId, tree: &mut Tree) -> Vec<Diagnostic> {
    let mut parser = Parser::new(sources, file);
    parser.properties(tree);
    subscripts::resolve(tree);
    parser.cursor.into_diagnostics()
}

/// Returns the operator that these letters name, and whether it is the dual `P..`.
pub(crate) fn operator(letters: &str) -> Option<(Op, bool)> {
    match letters {
        "B" => Some((Op::B, false)),
        "D" => Some((Op::D, false)),
        "I" => Some((Op::I, false)),
        "PB" => Some((Op::B, true)),
        "PD" => Some((Op::D, true)),
        "PI" => Some((Op::I, true)),
        _ => None,
    }
}

/// Names and terms.
impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, file: FileId) -> Self {
        Parser { cursor: Cursor::of(sources, sources.span(file)), is_in_init: false, rewrites: Vec::new() }
    }

    /// A name. Reserved words are refused.
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
        if self.word() == "not" && self.kind_ahead(1) == Token::Open {
            let diagnostic = Diagnostic::error("bdi/reserved-word", self.span(), "`not(..)` is a negation")
                .label(format!("expected {what}"))
                .hint("give it another name, such as `not_(..)`");
            return Err(self.error(diagnostic));
        }
        let name = self.name(what)?;
        let args = if self.eat(Token::Open) { Some(self.nested(Self::arguments)?) } else { None };
        Ok(Term { name, args, span: self.span_from(start) })
    }

    /// `p, !q)`
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut list = Vec::new();
        if self.kind() != Token::Close {
            list.push(self.formula()?);
            while self.eat(Token::Comma) {
                list.push(self.formula()?);
            }
        }
        self.expect(Token::Close, "`,` or `)`")?;
        Ok(list)
    }

    /// Whether `B(`, `PB(` or another attitude follows: the operator, and whether it is the dual `P..`.
    fn attitude_ahead(&self) -> Option<(Op, bool)> {
        if self.kind_ahead(1) != Token::Open {
            return None;
        }
        operator(self.word())
    }

    /// Whether `B_i f`, `PB_i f` or another attitude with a subscript follows: the operator, and whether it is
    /// the dual.
    ///
    /// Two operands never stand side by side, so `B_i` before an operand is no name. There are two exceptions:
    /// `B_i(..)` is a name with arguments unless `i` is an agent ([`subscripts`]), and the program may begin
    /// directly after the last value of `init`.
    fn subscript_ahead(&self) -> Option<(Op, bool)> {
        let (letters, agent) = self.word().split_once('_')?;
        let found = operator(letters)?;
        if agent.is_empty() || self.kind_ahead(1) == Token::Open || !self.is_operand_ahead(1) {
            return None;
        }
        let next = self.word_ahead(1);
        let begins_program = !next.is_empty() && !matches!(next, "EX" | "EF" | "EG" | "AX" | "AF" | "AG");
        (!(self.is_in_init && begins_program)).then_some(found)
    }

    /// Whether `B_i` stands after the next `ahead` tokens: the operator, and whether it is the dual.
    fn subscripted_word(&self, ahead: usize) -> Option<(Op, bool)> {
        let (letters, agent) = self.word_ahead(ahead).split_once('_')?;
        operator(letters).filter(|_| !agent.is_empty())
    }

    /// Remembers how the formatter writes a piece of text.
    fn rewrite(&mut self, span: Span, text: String) {
        self.rewrites.push(Rewrite { span, text });
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
