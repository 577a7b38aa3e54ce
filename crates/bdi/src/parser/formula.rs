//! Formulas and arithmetic: `<->` binds weakest, then `->`, `|`, `&`, prefixes and comparisons.

use masque_text::Parsed;

use super::Parser;
use crate::lexer::{Token, is_reserved};
use crate::tree::{Binary, Commitment, Expr, ExprKind, Quantifier, Rel, Unary};

impl Parser<'_> {
    /// `f <-> g <-> ..`
    pub(super) fn formula(&mut self) -> Parsed<Expr> {
        self.chain(Token::Iff, ExprKind::Iff, |parser| {
            parser.chain(Token::Implies, ExprKind::Implies, |parser| {
                parser.chain(Token::Bar, ExprKind::Or, |parser| {
                    parser.chain(Token::Ampersand, ExprKind::And, Parser::unary)
                })
            })
        })
    }

    /// `one sign one sign ..`: a chain, or `one` alone.
    fn chain(
        &mut self,
        sign: Token,
        kind: fn(Vec<Expr>) -> ExprKind,
        one: fn(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let start = self.position;
        let first = one(self)?;
        if self.kind() != sign {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat(sign) {
            items.push(one(self)?);
        }
        Ok(Expr { kind: kind(items), span: self.span_from(start) })
    }

    /// Prefix operators with their operands.
    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let start = self.position;
        let temporal = match self.word() {
            "EX" => Some((Quantifier::E, Unary::X)),
            "EF" => Some((Quantifier::E, Unary::F)),
            "EG" => Some((Quantifier::E, Unary::G)),
            "AX" => Some((Quantifier::A, Unary::X)),
            "AF" => Some((Quantifier::A, Unary::F)),
            "AG" => Some((Quantifier::A, Unary::G)),
            _ => None,
        };
        let kind = if let Some((quantifier, op)) = temporal {
            self.advance();
            ExprKind::Unary(quantifier, op, Box::new(self.deeper(Parser::unary)?))
        } else if self.kind() == Token::Not || self.at_negation() {
            self.advance();
            ExprKind::Not(Box::new(self.deeper(Parser::unary)?))
        } else if self.word() == "do" {
            self.advance();
            ExprKind::Do(self.term("an action")?)
        } else if self.kind_ahead(1) == Token::OpenBracket && matches!(self.word(), "E" | "A") {
            self.until()?
        } else if let Some(kind) = self.commitment()? {
            kind
        } else {
            return self.comparison();
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// Whether `not` begins a negation. Only an operand can follow it there, so `not` alone can still be a name.
    fn at_negation(&self) -> bool {
        let next = self.word_ahead(1);
        self.word() == "not"
            && match self.kind_ahead(1) {
                Token::Word => {
                    !is_reserved(next) && !matches!(next, "unless" | "U" | "R" | "W")
                        || matches!(next, "do" | "true" | "false" | "EX" | "EF" | "EG" | "AX" | "AF" | "AG")
                }
                Token::Open | Token::Not | Token::Number => true,
                _ => false,
            }
    }

    /// Reads something one nesting level deeper.
    pub(super) fn deeper<T>(&mut self, read: fn(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.deepen()?;
        let result = read(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// `E[f U g]`
    fn until(&mut self) -> Parsed<ExprKind> {
        let quantifier = if self.word() == "E" { Quantifier::E } else { Quantifier::A };
        self.advance();
        self.advance();
        let first = self.deeper(Parser::formula)?;
        let op = match self.word() {
            "U" => Binary::U,
            "R" => Binary::R,
            "W" => Binary::W,
            _ => return Err(self.expected("`U`, `R` or `W`")),
        };
        self.advance();
        let second = self.deeper(Parser::formula)?;
        self.expect(Token::CloseBracket, "`]`")?;
        Ok(ExprKind::Binary(quantifier, op, Box::new([first, second])))
    }

    /// `blind I(i, AF f)`, `persistent I(i, f) unless g`. Nothing else has two words in a row, so these
    /// words can still be used as names.
    fn commitment(&mut self) -> Parsed<Option<ExprKind>> {
        if self.word_ahead(1) != "I" || self.kind_ahead(2) != Token::Open {
            return Ok(None);
        }
        let commitment = match self.word() {
            "blind" => Commitment::Blind,
            "single_minded" => Commitment::SingleMinded,
            "open_minded" => Commitment::OpenMinded,
            "persistent" => {
                self.advance();
                let intention = self.attitude()?;
                self.expect_word("unless")?;
                let drop = self.deeper(Parser::unary)?;
                return Ok(Some(ExprKind::Persistent(Box::new([intention, drop]))));
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(ExprKind::Commit(commitment, Box::new(self.attitude()?))))
    }

    /// `B(i, f)`
    pub(super) fn attitude(&mut self) -> Parsed<Expr> {
        let start = self.position;
        let Some((op, dual)) = self.attitude_ahead() else {
            return Err(self.expected("an attitude such as `B(a, p)`"));
        };
        self.advance();
        self.advance();
        let agent = self.name("an agent")?;
        self.expect(Token::Comma, "`,`")?;
        let arg = Box::new(self.deeper(Parser::formula)?);
        self.expect(Token::Close, "`)`")?;
        Ok(Expr { kind: ExprKind::Attitude { op, dual, agent, arg }, span: self.span_from(start) })
    }

    /// `a + 1 < b`, or one primary.
    fn comparison(&mut self) -> Parsed<Expr> {
        let start = self.position;
        let left = self.sum()?;
        let rel = match self.kind() {
            Token::Equal => Rel::Eq,
            Token::Unequal => Rel::Ne,
            Token::Less => Rel::Lt,
            Token::AtMost => Rel::Le,
            Token::Greater => Rel::Gt,
            Token::AtLeast => Rel::Ge,
            _ => return Ok(left),
        };
        self.advance();
        let right = self.sum()?;
        Ok(Expr { kind: ExprKind::Compare(rel, Box::new([left, right])), span: self.span_from(start) })
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let start = self.position;
        let is_negative = self.eat(Token::Minus);
        let first = self.primary()?;
        if !is_negative && !matches!(self.kind(), Token::Plus | Token::Minus) {
            return Ok(first);
        }
        let mut items = vec![(is_negative, first)];
        loop {
            let is_negative = match self.kind() {
                Token::Plus => false,
                Token::Minus => true,
                _ => break,
            };
            self.advance();
            items.push((is_negative, self.primary()?));
        }
        Ok(Expr { kind: ExprKind::Sum(items), span: self.span_from(start) })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.position;
        let kind = match (self.kind(), self.word()) {
            (Token::Open, _) => {
                self.advance();
                let mut inner = self.deeper(Parser::formula)?;
                self.expect(Token::Close, "`)`")?;
                inner.span = self.span_from(start);
                return Ok(inner);
            }
            (Token::Number, _) => ExprKind::Number(self.number()?),
            (_, word @ ("true" | "false")) => {
                self.advance();
                ExprKind::Constant(word == "true")
            }
            _ if self.attitude_ahead().is_some() => return self.attitude(),
            (Token::Word, _) => ExprKind::Term(self.term("a formula")?),
            _ => return Err(self.expected("a formula")),
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }
}
