//! Regular expressions over patterns, inside modalities.

use masque_text::{Parsed, Span};

use crate::lexer::Token;
use crate::tree::{Pattern, Regular};

use super::Parser;

/// Regular expressions: `|` binds least, then `.`, then `*` and `+`.
impl Parser<'_> {
    pub(super) fn regular(&mut self) -> Parsed<Regular> {
        let mut chain = vec![self.sequence()?];
        while self.eat(Token::Bar) {
            chain.push(self.sequence()?);
        }
        Ok(if chain.len() == 1 { chain.remove(0) } else { Regular::Choice(chain) })
    }

    fn sequence(&mut self) -> Parsed<Regular> {
        let mut chain = vec![self.repeated()?];
        while self.eat(Token::Dot) {
            chain.push(self.repeated()?);
        }
        Ok(if chain.len() == 1 { chain.remove(0) } else { Regular::Sequence(chain) })
    }

    /// Reads `R*` and `R+`. Repetition of a repetition is the same as one repetition, so signs do not nest.
    fn repeated(&mut self) -> Parsed<Regular> {
        let regular = if self.kind() == Token::Open {
            let open = self.advance();
            let inner = self.nested(Self::regular)?;
            self.close(Token::Close, open, "`)`")?;
            inner
        } else {
            Regular::Step(self.pattern()?)
        };
        let (mut star, mut plus) = (false, false);
        loop {
            match self.kind() {
                Token::Star => star = true,
                Token::Plus => plus = true,
                _ => break,
            }
            self.advance();
        }
        Ok(match (star, plus) {
            (true, _) => Regular::Star(Box::new(regular)),
            (_, true) => Regular::Plus(Box::new(regular)),
            _ => regular,
        })
    }
}

/// Patterns.
impl Parser<'_> {
    pub(super) fn pattern(&mut self) -> Parsed<Pattern> {
        self.nested(|parser| match parser.kind() {
            Token::Minus => parser.any_or_other(),
            Token::OpenBrace => parser.set(),
            Token::Word | Token::Hash | Token::Quoted => {
                let span = parser.primitive(true)?;
                Ok(Pattern::Is(parser.text_of(span).to_string(), span))
            }
            _ => Err(parser.expected("an action pattern")),
        })
    }

    /// Reads `-`: any step if it stands alone, or the complement of the pattern after it.
    fn any_or_other(&mut self) -> Parsed<Pattern> {
        self.advance();
        match self.kind() {
            Token::Minus | Token::OpenBrace | Token::Word | Token::Hash | Token::Quoted => {
                Ok(Pattern::Not(Box::new(self.pattern()?)))
            }
            Token::Open => {
                let open = self.advance();
                let inner = self.pattern()?;
                self.close(Token::Close, open, "`)`: only a single pattern has a complement")?;
                Ok(Pattern::Not(Box::new(inner)))
            }
            _ => Ok(Pattern::Any),
        }
    }

    fn set(&mut self) -> Parsed<Pattern> {
        let open = self.advance();
        let mut patterns = vec![self.pattern()?];
        while self.eat(Token::Comma) {
            patterns.push(self.pattern()?);
        }
        self.close(Token::CloseBrace, open, "`,` or `}`")?;
        Ok(Pattern::Set(patterns))
    }

    /// Returns the span of a primitive for the vocabulary: a word with an optional argument and, for a pattern,
    /// an actor.
    pub(super) fn primitive(&mut self, is_pattern: bool) -> Parsed<Span> {
        let start = self.position;
        self.advance();
        self.argument()?;
        if is_pattern && self.eat(Token::At) {
            if !matches!(self.kind(), Token::Word | Token::Quoted | Token::Number) {
                return Err(self.expected("who acts, as in `out(ask)@c1`"));
            }
            self.advance();
            self.argument()?;
        }
        Ok(self.span_from(start))
    }

    /// Skips an argument in balanced brackets. It uses a stack instead of recursion, because terms of the
    /// language may be nested to any depth.
    fn argument(&mut self) -> Parsed<()> {
        if self.kind() != Token::Open {
            return Ok(());
        }
        let mut open: Vec<(Token, Span)> = Vec::new();
        loop {
            let kind = self.kind();
            match kind {
                Token::Open => open.push((Token::Close, self.span())),
                Token::OpenBracket => open.push((Token::CloseBracket, self.span())),
                Token::OpenBrace => open.push((Token::CloseBrace, self.span())),
                Token::Close | Token::CloseBracket | Token::CloseBrace => match open.pop() {
                    Some((close, _)) if close == kind => {}
                    Some((close, at)) => return Err(self.unclosed(at, sign(close))),
                    None => return Ok(()),
                },
                // No term contains a semicolon, so the bracket is missing before it.
                Token::End | Token::Semicolon => {
                    let last = open.pop().map_or((Token::Close, self.span()), |last| last);
                    return Err(self.unclosed(last.1, sign(last.0)));
                }
                _ => {}
            }
            self.advance();
            if open.is_empty() {
                return Ok(());
            }
        }
    }
}

/// Returns a closing bracket as text.
fn sign(kind: Token) -> &'static str {
    match kind {
        Token::CloseBracket => "`]`",
        Token::CloseBrace => "`}`",
        _ => "`)`",
    }
}
