//! Recursive descent parser with recovery: one diagnostic per broken statement, then the next statement.
//!
//! The time is linear in the text: a token is inspected a bounded number of times, and recovery only
//! moves forward.

mod coalition;
mod expr;
mod fixpoint;
mod foreign;
mod given;
mod join;
mod recover;
mod sections;
mod split;

use masque_text::{Cursor, Diagnostic, FileId, Parsed, Reported, Sources, Span};

use self::recover::Ispl;
use crate::lexer::Token;
use crate::tree::{
    Binder, Dialect, Expr, ExprId, Import, Index, Item, Kind, List, Names, Pattern, Ref, Sections, Symbol,
    Tree,
};

pub(crate) use join::read_model;
pub(crate) use sections::{AFTER_AGENTS, OF_AGENT};

pub use given::{ConditionScope, parse_condition};
pub use join::{Model, parse_model};
pub use split::parse_split;

/// Maximum depth of nested brackets and prefix operators. Flat chains may have any length.
pub const NESTING_LIMIT: u32 = 500;

/// Syntax of the expressions that are being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Conditions and arithmetic.
    Condition,
    /// State formulas of CTL, ATL and knowledge.
    State,
    /// Path formulas; with path quantifiers in CTL*, without in LTL.
    Path { quantifiers: bool },
}

/// A cursor that builds a tree.
struct Parser<'t> {
    cursor: Cursor<'t, Ispl>,
    /// Names and expressions. The sections are kept in `pieces` and `sections`.
    tree: Tree,
    /// The sections before each import.
    pieces: Vec<(Sections, Import)>,
    /// The sections after the last import.
    sections: Sections,
    /// Headings of the sections so far, to find a second one.
    headings: Vec<(&'static str, Span)>,
    mode: Mode,
    /// The last expression that was read in brackets, to warn where brackets are missing.
    bracketed: Option<ExprId>,
    /// Number of coalitions around the formula that is being read.
    n_coalitions: u32,
    /// Whether it was already reported that the file is written in ATL*.
    is_atl_star: bool,
}

masque_text::parser_on_cursor!(Parser, Ispl);

/// Parses a file. The tree contains the statements that could be read. Imports are not followed; see
/// [`parse_model`].
pub fn parse(sources: &Sources, file: FileId) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, file, Tree::new(sources.span(file)));
    parser.file(sources.limits());
    let Parser { mut tree, pieces, sections, cursor, .. } = parser;
    let (pieces, imports): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
    let mut diagnostics = cursor.into_diagnostics();
    diagnostics.extend(tree.join(pieces.into_iter().chain([sections])));
    tree.imports = imports;
    (tree, diagnostics)
}

/// Parses one more formula for a parsed file, as if it stood at the end of its Formulae section.
pub fn parse_property(sources: &Sources, file: FileId, tree: &mut Tree) -> Vec<Diagnostic> {
    let empty = Tree::new(sources.span(file));
    let mut parser = Parser::new(sources, file, std::mem::replace(tree, empty));
    if let Ok(line) = parser.formula_statement(false) {
        parser.tree.extra.push(Item::One(line));
    }
    *tree = parser.tree;
    parser.cursor.into_diagnostics()
}

/// Parses a file of properties for a parsed model: the lines of a Formulae section, with or without `Formulae`
/// and `end Formulae` around them. They follow the formulas of the model.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.ispl", "Formulae AG p; end Formulae").unwrap();
/// let (mut tree, _) = masque_ispl::parse(&sources, file);
/// let more = sources.add("more.txt", "EF p; -- possible\nsafe : AG !q;").unwrap();
/// assert!(masque_ispl::parse_properties(&sources, more, &mut tree).is_empty());
/// ```
pub fn parse_properties(sources: &Sources, file: FileId, tree: &mut Tree) -> Vec<Diagnostic> {
    let empty = Tree::new(sources.span(file));
    let mut parser = Parser::new(sources, file, std::mem::replace(tree, empty));
    let items = parser.properties();
    parser.tree.extra.extend(items);
    *tree = parser.tree;
    parser.cursor.into_diagnostics()
}

impl Tree {
    fn new(span: Span) -> Self {
        Tree {
            names: Names::default(),
            exprs: Vec::new(),
            lists: Vec::new(),
            ops: Vec::new(),
            binders: Vec::new(),
            modals: Vec::new(),
            fixpoints: Vec::new(),
            sections: Sections::default(),
            imports: Vec::new(),
            extra: Vec::new(),
            split: Vec::new(),
            given: Vec::new(),
            dialect: Dialect::Modern,
            outline: Vec::new(),
            broken: Vec::new(),
            span,
        }
    }
}

