//! Parses terms.

use masque_text::{Diagnostic, Parsed, Reported, Span};

use super::Parser;
use super::recover::RESERVED;
use crate::lexer::Token;
use crate::tree::{Agent, Name, Term, TermKind};

impl Parser<'_> {
    /// Parses a term: a sum of products, as in arithmetic.
    pub(super) fn term(&mut self) -> Parsed<Term> {
        let left = self.product()?;
        self.sum_from(left)
    }

    /// Parses the rest of a sum whose first operand has been parsed.
    pub(super) fn sum_from(&mut self, mut left: Term) -> Parsed<Term> {
        loop {
            let op = match self.kind() {
                Token::Plus => "+",
                Token::Minus => "-",
                _ => return Ok(left),
            };
            self.advance();
            let right = self.product()?;
            left = binary(op, left, right);
        }
    }

    fn product(&mut self) -> Parsed<Term> {
        let left = self.primary()?;
        self.product_from(left)
    }

    /// Parses the rest of a product whose first operand has been parsed.
    pub(super) fn product_from(&mut self, mut left: Term) -> Parsed<Term> {
        loop {
            let op = match (self.kind(), self.word()) {
                (Token::Star, _) => "*",
                (Token::Slash, _) => "/",
                (_, "mod") => "mod",
                _ => return Ok(left),
            };
            self.advance();
            let right = self.primary()?;
            left = binary(op, left, right);
        }
    }

    fn primary(&mut self) -> Parsed<Term> {
        let start = self.position;
        let span = self.span();
        let kind = match self.kind() {
            Token::Number => self.number(false)?,
            Token::Variable => {
                let text = self.text_of(span);
                self.advance();
                // LiJ's built-in predicates: `_findPeers(..)`.
                let touches = self.span().start == span.end;
                match text {
                    "_" => TermKind::Anonymous,
                    _ if self.kind() == Token::Open && touches && text.starts_with('_') => {
                        TermKind::App(text.to_string(), self.arguments()?)
                    }
                    _ => TermKind::Var(text.to_string()),
                }
            }
            Token::Word if RESERVED.contains(&self.word()) => return Err(self.reserved()),
            Token::Word | Token::Quoted | Token::Dotted => {
                let name = self.name("a term")?.text;
                let arguments = if self.kind() == Token::Open { self.arguments()? } else { Vec::new() };
                TermKind::App(name, arguments)
            }
            Token::OpenBracket => self.list()?,
            Token::Open => {
                self.advance();
                let mut term = self.nested(Self::term)?;
                self.expect(Token::Close, "an operator or `)`")?;
                term.span = self.span_from(start);
                return Ok(term);
            }
            Token::Minus => {
                self.advance();
                // The paper's wildcard: a sign without an operand.
                match self.kind() {
                    Token::Comma | Token::Close | Token::CloseBracket | Token::End => TermKind::Anonymous,
                    Token::Number => self.number(true)?,
                    _ => TermKind::Negative(Box::new(self.nested(Self::primary)?)),
                }
            }
            _ => return Err(self.expected("a term")),
        };
        Ok(Term { kind, span: self.span_from(start) })
    }

    fn reserved(&mut self) -> Reported {
        let span = self.span();
        let word = self.text_of(span);
        let diagnostic = Diagnostic::error("lcc/reserved-word", span, format!("`{word}` is not a constant"))
            .label("expected a term")
            .hint(format!("write '{word}' in quotes if a constant is meant"));
        self.error(diagnostic)
    }

    /// Parses a number whose sign, if any, has been parsed.
    fn number(&mut self, is_negative: bool) -> Parsed<TermKind> {
        let span = self.advance();
        let text = format!("{}{}", if is_negative { "-" } else { "" }, self.text_of(span));
        if text.contains('.') {
            return match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(TermKind::Decimal(value)),
                _ => Err(self.too_large(span)),
            };
        }
        text.parse().map(TermKind::Int).map_err(|_| self.too_large(span))
    }

    fn too_large(&mut self, span: Span) -> Reported {
        let diagnostic = Diagnostic::error("lcc/number", span, "this number is too large")
            .hint(format!("integers go up to {}", i64::MAX));
        self.error(diagnostic)
    }

    /// Parses `(t, .., t)`, which may be empty.
    fn arguments(&mut self) -> Parsed<Vec<Term>> {
        self.expect(Token::Open, "`(`")?;
        let mut arguments = Vec::new();
        if self.kind() != Token::Close {
            arguments.push(self.nested(Self::term)?);
            while self.eat(Token::Comma) {
                arguments.push(self.nested(Self::term)?);
            }
        }
        self.expect(Token::Close, "`,` or `)`")?;
        Ok(arguments)
    }

    fn list(&mut self) -> Parsed<TermKind> {
        self.advance();
        let mut items = Vec::new();
        let mut tail = None;
        if self.kind() != Token::CloseBracket {
            items.push(self.nested(Self::term)?);
            while self.eat(Token::Comma) {
                items.push(self.nested(Self::term)?);
            }
            if self.eat(Token::Bar) {
                tail = Some(Box::new(self.nested(Self::term)?));
            }
        }
        self.expect(Token::CloseBracket, if tail.is_some() { "`]`" } else { "`,`, `|` or `]`" })?;
        Ok(TermKind::List(items, tail))
    }

    /// Parses a name, quoted or not.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if !matches!(self.kind(), Token::Word | Token::Quoted | Token::Dotted) {
            return Err(self.expected(what));
        }
        let is_quoted = self.kind() == Token::Quoted;
        let span = self.advance();
        let text = self.text_of(span);
        let text = if is_quoted { &text[1..text.len() - 1] } else { text };
        Ok(Name { text: text.to_string(), span })
    }

    /// Parses `a(Role, Id)`.
    pub(super) fn agent(&mut self) -> Parsed<Agent> {
        let start = self.position;
        if self.word() != "a" || self.kind_ahead(1) != Token::Open {
            return Err(self.expected("an agent, `a(Role, Id)`"));
        }
        self.advance();
        self.advance();
        let role = self.nested(Self::term)?;
        self.expect(Token::Comma, "`,` and the agent's id")?;
        let id = self.nested(Self::term)?;
        self.expect(Token::Close, "`)`")?;
        Ok(Agent { role, id, span: self.span_from(start) })
    }
}

fn binary(op: &'static str, left: Term, right: Term) -> Term {
    let span = left.span.to(right.span);
    Term { kind: TermKind::Binary(op, Box::new(left), Box::new(right)), span }
}
