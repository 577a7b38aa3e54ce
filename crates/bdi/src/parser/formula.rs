//! Formulas and arithmetic: `<->` binds weakest, then `->`, `|`, `&`, prefixes and comparisons.

use masque_text::Parsed;

use super::Parser;
use crate::lexer::{Token, is_reserved};
use crate::tree::{Binary, Commitment, Expr, ExprKind, Name, Op, Quantifier, Rel, Unary};

impl Parser<'_> {
    /// `f <-> g <-> ..`
    pub(super) fn formula(&mut self) -> Parsed<Expr> {
        self.chain(&[Token::Iff], ExprKind::Iff, |parser| {
            parser.chain(&[Token::Implies], ExprKind::Implies, |parser| {
                parser.chain(&[Token::Bar, Token::Vee], ExprKind::Or, |parser| {
                    parser.chain(&[Token::Ampersand], ExprKind::And, Parser::unary)
                })
            })
        })
    }

    /// `one sign one sign ..`: a chain, or `one` alone.
    fn chain(
        &mut self,
        signs: &[Token],
        kind: fn(Vec<Expr>) -> ExprKind,
        one: fn(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let start = self.position;
        let first = one(self)?;
        if !signs.contains(&self.kind()) {
            return Ok(first);
        }
        let mut items = vec![first];
        while signs.contains(&self.kind()) {
            self.advance();
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
        } else if self.at_until() {
            let quantifier = if self.word() == "E" { Quantifier::E } else { Quantifier::A };
            self.advance();
            self.until(quantifier)?
        } else if matches!(self.kind(), Token::ForAll | Token::Exists) {
            self.quantified()?
        } else if self.subscript_ahead().is_some() {
            return self.attitude();
        } else if let Some(kind) = self.commitment()? {
            kind
        } else {
            return self.comparison();
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// Whether `not` begins a negation. Only an operand can follow it there, so `not` alone can still be a name.
    fn at_negation(&self) -> bool {
        self.word() == "not" && (self.is_operand_ahead(1) || self.kind_ahead(1) == Token::Number)
    }

    /// Whether the token after the next `ahead` tokens begins an operand and cannot continue what stands before it.
    pub(super) fn is_operand_ahead(&self, ahead: usize) -> bool {
        let next = self.word_ahead(ahead);
        match self.kind_ahead(ahead) {
            Token::Word => {
                !is_reserved(next) && !matches!(next, "unless" | "U" | "R" | "W")
                    || matches!(next, "do" | "true" | "false" | "EX" | "EF" | "EG" | "AX" | "AF" | "AG")
            }
            Token::Open | Token::Not => true,
            Token::ForAll | Token::Exists | Token::Verum | Token::Falsum => true,
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

    /// Whether `E[f U g]` or `E(f U g)` stands here. `E(f)` is a name with an argument.
    fn at_until(&self) -> bool {
        matches!(self.word(), "E" | "A")
            && match self.kind_ahead(1) {
                Token::OpenBracket => true,
                Token::Open => self.has_until(),
                _ => false,
            }
    }

    /// Whether the brackets after the current word have a `U`, `R` or `W` between two operands.
    fn has_until(&self) -> bool {
        let mut open = 0usize;
        for ahead in 1.. {
            match self.kind_ahead(ahead) {
                Token::Open | Token::OpenBracket => open += 1,
                Token::Close | Token::CloseBracket => open -= 1,
                Token::Word
                    if open == 1
                        && matches!(self.word_ahead(ahead), "U" | "R" | "W")
                        && self.is_operand_end(ahead - 1) =>
                {
                    return true;
                }
                Token::End | Token::Semicolon => return false,
                _ => {}
            }
            if open == 0 {
                return false;
            }
        }
        false
    }

    /// Whether an operand can end with the token after the next `ahead` tokens.
    fn is_operand_end(&self, ahead: usize) -> bool {
        match self.kind_ahead(ahead) {
            Token::Word => {
                let word = self.word_ahead(ahead);
                matches!(word, "true" | "false") || !is_reserved(word) && !matches!(word, "not" | "unless")
            }
            kind => {
                matches!(
                    kind,
                    Token::Number | Token::Close | Token::CloseBracket | Token::Verum | Token::Falsum
                )
            }
        }
    }

    /// `∃X f`, `∃(f U g)`, `∃ f U g` and the same with `∀`.
    fn quantified(&mut self) -> Parsed<ExprKind> {
        let sign = self.span();
        let (quantifier, letter) = match self.kind() {
            Token::Exists => (Quantifier::E, "E"),
            _ => (Quantifier::A, "A"),
        };
        self.advance();
        let op = match self.word() {
            "X" => Some(Unary::X),
            "F" => Some(Unary::F),
            "G" => Some(Unary::G),
            _ => None,
        };
        if let Some(op) = op {
            let word = self.word();
            self.rewrite(sign.to(self.span()), format!("{letter}{word} "));
            self.advance();
            return Ok(ExprKind::Unary(quantifier, op, Box::new(self.deeper(Parser::unary)?)));
        }
        if matches!(self.kind(), Token::Open | Token::OpenBracket) {
            self.rewrite(sign, letter.to_string());
            return self.until(quantifier);
        }
        if !self.is_operand_ahead(0) {
            return Err(self.expected("`X`, `F`, `G` or a formula with `U`"));
        }
        self.rewrite(sign, format!("{letter}["));
        let first = self.deeper(Parser::unary)?;
        let op = self.between()?;
        let second = self.deeper(Parser::unary)?;
        self.rewrite(self.last_span().after(), "]".to_string());
        Ok(ExprKind::Binary(quantifier, op, Box::new([first, second])))
    }

    /// `[f U g]` or `(f U g)`
    fn until(&mut self, quantifier: Quantifier) -> Parsed<ExprKind> {
        let is_round = self.kind() == Token::Open;
        let open = self.advance();
        let first = self.deeper(Parser::formula)?;
        let op = self.between()?;
        let second = self.deeper(Parser::formula)?;
        let close = if is_round {
            self.expect(Token::Close, "`)`")?
        } else {
            self.expect(Token::CloseBracket, "`]`")?
        };
        if is_round {
            self.rewrite(open, "[".to_string());
            self.rewrite(close, "]".to_string());
        }
        Ok(ExprKind::Binary(quantifier, op, Box::new([first, second])))
    }

    /// `U`, `R` or `W`
    fn between(&mut self) -> Parsed<Binary> {
        let op = match self.word() {
            "U" => Binary::U,
            "R" => Binary::R,
            "W" => Binary::W,
            _ => return Err(self.expected("`U`, `R` or `W`")),
        };
        self.advance();
        Ok(op)
    }

    /// `blind I(i, AF f)`, `persistent I(i, f) unless g`. Nothing else has two words in a row, so these
    /// words can still be used as names.
    fn commitment(&mut self) -> Parsed<Option<ExprKind>> {
        if !self.is_intention_ahead() {
            return Ok(None);
        }
        let commitment = match self.word() {
            "blind" => Commitment::Blind,
            "single_minded" => Commitment::SingleMinded,
            "open_minded" => Commitment::OpenMinded,
            "persistent" => {
                self.advance();
                let intention = self.intention()?;
                self.expect_word("unless")?;
                let drop = self.deeper(Parser::unary)?;
                return Ok(Some(ExprKind::Persistent(Box::new([intention, drop]))));
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(ExprKind::Commit(commitment, Box::new(self.intention()?))))
    }

    /// Whether `I(i, f)`, `I_i f` or `I_i(f)` follows the current word. After the last value of `init`, `I_i` may
    /// begin the program.
    fn is_intention_ahead(&self) -> bool {
        let is_call = self.kind_ahead(2) == Token::Open;
        match self.subscripted_word(1) {
            Some(found) => {
                found == (Op::I, false) && !self.is_in_init && (is_call || self.is_operand_ahead(2))
            }
            None => self.word_ahead(1) == "I" && is_call,
        }
    }

    /// The intention of a commitment. Unlike elsewhere, `I_i(f)` is always an attitude.
    fn intention(&mut self) -> Parsed<Expr> {
        let start = self.position;
        if self.subscripted_word(0).is_none() || self.kind_ahead(1) != Token::Open {
            return self.attitude();
        }
        let agent = self.subscript();
        self.rewrite(self.last_span(), Op::I.name().to_string());
        self.expect(Token::Open, "`(`")?;
        self.rewrite(self.last_span().after(), format!("{}, ", agent.text));
        let arg = Box::new(self.deeper(Parser::formula)?);
        self.expect(Token::Close, "`)`")?;
        let kind = ExprKind::Attitude { op: Op::I, dual: false, agent, arg };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// `B(i, f)`
    pub(super) fn attitude(&mut self) -> Parsed<Expr> {
        let start = self.position;
        if let Some((op, dual)) = self.subscript_ahead() {
            let (agent, arg) = self.subscripted()?;
            return Ok(Expr {
                kind: ExprKind::Attitude { op, dual, agent, arg },
                span: self.span_from(start),
            });
        }
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

    /// `B_i f`: the agent and the argument.
    fn subscripted(&mut self) -> Parsed<(Name, Box<Expr>)> {
        let letters = self.word().split('_').next().unwrap_or_default();
        let agent = self.subscript();
        self.rewrite(self.last_span(), format!("{letters}({}, ", agent.text));
        let arg = Box::new(self.deeper(Parser::unary)?);
        self.rewrite(self.last_span().after(), ")".to_string());
        Ok((agent, arg))
    }

    /// Reads `B_i`; returns the agent.
    pub(super) fn subscript(&mut self) -> Name {
        let (word, span) = (self.word(), self.span());
        let at = word.find('_').map_or(0, |at| at + 1);
        self.advance();
        Name { text: word[at..].to_string(), span: span.slice(at as u32, word.len() as u32) }
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
            (kind @ (Token::Verum | Token::Falsum), _) => {
                self.advance();
                ExprKind::Constant(kind == Token::Verum)
            }
            _ if self.attitude_ahead().is_some() => return self.attitude(),
            (Token::Word, _) => ExprKind::Term(self.term("a formula")?),
            _ => return Err(self.expected("a formula")),
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }
}
