//! Programs: statements, choices, assignments.

use masque_text::{Diagnostic, Parsed};

use super::Parser;
use crate::lexer::Token;
use crate::tree::{Assign, Expr, ExprKind, Stmt, StmtKind, Target, Value};

impl Parser<'_> {
    /// Statements separated by `;`, perhaps none.
    pub(super) fn program(&mut self) -> Parsed<Vec<Stmt>> {
        let mut stmts = Vec::new();
        while !self.at_program_end() {
            stmts.push(self.choice()?);
            if !self.eat(Token::Semicolon) {
                break;
            }
        }
        Ok(stmts)
    }

    fn at_program_end(&self) -> bool {
        matches!(self.kind(), Token::End | Token::CloseBrace | Token::Close)
            || self.word() == "endloop"
            || self.at_item()
    }

    /// `s | t | ..`
    fn choice(&mut self) -> Parsed<Stmt> {
        let start = self.position;
        let first = self.unit()?;
        if self.kind() != Token::Bar {
            return Ok(first);
        }
        let mut units = vec![first];
        while self.eat(Token::Bar) {
            units.push(self.unit()?);
        }
        Ok(Stmt { kind: StmtKind::Choice(units), span: self.span_from(start) })
    }

    fn unit(&mut self) -> Parsed<Stmt> {
        let start = self.position;
        let kind = match (self.kind(), self.word()) {
            (_, "skip") => {
                self.advance();
                StmtKind::Skip
            }
            (_, "do") => {
                self.advance();
                StmtKind::Do(self.term("an action")?)
            }
            (_, "if") => self.conditional()?,
            (_, "loop") => {
                self.advance();
                let body = self.deeper(Parser::program)?;
                if !self.eat_word("endloop") {
                    return Err(self.expected("`;`, `|` or `endloop`"));
                }
                StmtKind::Loop(body)
            }
            (Token::OpenBrace, _) => self.block(Token::CloseBrace, "`;`, `|` or `}`")?,
            (Token::Open, _) => self.block(Token::Close, "`;`, `|` or `)`")?,
            (Token::Word, _) => StmtKind::Assign(self.assigns()?),
            _ => return Err(self.expected("a statement")),
        };
        Ok(Stmt { kind, span: self.span_from(start) })
    }

    fn block(&mut self, close: Token, what: &str) -> Parsed<StmtKind> {
        self.advance();
        let body = self.deeper(Parser::program)?;
        self.expect(close, what)?;
        Ok(StmtKind::Block(body))
    }

    /// `if c then s else if d then t else u`: a chain of any length is one statement.
    fn conditional(&mut self) -> Parsed<StmtKind> {
        self.deepen()?;
        let (mut arms, mut otherwise) = (Vec::new(), None);
        loop {
            let head = self.advance();
            let condition = self.formula()?;
            self.expect_word("then")?;
            self.need_body(head, "then")?;
            let body = self.unit()?;
            arms.push((condition, body));
            if !self.eat_word("else") {
                break;
            }
            if self.word() != "if" {
                self.need_body(head, "else")?;
                otherwise = Some(Box::new(self.unit()?));
                break;
            }
        }
        self.depth -= 1;
        Ok(StmtKind::If { arms, otherwise })
    }

    /// Reports a branch without a statement.
    fn need_body(&mut self, head: masque_text::Span, word: &str) -> Parsed<()> {
        let is_missing = self.at_program_end() || self.kind() == Token::Semicolon || self.word() == "else";
        if !is_missing {
            return Ok(());
        }
        let message = format!("this `if` has no body after `{word}`");
        let diagnostic = Diagnostic::error("bdi/missing-body", self.last_span(), message)
            .label("expected a statement after this")
            .also(head, "the `if` is here")
            .hint("a branch is one statement; put several in braces, and write `skip` to let time pass");
        Err(self.error(diagnostic))
    }

    /// `x := e, y := f`: one step.
    pub(super) fn assigns(&mut self) -> Parsed<Vec<Assign>> {
        self.list(Parser::assign)
    }

    fn assign(&mut self) -> Parsed<Assign> {
        let start = self.position;
        let target = if self.word() == "forall" {
            self.advance();
            let name = self.name("a name")?;
            self.expect_word("in")?;
            self.expect_word("AP")?;
            self.expect(Token::Colon, "`:`")?;
            let again = self.name("the same name")?;
            if again.text != name.text {
                let message = format!("`forall {}` assigns to `{}`", name.text, again.text);
                let diagnostic = Diagnostic::error("bdi/forall-names", again.span, message)
                    .label(format!("expected `{}`", name.text))
                    .also(name.span, "bound here");
                return Err(self.error(diagnostic));
            }
            Target::All(name)
        } else if self.attitude_ahead().is_some() {
            Target::Attitude(self.explicit_attitude()?)
        } else {
            Target::Term(self.term("a statement")?)
        };
        self.expect(Token::Assign, "`:=`")?;
        let value = if self.eat_word("any") { Value::Any } else { Value::Expr(self.unary()?) };
        Ok(Assign { target, value, span: self.span_from(start) })
    }

    /// `B(i, f)` as a variable; `PB(i, f)` is rejected.
    pub(super) fn explicit_attitude(&mut self) -> Parsed<Expr> {
        let dual = match self.attitude_ahead() {
            Some((_, dual)) => dual,
            None => return Err(self.expected("an attitude such as `B(a, p)`")),
        };
        if dual {
            let word = self.word();
            let help =
                format!("`{word}(i, f)` is short for `!{}(i, !f)`, which is not a variable", &word[1..]);
            return Err(self.expected_with("`B`, `D` or `I`", Some(help)));
        }
        let expr = self.attitude()?;
        debug_assert!(matches!(expr.kind, ExprKind::Attitude { dual: false, .. }));
        Ok(expr)
    }
}
