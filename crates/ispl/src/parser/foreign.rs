//! Logics of other tools that Masque does not decide: Strategy Logic and ATL*.
//!
//! Both are recognised by their syntax, so that a file written for such a tool gets one message that
//! names the logic and says what would be accepted.

use masque_text::{Diagnostic, Parsed, Reported};

use super::Parser;
use crate::lexer::Token;

const STATE_GOALS: &str = "`<g>` may be followed by `X p`, `F p`, `G p` or `(p U q)`, where `p` and `q` are \
                           state formulas: `<g>G AF p`, `<g>F <h>G p`";

impl Parser<'_> {
    /// Returns whether Strategy Logic begins here: `<<x>>`, `[[x]]` or `#PR`.
    pub(super) fn strategy_logic_ahead(&self) -> bool {
        let twice = |sign| self.kind() == sign && self.kind_ahead(1) == sign;
        let is_directive = self.kind() == Token::Unknown && self.text_here().starts_with('#');
        twice(Token::Less) || twice(Token::OpenBracket) || is_directive
    }

    /// Reports a formula of Strategy Logic.
    pub(super) fn strategy_logic(&mut self) -> Reported {
        let start = self.position;
        let (sign, ahead) = match self.kind() {
            Token::Less => ("`<<x>>` quantifies over strategies", Token::Greater),
            Token::OpenBracket => ("`[[x]]` quantifies over strategies", Token::CloseBracket),
            _ => ("`#` chooses the kind of strategies", Token::Unknown),
        };
        // The quantifier with its closing signs, if they are within 8 tokens.
        while self.kind() != Token::End && self.position < start + 8 && self.kind() != ahead {
            self.advance();
        }
        let end = if ahead == Token::Unknown { start } else { self.position + 1 };
        let end = if self.tokens.kind(end) == ahead { end } else { start };
        self.position = start;
        let span = self.tokens.span(start).to(self.tokens.span(end));
        let message = format!("{sign}: this is Strategy Logic, which Masque does not decide");
        self.error(
            Diagnostic::error("ispl/strategy-logic", span, message)
                .label("Strategy Logic begins here")
                .hint("write what a group can enforce in ATL: `<g>F p`, `<{Alice, Bob}>(p U q)`"),
        )
    }

    /// Reports a temporal operator without a quantifier in the goal of a coalition.
    pub(super) fn path_goal(&mut self, word: &str) -> Reported {
        let message = format!(
            "`{word}` without a quantifier in the goal of `<g>`: this is ATL*, which Masque does not decide"
        );
        let span = self.span();
        self.error(Diagnostic::error("ispl/atl-star", span, message).hint(STATE_GOALS))
    }

    /// Reports a section of ATL* files, once per file: `StrType` of an agent, or `Formulae_ast`.
    pub(super) fn atl_star_section(&mut self, what: &str) -> Parsed<()> {
        if std::mem::replace(&mut self.is_atl_star, true) {
            return Err(Reported);
        }
        let (message, span) = (format!("{what}: this is ATL*, which Masque does not decide"), self.span());
        Err(self.error(Diagnostic::error("ispl/atl-star", span, message).hint(format!(
            "write ATL formulas in `Formulae`, with the kind of strategies in the formula: \
             `<g, uniform>F p`; {STATE_GOALS}"
        ))))
    }
}
