//! Coalitions: `<g>X p`, `<g, uniform>(p U q)`.

use masque_text::Parsed;

use masque_model::Strategies;

use super::{Mode, Parser};
use crate::lexer::Token;
use crate::tree::{ExprId, Kind, Modal, Modality, Op, Temporal};

impl Parser<'_> {
    /// Parses `<g>X p` or `<g, uniform>(p U q)`.
    pub(super) fn coalition(&mut self, start: usize) -> Parsed<ExprId> {
        if let Mode::Path { .. } = self.mode {
            let help = "coalitions belong to state formulas without `LTL` or `CTL*`".to_string();
            return Err(self.wrong_logic("a coalition in a path formula", help));
        }
        self.advance();
        let party = self.party(Modality::EveryoneKnows)?;
        let strategies = if self.eat(Token::Comma) { Some(self.strategies()?) } else { None };
        self.expect(Token::Greater, "`,` or `>`")?;
        self.n_coalitions += 1;
        let body = self.goal();
        self.n_coalitions -= 1;
        let modality = Modality::Enforces(strategies);
        let body = body?;
        Ok(self.add_modal(start, Modal { modality, parties: vec![party], body }))
    }

    /// Parses the goal: `X p`, `F p`, `G p` or `(p U q)`.
    fn goal(&mut self) -> Parsed<ExprId> {
        let at = self.position;
        let temporal = match self.word() {
            "X" => Some(Temporal::Next),
            "F" => Some(Temporal::Finally),
            "G" => Some(Temporal::Globally),
            _ => None,
        };
        if let Some(temporal) = temporal {
            self.advance();
            let operand = self.binary(Op::COMPARISON)?;
            return Ok(self.add(Kind::Temporal(temporal, operand), self.span_from(at)));
        }
        self.expect(Token::Open, "`X`, `F`, `G`, or `U` in brackets")?;
        let left = self.binary(Op::LOOSEST)?;
        let path = self.until(at + 1, left)?;
        self.expect(Token::Close, "an operator or `)`")?;
        Ok(path)
    }

    /// Parses the kind of strategies: `uniform`, `uniform-joint`, ..
    fn strategies(&mut self) -> Parsed<Strategies> {
        let expected = "`perfect`, `uniform`, `uniform-joint` or `uniform-objective`";
        let first = self.word();
        if !matches!(first, "perfect" | "uniform") {
            let help = masque_text::did_you_mean(first, ["perfect", "uniform"])
                .unwrap_or("a set of agents is written in braces: `<{Alice, Bob}>`".to_string());
            return Err(self.expected_with(expected, Some(help)));
        }
        self.advance();
        if first == "perfect" {
            return Ok(Strategies::Perfect);
        }
        if !self.eat(Token::Minus) {
            return Ok(Strategies::Uniform);
        }
        let strategies = match self.word() {
            "joint" => Strategies::UniformJoint,
            "objective" => Strategies::UniformObjective,
            _ => return Err(self.expected("`joint` or `objective`")),
        };
        self.advance();
        Ok(strategies)
    }
}
