//! Parses processes. `<-` binds tightest, then `then`, then `par`, then `or`.

use masque_text::{Diagnostic, Parsed, Span};

use super::Parser;
use super::constraint::Context;
use crate::lexer::Token;
use crate::tree::{Constraint, Proc, ProcKind, Term};

impl Parser<'_> {
    /// Parses alternatives joined by `or`.
    pub(super) fn process(&mut self) -> Parsed<Proc> {
        let mut parts = vec![self.parallel()?];
        let or = self.span();
        while self.eat_word("or") {
            parts.push(self.parallel()?);
        }
        if parts.len() > 1 {
            self.warn_mixed(&parts, or);
        }
        Ok(joined(parts, ProcKind::Or))
    }

    /// Warns about `x then y or z`, where brackets would make the meaning obvious.
    fn warn_mixed(&mut self, parts: &[Proc], or: Span) {
        let is_bracketed = |part: &Proc| self.text_of(part.span).starts_with('(');
        let is_chain = |part: &&Proc| matches!(part.kind, ProcKind::Then(_) | ProcKind::Par(_));
        let Some(part) = parts.iter().find(|part| is_chain(part) && !is_bracketed(part)) else { return };
        let word = if matches!(part.kind, ProcKind::Then(_)) { "then" } else { "par" };
        let message = format!("`{word}` and `or` are mixed without brackets");
        let diagnostic = Diagnostic::warning("lcc/mixed-or", or, message)
            .label("the alternative to everything before it")
            .also(part.span, format!("`{word}` binds tighter than `or`: all of this is one alternative"))
            .hint("put brackets around each alternative to show what is meant");
        self.warn(diagnostic);
    }

    fn parallel(&mut self) -> Parsed<Proc> {
        let mut parts = vec![self.sequence()?];
        while self.eat_word("par") {
            parts.push(self.sequence()?);
        }
        Ok(joined(parts, ProcKind::Par))
    }

    fn sequence(&mut self) -> Parsed<Proc> {
        let mut parts = vec![self.step()?];
        while self.eat_word("then") {
            parts.push(self.step()?);
        }
        Ok(joined(parts, ProcKind::Then))
    }

    fn step(&mut self) -> Parsed<Proc> {
        let start = self.position;
        match (self.kind(), self.word()) {
            (Token::Open, _) => self.group(),
            (Token::OpenBrace, _) => self.frame(),
            (_, "null") if !self.is_term_ahead() => {
                self.advance();
                self.guarded(start, ProcKind::Null)
            }
            (_, "a") if self.kind_ahead(1) == Token::Open => {
                let agent = self.agent()?;
                self.guarded(start, ProcKind::Call(agent))
            }
            (Token::Not, _) | (_, "not") => {
                let literal = self.literal(Context::Process)?;
                self.postcondition(start, literal)
            }
            _ => self.message(start),
        }
    }

    /// Whether the current word begins a message or a comparison, rather than being a step by itself.
    fn is_term_ahead(&self) -> bool {
        matches!(self.kind_ahead(1), Token::Open | Token::Sends | Token::Receives | Token::Equal)
    }

    /// Parses `( process )`, or one step in brackets followed by its constraint.
    fn group(&mut self) -> Parsed<Proc> {
        let start = self.position;
        self.advance();
        let mut inner = self.nested(Self::process)?;
        self.expect(Token::Close, "`then`, `par`, `or` or `)`")?;
        inner.span = self.span_from(start);
        if self.kind() != Token::If {
            return Ok(inner);
        }
        match inner.kind {
            ProcKind::Null | ProcKind::Call(_) | ProcKind::Send(..) | ProcKind::Receive(..) => {
                self.guarded(start, inner.kind)
            }
            _ => {
                let message = "a constraint belongs to one step, not to a group";
                let diagnostic = Diagnostic::error("lcc/guarded-group", self.span(), message)
                    .also(inner.span, "this is more than one step")
                    .hint("write `null <- constraint then ( .. )`");
                Err(self.error(diagnostic))
            }
        }
    }

    /// Parses `{ a(Role, Id) :: process }`.
    fn frame(&mut self) -> Parsed<Proc> {
        let start = self.position;
        self.advance();
        let agent = self.agent()?;
        self.expect(Token::Defines, "`::`")?;
        let inner = self.nested(Self::process)?;
        self.expect(Token::CloseBrace, "`then`, `par`, `or` or `}`")?;
        Ok(Proc { kind: ProcKind::Frame(agent, Box::new(inner)), span: self.span_from(start) })
    }

    /// Parses the constraint of a step, if there is one.
    fn guarded(&mut self, start: usize, kind: ProcKind) -> Parsed<Proc> {
        let step = Proc { kind, span: self.span_from(start) };
        if !self.eat(Token::If) {
            return Ok(step);
        }
        let constraint = self.constraint(Context::Process)?;
        let kind = ProcKind::Guarded(Box::new(step), constraint);
        Ok(Proc { kind, span: self.span_from(start) })
    }

    /// Parses `M => A`, `M <= A`, or a postcondition.
    fn message(&mut self, start: usize) -> Parsed<Proc> {
        let message = self.term()?;
        match self.kind() {
            Token::Sends | Token::Receives => self.exchange(start, message),
            Token::If => {
                let literal = self.literal_from(message)?;
                self.postcondition(start, literal)
            }
            _ if self.continues_as_constraint() => {
                let literal = self.literal_from(message)?;
                self.postcondition(start, literal)
            }
            _ => Err(self.expected("`=>` or `<=` and an agent")),
        }
    }

    fn exchange(&mut self, start: usize, message: Term) -> Parsed<Proc> {
        let sends = self.kind() == Token::Sends;
        self.advance();
        let agent = self.agent()?;
        let kind = if sends { ProcKind::Send(message, agent) } else { ProcKind::Receive(message, agent) };
        self.guarded(start, kind)
    }

    /// Parses `constraint <- M <= A` of OpenKnowledge, which means the same as `M <= A <- constraint`.
    fn postcondition(&mut self, start: usize, first: Constraint) -> Parsed<Proc> {
        let constraint = self.constraint_from(first, Context::Process)?;
        self.expect(Token::If, "`<-` and the message this is the postcondition of")?;
        let step_start = self.position;
        let message = self.term()?;
        if self.kind() != Token::Receives {
            return Err(self
                .expected("`<=` and an agent: a constraint before `<-` is the postcondition of a receipt"));
        }
        self.advance();
        let agent = self.agent()?;
        let step = Proc { kind: ProcKind::Receive(message, agent), span: self.span_from(step_start) };
        let kind = ProcKind::Guarded(Box::new(step), constraint);
        Ok(Proc { kind, span: self.span_from(start) })
    }
}

fn joined(mut parts: Vec<Proc>, join: fn(Vec<Proc>) -> ProcKind) -> Proc {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let span = parts[0].span.to(parts[parts.len() - 1].span);
    Proc { kind: join(parts), span }
}
