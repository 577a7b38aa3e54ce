//! Recursive descent parser with recovery: one diagnostic per broken property, then the next property.

mod formula;
mod recover;
mod regular;

use masque_text::{Cursor, Diagnostic, Parsed, Reported, Sources, Span};
use rustc_hash::FxHashMap;

use self::recover::Mu;
use crate::lexer::Token;
use crate::tree::{Name, Named, Pattern, Phi};

pub(crate) use formula::{RESERVED, is_variable};

/// Maximum depth of nested brackets and prefix operators. Flat chains may have any length.
pub const NESTING_LIMIT: u32 = 250;

/// Parses one formula, which is the whole text at `span`.
pub fn parse_formula(sources: &Sources, span: Span) -> (Option<Phi>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, span);
    let phi = parser.whole_formula().ok();
    (phi, parser.cursor.into_diagnostics())
}

/// Parses one action pattern, such as `{in(offer(_)), -out(_)@s}`, which is the whole text at `span`.
pub fn parse_pattern(sources: &Sources, span: Span) -> (Option<Pattern>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, span);
    let pattern = parser.pattern().and_then(|pattern| match parser.kind() {
        Token::End => Ok(pattern),
        _ => Err(parser.expected("the end of the action pattern")),
    });
    (pattern.ok(), parser.cursor.into_diagnostics())
}

/// Parses the properties of a file, `name : formula ;` each. Returns those that could be read.
pub fn parse_properties(sources: &Sources, span: Span) -> (Vec<Named>, Vec<Diagnostic>) {
    let mut parser = Parser::new(sources, span);
    let properties = parser.properties(sources);
    (properties, parser.cursor.into_diagnostics())
}

/// A cursor that builds formulas.
struct Parser<'t> {
    cursor: Cursor<'t, Mu>,
}

masque_text::parser_on_cursor!(Parser, Mu);

/// Properties.
impl Parser<'_> {
    fn properties(&mut self, sources: &Sources) -> Vec<Named> {
        let mut properties: Vec<Named> = Vec::new();
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        while self.kind() != Token::End {
            match self.property(sources) {
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

    fn property(&mut self, sources: &Sources) -> Parsed<Named> {
        let name = self.property_name()?;
        if !self.eat(Token::Colon) {
            let help = "a property begins with its name, without a keyword: `name : formula ;`";
            let help = (name.text == "property").then(|| help.to_string());
            return Err(self.expected_with("`:` after the name of the property", help));
        }
        let phi = self.formula()?;
        if !self.eat(Token::Semicolon) {
            return Err(self.expected_after_formula("`;` after the formula"));
        }
        Ok(Named::read(sources, name, phi))
    }

    fn property_name(&mut self) -> Parsed<Name> {
        match self.kind() {
            Token::Word | Token::Number => {
                let text = self.text_here().to_string();
                Ok(Name { text, span: self.advance() })
            }
            _ => Err(self.expected("the name of a property, as in `safe : AG !deadlock;`")),
        }
    }

    fn whole_formula(&mut self) -> Parsed<Phi> {
        let phi = self.formula()?;
        // A formula on the command line may end as it does in a file.
        self.eat(Token::Semicolon);
        match self.kind() {
            Token::End => Ok(phi),
            _ => Err(self.expected_after_formula("the end of the formula")),
        }
    }
}

/// Helpers of all parts.
impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, span: Span) -> Self {
        Parser { cursor: Cursor::of(sources, span) }
    }

    /// Whether the next tokens are `->`. It is not one token because `<->` is a modality.
    fn at_arrow(&self) -> bool {
        self.tokens.pair(self.position) == Some((Token::Minus, Token::Greater))
    }
}