/// Names, and syntax that all sections share.
impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, file: FileId, mut tree: Tree) -> Self {
        let cursor = Cursor::of(sources, sources.span(file));
        // In large models, about three of four tokens are an expression.
        tree.exprs.reserve(cursor.n_tokens() / 4 * 3);
        Parser {
            cursor,
            tree,
            pieces: Vec::new(),
            sections: Sections::default(),
            headings: Vec::new(),
            mode: Mode::Condition,
            bracketed: None,
            n_coalitions: 0,
            is_atl_star: false,
        }
    }

    /// Reads the `;` at the end of a statement. If it is missing and a new line begins here, reports
    /// that at the end of the statement and continues.
    fn expect_semicolon(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Token::Semicolon) {
            return Ok(());
        }
        let after = self.last_span();
        let is_new_line = self.begins_line() || self.kind() == Token::End;
        if !is_new_line || !matches!(self.kind(), Token::Word | Token::End) {
            return Err(self.expected(what));
        }
        self.error(
            Diagnostic::error("ispl/missing-semicolon", after.after(), "a `;` is missing")
                .fix("insert `;`", after.after(), ";")
                .label("expected `;` here"),
        );
        Ok(())
    }

    fn add(&mut self, kind: Kind, span: Span) -> ExprId {
        self.tree.exprs.push(Expr { kind, span });
        ExprId(self.tree.exprs.len() as u32 - 1)
    }

    fn list(&mut self, items: &[ExprId]) -> List {
        if items.is_empty() {
            return List::EMPTY;
        }
        let start = self.tree.lists.len() as u32;
        self.tree.lists.extend_from_slice(items);
        List { start, len: items.len() as u32 }
    }

    /// A plain name. Words that cannot be names are refused.
    fn name(&mut self, what: &str) -> Parsed<(Symbol, Span)> {
        let word = self.word();
        if word.is_empty() {
            return Err(self.expected(what));
        }
        if matches!(word, "and" | "or" | "if" | "true" | "false") {
            let message = format!("`{word}` cannot be a name");
            let span = self.span();
            return Err(self.error(
                Diagnostic::error("ispl/reserved-word", span, message)
                    .label(format!("expected {what}"))
                    .hint("any word is a name but `and`, `or`, `if`, `true` and `false`"),
            ));
        }
        let span = self.advance();
        Ok((self.tree.names.intern(word), span))
    }

    /// A name in an expression: `coin`, `coin[i]`.
    fn reference(&mut self, what: &str) -> Parsed<Ref> {
        let (name, _) = self.name(what)?;
        let mut indexes = List::EMPTY;
        if self.eat(Token::OpenBracket) {
            let mut items = vec![self.index_expr()?];
            while self.eat(Token::Comma) {
                items.push(self.index_expr()?);
            }
            self.expect(Token::CloseBracket, "`]`")?;
            indexes = self.list(&items);
        }
        Ok(Ref { name, indexes })
    }

    /// A name being declared or listed: `coin`, `coin[i + 1]`, `coin[i in 1..N]`.
    fn pattern(&mut self, what: &str) -> Parsed<Pattern> {
        let start = self.position;
        let (name, _) = self.name(what)?;
        let mut indexes = Vec::new();
        if self.eat(Token::OpenBracket) {
            loop {
                let index = if self.at_binder() {
                    Index::Each(self.binder()?)
                } else {
                    Index::At(self.index_expr()?)
                };
                indexes.push(index);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            self.expect(Token::CloseBracket, "`]`")?;
        }
        Ok(Pattern { name, indexes, span: self.span_from(start) })
    }

    /// `{ a, b[i in 1..N], .. }`
    fn braces(&mut self, what: &str) -> Parsed<Vec<Pattern>> {
        self.expect(Token::OpenBrace, "`{`")?;
        let mut patterns = Vec::new();
        if self.kind() != Token::CloseBrace {
            patterns.push(self.pattern(what)?);
            while self.eat(Token::Comma) {
                patterns.push(self.pattern(what)?);
            }
        }
        self.expect(Token::CloseBrace, "`,` or `}`")?;
        Ok(patterns)
    }

    fn at_binder(&self) -> bool {
        self.kind() == Token::Word && self.word_ahead(1) == "in"
    }

    /// `i in lo..hi where condition`
    fn binder(&mut self) -> Parsed<u32> {
        let start = self.position;
        let (name, _) = self.name("an index variable")?;
        if !self.eat_word("in") {
            return Err(self.expected("`in`"));
        }
        let lo = self.index_expr()?;
        self.expect(Token::DotDot, "`..`")?;
        let hi = self.index_expr()?;
        let condition = if self.eat_word("where") { Some(self.condition()?) } else { None };
        let span = self.span_from(start);
        self.tree.binders.push(Binder { name, lo, hi, condition, span });
        Ok(self.tree.binders.len() as u32 - 1)
    }

    /// Statements up to the `end` of their section or the `}` of their `for`.
    fn items<T>(&mut self, one: fn(&mut Self) -> Parsed<T>) -> Vec<Item<T>> {
        let mut items = Vec::new();
        while self.kind() != Token::End && !self.at_end() && !self.at_agent() {
            if self.kind() == Token::CloseBrace && self.depth > 0 || self.is_stray_name(self.position) {
                break;
            }
            let (before, n_errors) = (self.position, self.diagnostics().len());
            match self.item(one) {
                Ok(item) => items.push(item),
                // This may be the heading of the next section: then an `end` is missing, which is
                // reported when this section is closed.
                Err(Reported) if self.is_heading(before) => {
                    self.retract(n_errors);
                    self.position = before;
                    break;
                }
                Err(Reported) => {
                    self.recover(before);
                    self.add_broken(before);
                }
            }
            if self.position == before {
                self.advance();
            }
        }
        items
    }

    /// Remembers the tokens from `start` to here as a statement that is not in the tree.
    fn add_broken(&mut self, start: usize) {
        if self.position > start {
            let span = self.span_from(start);
            self.tree.broken.push(span);
        }
    }

    /// Remembers a section that was read from `start` to here.
    fn add_to_outline(&mut self, heading: &'static str, start: usize) {
        let span = self.span_from(start);
        self.tree.outline.push((heading, span));
    }

    fn item<T>(&mut self, one: fn(&mut Self) -> Parsed<T>) -> Parsed<Item<T>> {
        let start = self.position;
        if !self.is_loop(start) {
            return one(self).map(Item::One);
        }
        self.advance();
        let binder = self.binder()?;
        self.expect(Token::OpenBrace, "`{`")?;
        let items = self.nested(|parser| Ok(parser.items(one)))?;
        self.expect(Token::CloseBrace, "`}`")?;
        Ok(Item::For { binder, items, span: self.span_from(start) })
    }
}

fn is_infix(word: &str) -> bool {
    matches!(word, "if" | "and" | "or" | "mod" | "in")
}
