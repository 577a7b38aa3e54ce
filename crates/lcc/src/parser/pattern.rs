//! Parses the action patterns and state atoms of formulas.

use masque_text::{Cursor, Diagnostic, Parsed, Span};

use super::Parser;
use super::constraint::Context;
use crate::lexer::Token;
use crate::tree::{Constraint, Term};

/// An action pattern or a state atom: `word(term, ..)@who`, as in `in(offer(X), a(seller, _))@c1` and
/// `at(c1, buyer(_))`, or `#(constraint)@who`.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub(crate) word: String,
    pub(crate) terms: Vec<Term>,
    /// The literal in `#(..)`.
    pub(crate) literal: Option<Constraint>,
    /// The acting agent, after `@`.
    pub(crate) by: Option<Term>,
}

/// Parses an action pattern or an atom whose text begins at position `base`.
pub(crate) fn parse_action(text: &str, base: u32) -> Result<Action, Diagnostic> {
    let mut parser = Parser { cursor: Cursor::new(text, base) };
    let action = parser.action();
    if action.is_ok() && parser.kind() != Token::End {
        parser.expected("the end of the pattern");
    }
    match (parser.cursor.into_diagnostics().into_iter().next(), action) {
        (None, Ok(action)) => Ok(action),
        (Some(diagnostic), _) => Err(diagnostic),
        (None, Err(_)) => {
            let span = Span { start: base, end: base + text.len() as u32 };
            Err(Diagnostic::error("lcc/syntax", span, "this is not an action pattern"))
        }
    }
}

impl Parser<'_> {
    fn action(&mut self) -> Parsed<Action> {
        let word = match self.kind() {
            Token::Hash => self.text_of(self.span()).to_string(),
            Token::Word => self.word().to_string(),
            // The paper writes τ for a message that is sent and received in one step.
            _ if self.text_of(self.span()) == "τ" => "tau".to_string(),
            _ => return Err(self.expected("`in(..)`, `out(..)`, `#(..)`, `#` or `tau`")),
        };
        self.advance();
        let mut action = Action { word, terms: Vec::new(), literal: None, by: None };
        if self.eat(Token::Open) {
            match action.word.as_str() {
                "#" => action.literal = Some(self.nested(|parser| parser.literal(Context::Process))?),
                _ => {
                    action.terms.push(self.nested(Self::term)?);
                    while self.eat(Token::Comma) {
                        action.terms.push(self.nested(Self::term)?);
                    }
                }
            }
            self.expect(Token::Close, "`,` or `)`")?;
        }
        if self.eat(Token::At) {
            action.by = Some(self.term()?);
        }
        Ok(action)
    }
}
