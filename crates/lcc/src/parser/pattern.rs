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
    let refusal = "this is not an action pattern";
    parse_whole(text, base, What { end: "the end of the pattern", refusal }, |parser| parser.action())
}

/// Parses a text that is one term.
pub(crate) fn parse_term(text: &str) -> Result<Term, Diagnostic> {
    let refusal = "this is not a term";
    parse_whole(text, 0, What { end: "the end of the term", refusal }, |parser| parser.term())
}

/// Parses a text that is one literal of a constraint.
pub(crate) fn parse_literal(text: &str) -> Result<Constraint, Diagnostic> {
    let what = What { end: "the end of the constraint", refusal: "this is not a constraint" };
    parse_whole(text, 0, what, |parser| parser.literal(Context::Process))
}

/// What a text must be, in the words of messages.
struct What {
    end: &'static str,
    refusal: &'static str,
}

/// Parses a text from its beginning, at position `base`, to its end.
fn parse_whole<T>(
    text: &str,
    base: u32,
    what: What,
    parse: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
) -> Result<T, Diagnostic> {
    let mut parser = Parser { cursor: Cursor::new(text, base) };
    let parsed = parse(&mut parser);
    if parsed.is_ok() && parser.kind() != Token::End {
        parser.expected(what.end);
    }
    match (parser.cursor.into_diagnostics().into_iter().next(), parsed) {
        (None, Ok(parsed)) => Ok(parsed),
        (Some(diagnostic), _) => Err(diagnostic),
        (None, Err(_)) => {
            let span = Span { start: base, end: base + text.len() as u32 };
            Err(Diagnostic::error("lcc/syntax", span, what.refusal))
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
