//! The mu-calculus: `mu Z. phi`, `nu Z. phi`, `EX{condition} phi`.

use masque_text::Parsed;

use super::{Mode, Parser};
use crate::lexer::Token;
use crate::tree::{ExprId, Fixpoint, Kind, Op, Quantifier};

impl Parser<'_> {
    /// Parses a fixpoint or a labelled step, if one begins here.
    pub(super) fn mu_operator(&mut self, start: usize) -> Parsed<Option<ExprId>> {
        match (self.word(), self.kind_ahead(1), self.kind_ahead(2)) {
            ("mu" | "nu", Token::Word, Token::Dot) => self.fixpoint(start).map(Some),
            ("EX" | "AX", Token::OpenBrace, _) => self.step(start).map(Some),
            _ => Ok(None),
        }
    }

    /// Parses `mu Z. phi`, which extends as far to the right as possible.
    fn fixpoint(&mut self, start: usize) -> Parsed<ExprId> {
        if let Mode::Path { .. } = self.mode {
            let help = "fixpoints belong to state formulas without `LTL` or `CTL*`".to_string();
            return Err(self.wrong_logic("a fixpoint in a path formula", help));
        }
        let is_least = self.word() == "mu";
        self.advance();
        let (name, name_span) = self.name("a variable")?;
        self.expect(Token::Dot, "`.`")?;
        let body = self.binary(Op::LOOSEST)?;
        self.tree.fixpoints.push(Fixpoint { is_least, name, name_span, body });
        let index = self.tree.fixpoints.len() as u32 - 1;
        Ok(self.add(Kind::Fixpoint(index), self.span_from(start)))
    }

    /// Parses `EX{condition} phi`.
    fn step(&mut self, start: usize) -> Parsed<ExprId> {
        if let Mode::Path { .. } = self.mode {
            let help = "steps by what agents do belong to state formulas without `LTL` or `CTL*`".to_string();
            return Err(self.wrong_logic("a condition on a step in a path formula", help));
        }
        let quantifier = if self.word() == "AX" { Quantifier::All } else { Quantifier::Some };
        self.advance();
        self.advance();
        let condition = self.condition()?;
        self.expect(Token::CloseBrace, "an operator or `}`")?;
        let body = self.binary(Op::COMPARISON)?;
        Ok(self.add(Kind::Step(quantifier, condition, body), self.span_from(start)))
    }
}
