//! Recursive descent with recovery: one message per broken property, then on to the next.

mod formula;
mod recover;
mod regular;

use masque_text::{Diagnostic, Sources, Span};
use rustc_hash::FxHashMap;

use crate::lexer::{Token, Tokens};
use crate::tree::{Name, Named, Phi};

pub(crate) use formula::{RESERVED, is_variable};

/// Brackets and prefix operators may nest this deep; flat chains may be of any length.
pub const NESTING_LIMIT: u32 = 250;

/// A syntax error that has been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

/// Reads one formula: the whole text at `span`.
pub fn parse_formula(sources: &Sources, span: Span) -> (Option<Phi>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, span);
    let phi = parser.whole_formula().ok();
    (phi, parser.diagnostics)
}

/// Reads the properties of a file, `name : formula ;` each. Those that could be read are returned.
pub fn parse_properties(sources: &Sources, span: Span) -> (Vec<Named>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, span);
    let properties = parser.properties();
    (properties, parser.diagnostics)
}

struct Parser<'t> {
    text: &'t str,
    base: u32,
    tokens: Tokens,
    position: usize,
    depth: u32,
    n_errors: usize,
    diagnostics: Vec<Diagnostic>,
}

/// Properties.
impl Parser<'_> {
    fn properties(&mut self) -> Vec<Named> {
        let mut properties: Vec<Named> = Vec::new();
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        while self.kind() != Token::End {
            match self.property() {
                Ok(property) => match names.get(&property.name.text) {
                    Some(&first) => self.duplicate(&property.name, first),
                    None => {
                        names.insert(property.name.text.clone(), property.name.span);
                        properties.push(property);
                    }
                },
                Err(Reported) => self.skip_property(),
            }
        }
        properties
    }

    fn property(&mut self) -> Parsed<Named> {
        let name = self.property_name()?;
        if !self.take(Token::Colon) {
            return Err(self.expected("`:` after the name of the property"));
        }
        let phi = self.formula()?;
        if !self.take(Token::Semicolon) {
            return Err(self.expected_after_formula("`;` after the formula"));
        }
        Ok(Named { name, phi })
    }

    fn property_name(&mut self) -> Parsed<Name> {
        match self.kind() {
            Token::Word | Token::Number => {
                let name = Name { text: self.text_here().to_string(), span: self.span() };
                self.position += 1;
                Ok(name)
            }
            _ => Err(self.expected("the name of a property, as in `safe : AG !deadlock;`")),
        }
    }

    fn whole_formula(&mut self) -> Parsed<Phi> {
        let phi = self.formula()?;
        // A formula on the command line may end as it does in a file.
        self.take(Token::Semicolon);
        match self.kind() {
            Token::End => Ok(phi),
            _ => Err(self.expected_after_formula("the end of the formula")),
        }
    }
}

/// Tokens.
impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, span: Span) -> Self {
        let (text, base) = (sources.slice(span), span.start);
        let tokens = Tokens::new(text, base);
        Parser { text, base, tokens, position: 0, depth: 0, n_errors: 0, diagnostics: Vec::new() }
    }

    fn kind(&self) -> Token {
        self.tokens.kind(self.position)
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

    fn text_here(&self) -> &'t str {
        self.text_of(self.span())
    }

    /// The word at hand, or the empty text.
    fn word(&self) -> &'t str {
        if self.kind() == Token::Word { self.text_here() } else { "" }
    }

    fn take(&mut self, kind: Token) -> bool {
        let found = self.kind() == kind;
        self.position += usize::from(found);
        found
    }

    /// Whether `->` stands here. It is not one token, because `<->` is not.
    fn at_arrow(&self) -> bool {
        let (first, second) = (self.span(), self.tokens.span(self.position + 1));
        self.kind() == Token::Minus
            && self.tokens.kind(self.position + 1) == Token::Greater
            && first.end == second.start
    }

    /// One level deeper, unless that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_LIMIT {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
