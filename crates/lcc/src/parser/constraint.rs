//! Parses constraints, and the bodies of facts and rules.

use masque_text::{Diagnostic, Parsed, Reported};

use super::Parser;
use crate::lexer::Token;
use crate::tree::{Constraint, ConstraintKind, Term, TermKind, Triple};

/// The context of a constraint, which determines what `or` and `,` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// After `<-` in a process: `or` belongs to the process.
    Process,
    /// In brackets after `<-` in a process: `or` is a disjunction.
    Brackets,
    /// The body of a fact or rule: `or` is a disjunction, `,` a conjunction.
    Body,
}

impl Parser<'_> {
    /// Parses conjunctions of literals, joined by `or`.
    pub(super) fn constraint(&mut self, context: Context) -> Parsed<Constraint> {
        let first = self.literal(context)?;
        self.constraint_from(first, context)
    }

    /// Parses the rest of a constraint whose first literal has been parsed.
    pub(super) fn constraint_from(&mut self, first: Constraint, context: Context) -> Parsed<Constraint> {
        let mut alternatives = vec![self.conjunction_from(first, context)?];
        while self.at_or(context) {
            self.advance();
            let first = self.literal(context)?;
            alternatives.push(self.conjunction_from(first, context)?);
        }
        Ok(joined(alternatives, ConstraintKind::Or))
    }

    fn conjunction_from(&mut self, first: Constraint, context: Context) -> Parsed<Constraint> {
        let mut parts = vec![first];
        while self.at_and(context) {
            self.advance();
            parts.push(self.literal(context)?);
        }
        Ok(joined(parts, ConstraintKind::And))
    }

    fn at_or(&self, context: Context) -> bool {
        matches!(self.kind(), Token::Or | Token::Semicolon)
            || (context != Context::Process && self.word() == "or")
    }

    fn at_and(&self, context: Context) -> bool {
        self.kind() == Token::And
            || self.word() == "and"
            || (context == Context::Body && self.kind() == Token::Comma)
    }

    /// Whether the next token makes the preceding term part of a constraint.
    pub(super) fn continues_as_constraint(&self) -> bool {
        self.comparison().is_some() || self.at_and(Context::Process) || self.at_or(Context::Process)
    }

    /// Parses a literal, negated or not.
    pub(super) fn literal(&mut self, context: Context) -> Parsed<Constraint> {
        let start = self.position;
        if self.kind() == Token::Not || self.word() == "not" {
            self.advance();
            let inner = self.nested(|parser| parser.literal(context))?;
            let kind = ConstraintKind::Not(Box::new(inner));
            return Ok(Constraint { kind, span: self.span_from(start) });
        }
        let constraint = self.positive(context)?;
        self.as_literal(constraint)
    }

    /// Reports a constraint that is a term without a name, such as a variable or a number.
    fn as_literal(&mut self, constraint: Constraint) -> Parsed<Constraint> {
        match &constraint.kind {
            ConstraintKind::Atom(term) if !is_callable(term) => Err(self.not_a_literal(term)),
            _ => Ok(constraint),
        }
    }

    /// Parses what may follow `not`: a comparison, a constraint in brackets, or a term of any kind.
    fn positive(&mut self, context: Context) -> Parsed<Constraint> {
        let left = match self.kind() {
            Token::Open => match self.brackets(context)? {
                // `(X + 1) * 2 < Y`: the brackets enclose a term.
                Constraint { kind: ConstraintKind::Atom(term), .. } if self.continues_as_term() => {
                    let product = self.product_from(term)?;
                    self.sum_from(product)?
                }
                constraint => return Ok(constraint),
            },
            _ => self.term()?,
        };
        if self.comparison().is_some() { self.literal_from(left) } else { Ok(atom(left)) }
    }

    fn continues_as_term(&self) -> bool {
        matches!(self.kind(), Token::Plus | Token::Minus | Token::Star | Token::Slash)
            || self.word() == "mod"
            || self.comparison().is_some()
    }

    /// Parses the rest of a literal whose first term has been parsed.
    pub(super) fn literal_from(&mut self, left: Term) -> Parsed<Constraint> {
        let Some(op) = self.comparison() else { return self.as_literal(atom(left)) };
        self.advance();
        let right = self.term()?;
        let span = left.span.to(right.span);
        Ok(Constraint { kind: ConstraintKind::Compare(op, left, right), span })
    }

    fn not_a_literal(&mut self, term: &Term) -> Reported {
        let text = self.text_of(term.span);
        let diagnostic =
            Diagnostic::error("lcc/no-constraint", term.span, format!("`{text}` is not a constraint")).hint(
                "a constraint is a name with arguments, a comparison, or a question to the policies: \
                   `p(X)`, `X < 3`, `(X, Y, +act)`",
            );
        self.error(diagnostic)
    }

    fn comparison(&self) -> Option<&'static str> {
        Some(match self.kind() {
            Token::Equal => "=",
            Token::Differs => "\\=",
            Token::Same => "==",
            Token::NotSame => "\\==",
            Token::Less => "<",
            Token::Greater => ">",
            Token::AtMost => "=<",
            Token::AtLeast => ">=",
            Token::Word if self.word() == "is" => "is",
            _ => return None,
        })
    }

    /// Parses `( constraint )` or `(S, O, +act)`.
    fn brackets(&mut self, context: Context) -> Parsed<Constraint> {
        let start = self.position;
        self.advance();
        let inside = if context == Context::Body { Context::Body } else { Context::Brackets };
        let first = self.nested(|parser| parser.item(inside))?;
        if self.kind() != Token::Comma {
            // A term alone in brackets may be the first operand of an expression.
            let first = if self.kind() == Token::Close { first } else { self.as_literal(first)? };
            let mut constraint = self.nested(|parser| parser.constraint_from(first, inside))?;
            self.expect(Token::Close, "`and`, `or`, `,` or `)`")?;
            constraint.span = self.span_from(start);
            return Ok(constraint);
        }
        self.advance();
        let second = self.nested(|parser| parser.item(inside))?;
        if self.kind() == Token::Comma && self.at_signed_action(1) {
            self.advance();
            let triple = self.triple(first, second)?;
            self.expect(Token::Close, "`)`")?;
            return Ok(Constraint { kind: ConstraintKind::Triple(triple), span: self.span_from(start) });
        }
        if context != Context::Body {
            return Err(self.expected("`,` and `+action` or `-action`"));
        }
        // A conjunction with commas, whose first two parts have been parsed.
        let (first, second) = (self.as_literal(first)?, self.as_literal(second)?);
        let second = self.conjunction_from(second, inside)?;
        let conjunction = joined(vec![first, second], ConstraintKind::And);
        let mut constraint = self.nested(|parser| parser.constraint_from(conjunction, inside))?;
        self.expect(Token::Close, "`,`, `or` or `)`")?;
        constraint.span = self.span_from(start);
        Ok(constraint)
    }

    /// Parses a literal, or a term of any kind, which may be the subject or object of a triple.
    fn item(&mut self, context: Context) -> Parsed<Constraint> {
        match self.kind() {
            Token::Not => self.literal(context),
            _ if self.word() == "not" => self.literal(context),
            _ => self.positive(context),
        }
    }

    fn at_signed_action(&self, ahead: usize) -> bool {
        let sign = matches!(self.kind_ahead(ahead), Token::Plus | Token::Minus);
        sign && matches!(self.kind_ahead(ahead + 1), Token::Word | Token::Quoted | Token::Dotted)
    }

    fn triple(&mut self, subject: Constraint, object: Constraint) -> Parsed<Box<Triple>> {
        let subject = self.party(subject)?;
        let object = self.party(object)?;
        let permits = self.kind() == Token::Plus;
        self.advance();
        let action = self.nested(Self::term)?;
        Ok(Box::new(Triple { subject, object, permits, action }))
    }

    fn party(&mut self, constraint: Constraint) -> Parsed<Term> {
        match constraint.kind {
            ConstraintKind::Atom(term) => Ok(term),
            _ => {
                let message = "the parties of a policy triple must be terms";
                Err(self.error(Diagnostic::error("lcc/no-constraint", constraint.span, message)))
            }
        }
    }
}

fn atom(term: Term) -> Constraint {
    let span = term.span;
    Constraint { kind: ConstraintKind::Atom(term), span }
}

/// Whether a term may be called: a name, with or without arguments.
fn is_callable(term: &Term) -> bool {
    matches!(term.kind, TermKind::App(..))
}

fn joined(mut parts: Vec<Constraint>, join: fn(Vec<Constraint>) -> ConstraintKind) -> Constraint {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let span = parts[0].span.to(parts[parts.len() - 1].span);
    Constraint { kind: join(parts), span }
}
