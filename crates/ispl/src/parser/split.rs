//! The text of `--split`: variables, families of variables, and formulas.

use masque_text::{Diagnostic, FileId, Parsed, Reported, Sources};

use super::Parser;
use crate::lexer::Token;
use crate::tree::{SplitIndex, SplitItem, SplitName, Tree};

/// Parses what the initial states of a parsed model are split by: variables (`Alice.x`), families of them
/// (`Crypt[*].payer`, `Crypt[1..3].payer`, `Crypt[i in 1..N].payer`) and formulas over the initial states,
/// separated by `,` or `;`. [`check()`](crate::check()) resolves them.
///
/// ```
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("tiny.ispl", "Formulae AG p; end Formulae").unwrap();
/// let (mut tree, _) = masque_ispl::parse(&sources, file);
/// let split = sources.add("<--split>", "A[*].x, B.y; A[1].x = 2 or B.y").unwrap();
/// assert!(masque_ispl::parse_split(&sources, split, &mut tree).is_empty());
/// ```
pub fn parse_split(sources: &Sources, file: FileId, tree: &mut Tree) -> Vec<Diagnostic> {
    let empty = Tree::new(sources.span(file));
    let mut parser = Parser::new(sources, file, std::mem::replace(tree, empty));
    if let Ok(items) = parser.split_items() {
        parser.tree.split.extend(items);
    }
    *tree = parser.tree;
    parser.cursor.into_diagnostics()
}

impl Parser<'_> {
    fn split_items(&mut self) -> Parsed<Vec<SplitItem>> {
        let mut items = Vec::new();
        loop {
            while self.eat(Token::Comma) || self.eat(Token::Semicolon) {}
            if self.kind() == Token::End {
                return Ok(items);
            }
            items.push(if self.split_name_ahead() {
                self.split_variables()?
            } else {
                SplitItem::Formula(self.condition()?)
            });
            if !matches!(self.kind(), Token::End | Token::Comma | Token::Semicolon) {
                return Err(self.expected("an operator, `;` or the end"));
            }
        }
    }

    /// Returns whether names of variables follow, and not a formula: `agent.variable` alone, or an agent
    /// with an index that stands for several.
    fn split_name_ahead(&self) -> bool {
        if self.kind() != Token::Word {
            return false;
        }
        let (after_agent, is_family) = self.after_indexes(1);
        if self.kind_ahead(after_agent) != Token::Dot {
            let is_last = self.position + after_agent >= self.tokens.len();
            return is_family && (is_last || self.is_split_separator(after_agent));
        }
        let (end, _) = self.after_indexes(after_agent + 2);
        self.kind_ahead(after_agent + 1) == Token::Word
            && (self.position + end >= self.tokens.len() || self.is_split_separator(end))
    }

    fn is_split_separator(&self, ahead: usize) -> bool {
        matches!(self.kind_ahead(ahead), Token::Comma | Token::Semicolon)
    }

    /// Returns the number of tokens up to the end of the indexes in brackets that begin `ahead` tokens from
    /// here, if any do, and whether one of them stands for several values.
    fn after_indexes(&self, ahead: usize) -> (usize, bool) {
        let n_tokens = self.tokens.len() - self.position;
        if ahead >= n_tokens || self.kind_ahead(ahead) != Token::OpenBracket {
            return (ahead, false);
        }
        let mut is_family = false;
        for position in ahead + 1..n_tokens {
            let is_alone = self.kind_ahead(position - 1) != Token::CloseBracket;
            match self.kind_ahead(position) {
                Token::CloseBracket => return (position + 1, is_family),
                Token::DotDot => is_family = true,
                Token::Star => {
                    let is_first = matches!(self.kind_ahead(position - 1), Token::OpenBracket | Token::Comma);
                    is_family |= is_first && is_alone;
                }
                _ => {}
            }
        }
        (n_tokens, is_family)
    }

    /// Parses `agent.variable`, each perhaps with indexes.
    fn split_variables(&mut self) -> Parsed<SplitItem> {
        let start = self.position;
        let agent = self.split_name("an agent")?;
        self.expect(Token::Dot, "`.` and a variable of this agent")?;
        let variable = self.split_name("a variable of this agent")?;
        Ok(SplitItem::Variables { agent, variable, span: self.span_from(start) })
    }

    fn split_name(&mut self, what: &str) -> Parsed<SplitName> {
        let (name, _) = self.name(what)?;
        let mut indexes = Vec::new();
        if self.eat(Token::OpenBracket) {
            loop {
                indexes.push(self.split_index()?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            self.expect(Token::CloseBracket, "`,`, `..` or `]`")?;
        }
        Ok(SplitName { name, indexes })
    }

    /// Parses `*`, `3`, `1..N` or `i in 1..N`.
    fn split_index(&mut self) -> Result<SplitIndex, Reported> {
        if self.eat(Token::Star) {
            return Ok(SplitIndex::All);
        }
        if self.at_binder() {
            return Ok(SplitIndex::Each(self.binder()?));
        }
        let lo = self.index_expr()?;
        if !self.eat(Token::DotDot) {
            return Ok(SplitIndex::At(lo));
        }
        Ok(SplitIndex::Range(lo, self.index_expr()?))
    }
}
