//! Programs: statements, choices, assignments.

use masque_text::{Diagnostic, Parsed};

use super::Parser;
use crate::lexer::Token;
use crate::tree::{Assign, Expr, ExprKind, Stmt, StmtKind, Target, Value};

impl Parser<'_> {
    /// Statements separated by `;`, perhaps none.
    pub(super) fn program(&mut self) -> Parsed<Vec<Stmt>> {
        let stmts = self.statements()?;
        if self.word() == "else" {
            let help = "no `if` is open here: every `if` before it has its `else`, or its block is closed";
            return Err(self.expected_with("a statement", Some(help.to_string())));
        }
        Ok(stmts)
    }

    /// Statements up to the end of the block, or up to an `else` that belongs to no `if` among them.
    ///
    /// `; else` belongs to the nearest `if` that has no `else` yet. The branch of that `if` is everything since its
    /// `then`, and the branches after it are read in the same way, so the last one ends with the block.
    /// [BB04 Example 1]
    fn statements(&mut self) -> Parsed<Vec<Stmt>> {
        let mut stmts = Vec::new();
        loop {
            while self.word() == "else" && self.attach_else(&mut stmts)? {}
            if self.at_program_end() || self.word() == "else" {
                return Ok(stmts);
            }
            stmts.push(self.choice()?);
            if !self.eat(Token::Semicolon) && self.word() != "else" {
                return Ok(stmts);
            }
        }
    }

    /// Reads the branches from `else` on, for the last open `if` of these statements. Returns whether there is one.
    fn attach_else(&mut self, stmts: &mut Vec<Stmt>) -> Parsed<bool> {
        let Some(index) = stmts.iter().rposition(has_open_if) else { return Ok(false) };
        let tail = stmts.split_off(index + 1);
        let Some(last) = stmts.last_mut() else { return Ok(false) };
        let Some(stmt) = open_if(last) else { return Ok(false) };
        self.note_else(stmt.span, tail.len());
        let StmtKind::If { arms, otherwise } = &mut stmt.kind else { return Ok(false) };
        if let (Some((_, body)), false) = (arms.last_mut(), tail.is_empty()) {
            let span = tail.last().map_or(body.span, |end| body.span.to(end.span));
            let first = std::mem::replace(body, Stmt { kind: StmtKind::Skip, span });
            let stmts = std::iter::once(first).chain(tail).collect();
            *body = Stmt { kind: StmtKind::Block(stmts), span };
        }
        let head = stmt.span;
        while self.eat_word("else") {
            let condition = if self.word() == "if" {
                self.advance();
                let condition = self.formula()?;
                self.expect_word("then")?;
                Some(condition)
            } else {
                None
            };
            self.need_body(head, if condition.is_some() { "then" } else { "else" })?;
            let start = self.position;
            let stmts = self.deeper(Parser::statements)?;
            let body = Stmt { kind: StmtKind::Block(stmts), span: self.span_from(start) };
            match condition {
                Some(condition) => arms.push((condition, body)),
                None => {
                    *otherwise = Some(Box::new(body));
                    break;
                }
            }
        }
        stmt.span = head.to(self.last_span());
        Ok(true)
    }

    /// Notes what `; else` belongs to.
    fn note_else(&mut self, head: masque_text::Span, n_more: usize) {
        let message = format!("this `else` belongs to the `if` whose branch has {} statement(s)", n_more + 1);
        let note = Diagnostic::note("bdi/else-after-semicolon", self.span(), message)
            .label("its last branch ends with the block")
            .also(head, "the branch begins after this `then`")
            .hint("put the statements of each branch in braces: `if c then { s; t } else { u }`");
        self.warn(note);
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
            (Token::Word | Token::ForAll, _) => StmtKind::Assign(self.assigns()?),
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
            .hint("a branch is one statement; put several in braces, and write `skip` to let time pass")
            .fix("insert `skip`", self.last_span().after(), " skip");
        Err(self.error(diagnostic))
    }

    /// `x := e, y := f`: one step.
    pub(super) fn assigns(&mut self) -> Parsed<Vec<Assign>> {
        self.list(Parser::assign)
    }

    fn assign(&mut self) -> Parsed<Assign> {
        let start = self.position;
        let target = if self.word() == "forall" || self.kind() == Token::ForAll {
            if self.kind() == Token::ForAll {
                self.rewrite(self.span(), "forall ".to_string());
            }
            self.advance();
            let name = self.name("a name")?;
            if !self.eat(Token::Element) {
                self.expect_word("in")?;
            }
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
            Target::All(name, again.span)
        } else if self.attitude_ahead().or(self.subscript_ahead()).is_some() {
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
        let dual = match self.attitude_ahead().or(self.subscript_ahead()) {
            Some((_, dual)) => dual,
            None => return Err(self.expected("an attitude such as `B(a, p)`")),
        };
        if dual {
            let word = self.word().split('_').next().unwrap_or_default();
            let help =
                format!("`{word}(i, f)` is short for `!{}(i, !f)`, which is not a variable", &word[1..]);
            return Err(self.expected_with("`B`, `D` or `I`", Some(help)));
        }
        let expr = self.attitude()?;
        debug_assert!(matches!(expr.kind, ExprKind::Attitude { dual: false, .. }));
        Ok(expr)
    }
}

/// Whether an `else` can still follow a statement.
fn has_open_if(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::If { otherwise: None, .. } => true,
        StmtKind::If { otherwise: Some(last), .. } => has_open_if(last),
        StmtKind::Choice(stmts) => stmts.last().is_some_and(has_open_if),
        _ => false,
    }
}

/// Returns the innermost `if` at the end of a statement that has no `else`.
fn open_if(stmt: &mut Stmt) -> Option<&mut Stmt> {
    let inner_is_open = match &stmt.kind {
        StmtKind::If { arms, otherwise: None } => arms.last().is_some_and(|(_, body)| has_open_if(body)),
        StmtKind::If { otherwise: Some(last), .. } => has_open_if(last),
        StmtKind::Choice(stmts) => stmts.last().is_some_and(has_open_if),
        _ => false,
    };
    if !inner_is_open {
        return matches!(stmt.kind, StmtKind::If { otherwise: None, .. }).then_some(stmt);
    }
    match &mut stmt.kind {
        StmtKind::If { arms, otherwise: None } => arms.last_mut().and_then(|(_, body)| open_if(body)),
        StmtKind::If { otherwise: Some(last), .. } => open_if(last),
        StmtKind::Choice(stmts) => stmts.last_mut().and_then(open_if),
        _ => None,
    }
}
