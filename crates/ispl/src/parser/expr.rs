//! Conditions, arithmetic and formulas, by precedence.
//!
//! The precedence is `Op::level`; a chain of operators of one level is one node, for any length.
//! Path formulas differ from state formulas in two points: `U` is a binary operator, and `!` applies
//! to a following `U` as a whole.

use masque_model::Relation;
use masque_text::{Diagnostic, Parsed, Reported, Span};

use super::{Mode, Parser, is_infix};
use crate::lexer::Token;
use crate::tree::{Aggregate, ExprId, Function, Kind, Modal, Modality, Op, Party, Quantifier, Temporal};

impl Parser<'_> {
    /// Parses a condition or an arithmetic expression.
    pub(super) fn condition(&mut self) -> Parsed<ExprId> {
        self.in_mode(Mode::Condition, Op::LOOSEST)
    }

    /// Parses an expression over parameters and index variables.
    pub(super) fn index_expr(&mut self) -> Parsed<ExprId> {
        self.in_mode(Mode::Condition, Op::SUM)
    }

    pub(super) fn formula(&mut self, mode: Mode) -> Parsed<ExprId> {
        self.in_mode(mode, Op::LOOSEST)
    }

    fn in_mode(&mut self, mode: Mode, level: u8) -> Parsed<ExprId> {
        let outer = std::mem::replace(&mut self.mode, mode);
        let depth = self.depth;
        let result = self.binary(level);
        self.depth = depth;
        self.mode = outer;
        result
    }

    /// Parses an expression whose operators have at least this level.
    pub(super) fn binary(&mut self, level: u8) -> Parsed<ExprId> {
        let start = self.position;
        let mut left = self.operand()?;
        loop {
            if let Some(relation) = self.relation() {
                if level > Op::COMPARISON {
                    return Ok(left);
                }
                left = self.comparison(start, left, relation)?;
                continue;
            }
            match self.operator() {
                Some(op) if op.level() >= level => left = self.chain(start, left, op.level())?,
                _ => return Ok(left),
            }
        }
    }

    fn comparison(&mut self, start: usize, left: ExprId, relation: Relation) -> Parsed<ExprId> {
        self.advance();
        let right = self.binary(Op::COMPARISON + 1)?;
        if self.relation().is_some() {
            let span = self.span();
            let message = "comparisons do not chain";
            return Err(self.error(
                Diagnostic::error("ispl/comparison-chain", span, message)
                    .label("a second comparison")
                    .hint("write `a < b and b < c`, or use brackets to compare truth values"),
            ));
        }
        Ok(self.add(Kind::Compare(relation, left, right), self.span_from(start)))
    }

    /// Parses the rest of `left op b op c ..` with operators of one level.
    fn chain(&mut self, start: usize, left: ExprId, level: u8) -> Parsed<ExprId> {
        let is_path = matches!(self.mode, Mode::Path { .. });
        let mut bare_until = is_path.then(|| self.bare_until(left)).flatten();
        let (mut operands, mut ops) = (vec![left], Vec::new());
        while let Some(op) = self.operator().filter(|op| op.level() == level) {
            self.advance();
            ops.push(op);
            let operand = self.binary(level + 1)?;
            if is_path && bare_until.is_none() {
                bare_until = self.bare_until(operand);
            }
            operands.push(operand);
        }
        let span = self.span_from(start);
        match bare_until {
            Some(until) if level < Op::UNTIL => self.warn(
                Diagnostic::warning("ispl/until-binds-tighter", until, "`U` binds tighter than `and`, `or` and `->` here")
                    .label("this is one operand")
                    .also(span, "of this formula")
                    .hint("in LTL and CTL* write the brackets; only CTL's `E( U )` and `A( U )` read it the other way"),
            ),
            _ if level == Op::UNTIL && ops.len() > 1 => self.warn(
                Diagnostic::warning("ispl/unbracketed-until", span, "`U` associates to the left: `(a U b) U c`")
                    .label("a chain of `U` without brackets")
                    .hint("write the brackets"),
            ),
            _ => {}
        }
        let first_op = self.tree.ops.len() as u32;
        self.tree.ops.extend(ops);
        let operands = self.list(&operands);
        Ok(self.add(Kind::Chain { operands, ops: first_op }, span))
    }

    /// Returns the span of an operand that is an until without brackets.
    fn bare_until(&self, operand: ExprId) -> Option<Span> {
        let expr = self.tree.expr(operand);
        let is_until = match expr.kind {
            Kind::Chain { ops, .. } => self.tree.ops[ops as usize].level() == Op::UNTIL,
            _ => false,
        };
        (is_until && self.bracketed != Some(operand)).then_some(expr.span)
    }

    fn relation(&self) -> Option<Relation> {
        Some(match self.kind() {
            Token::Equal => Relation::Equal,
            Token::Unequal => Relation::Unequal,
            Token::Less => Relation::Less,
            Token::AtMost => Relation::AtMost,
            Token::Greater => Relation::Greater,
            Token::AtLeast => Relation::AtLeast,
            _ => return None,
        })
    }

    fn operator(&self) -> Option<Op> {
        Some(match self.kind() {
            Token::Iff => Op::Iff,
            Token::Implies => Op::Implies,
            Token::Bar => Op::BitOr,
            Token::Caret => Op::BitXor,
            Token::Ampersand => Op::BitAnd,
            Token::Plus => Op::Plus,
            Token::Minus => Op::Minus,
            Token::Star => Op::Times,
            Token::Slash => Op::Divide,
            Token::Word => match (self.word(), self.mode) {
                ("and", _) => Op::And,
                ("or", _) => Op::Or,
                ("mod", _) => Op::Modulo,
                ("U", Mode::Path { .. }) => Op::Until,
                ("W", Mode::Path { .. }) => Op::WeakUntil,
                ("R", Mode::Path { .. }) => Op::Release,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Parses a prefix operator with its operand, or an atom.
    fn operand(&mut self) -> Parsed<ExprId> {
        self.deepen()?;
        let start = self.position;
        let operand = match self.kind() {
            Token::Not => self.negation(start)?,
            Token::Word if self.at_negation() => self.negation(start)?,
            Token::Tilde => {
                self.advance();
                let operand = self.binary(Op::SUM)?;
                self.add(Kind::BitNot(operand), self.span_from(start))
            }
            Token::Minus => self.minus(start)?,
            Token::Open => {
                self.advance();
                let inner = self.binary(Op::LOOSEST)?;
                self.expect(Token::Close, "an operator or `)`")?;
                self.bracketed = Some(inner);
                inner
            }
            Token::Number => self.number(false)?,
            _ if self.mode != Mode::Condition && self.strategy_logic_ahead() => {
                return Err(self.strategy_logic());
            }
            Token::Less if self.mode != Mode::Condition => self.coalition(start)?,
            Token::Word => self.word_operand(start)?,
            _ => {
                let what = if self.mode == Mode::Condition { "a condition or a value" } else { "a formula" };
                return Err(self.expected(what));
            }
        };
        self.depth -= 1;
        Ok(operand)
    }

    /// Returns whether `not` begins a negation. No operand follows a name, so `not` can still be a name.
    fn at_negation(&self) -> bool {
        self.word() == "not"
            && match self.kind_ahead(1) {
                Token::Word => {
                    let next = self.word_ahead(1);
                    !is_infix(next) && !matches!(next, "U" | "W" | "R" | "where")
                }
                Token::Open | Token::Not | Token::Number | Token::Tilde => true,
                Token::Less => self.mode != Mode::Condition && self.coalition_ahead(1),
                _ => false,
            }
    }

    /// Parses `! a` or `not a`: in path formulas `!` is looser than `U`, elsewhere it takes the shortest operand.
    fn negation(&mut self, start: usize) -> Parsed<ExprId> {
        let sign = self.advance();
        let is_path = matches!(self.mode, Mode::Path { .. });
        let operand = self.binary(if is_path { Op::UNTIL } else { Op::COMPARISON })?;
        if let Some(until) = is_path.then(|| self.bare_until(operand)).flatten() {
            self.warn(
                Diagnostic::warning("ispl/negated-until", sign, "`!` applies to the whole `U`: `!(a U b)`")
                    .also(until, "all of this is negated")
                    .hint("write `(!a) U b` or `!(a U b)`"),
            );
        }
        Ok(self.add(Kind::Not(operand), self.span_from(start)))
    }

    fn minus(&mut self, start: usize) -> Parsed<ExprId> {
        self.advance();
        if self.kind() == Token::Number {
            return self.number(true);
        }
        let operand = self.operand()?;
        Ok(self.add(Kind::Negate(operand), self.span_from(start)))
    }

    fn number(&mut self, is_negative: bool) -> Parsed<ExprId> {
        let (digits, span) = (self.text_of(self.span()), self.span());
        let value = if is_negative { format!("-{digits}").parse::<i64>() } else { digits.parse::<i64>() };
        let Ok(value) = value else {
            let span = self.clipped(span);
            let message = "this number does not fit into 64 bits";
            return Err(self.error(Diagnostic::error("ispl/number-too-large", span, message).hint(format!(
                "numbers lie between {} and {}",
                i64::MIN,
                i64::MAX
            ))));
        };
        let start = self.position - usize::from(is_negative);
        self.advance();
        Ok(self.add(Kind::Number(value), self.span_from(start)))
    }

    /// Parses an operand that begins with a word: an operator, a function or a name.
    fn word_operand(&mut self, start: usize) -> Parsed<ExprId> {
        let (word, next) = (self.word(), self.kind_ahead(1));
        match word {
            "true" | "false" => {
                let span = self.advance();
                return Ok(self.add(Kind::Bool(word == "true"), span));
            }
            "count" if next == Token::Open && self.word_ahead(3) != "in" => return self.count(start),
            "sum" | "count" | "forall" | "exists" if next == Token::Open => return self.aggregate(start),
            "min" | "max" | "prev" | "next" if next == Token::Open => return self.call(start),
            _ => {}
        }
        if self.mode != Mode::Condition
            && let Some(operator) = self.formula_operator(start)?
        {
            return Ok(operator);
        }
        let what = if self.mode == Mode::Condition { "a condition or a value" } else { "a formula" };
        if matches!(word, "and" | "or" | "if") {
            return Err(self.expected(what));
        }
        if self.mode == Mode::Condition && self.at_formula_operator() {
            let (span, message) =
                (self.span(), format!("`{word}` is allowed in formulas, not in conditions"));
            return Err(self
                .error(Diagnostic::error("ispl/not-a-condition", span, message).hint(
                    "a condition is about the values of variables; write other properties in Formulae",
                )));
        }
        let first = self.reference(what)?;
        let kind = if self.eat(Token::Dot) {
            Kind::Member(first, self.reference("a name of this agent")?)
        } else {
            Kind::Name(first)
        };
        if self.kind() == Token::Open {
            return Err(self.unknown_function(start, word));
        }
        Ok(self.add(kind, self.span_from(start)))
    }

    /// Reports a name with a bracket after it.
    fn unknown_function(&mut self, start: usize, word: &str) -> Reported {
        const FUNCTIONS: [&str; 8] = ["sum", "count", "forall", "exists", "min", "max", "prev", "next"];
        const OPERATORS: [&str; 14] =
            ["K", "GK", "DK", "GCK", "KH", "O", "AG", "AF", "AX", "EG", "EF", "EX", "A", "E"];
        let operators = if self.mode == Mode::Condition { &[][..] } else { &OPERATORS[..] };
        let known: Vec<&str> = FUNCTIONS.iter().chain(operators).copied().collect();
        let help = masque_text::did_you_mean(word, &known)
            .unwrap_or_else(|| format!("these may precede a bracket: {}", known.join(", ")));
        let message = format!("`{word}` is not an operator or a function");
        let span = self.tokens.span(start);
        self.error(Diagnostic::error("ispl/unknown-function", span, message).hint(help))
    }

    /// Returns whether an operator of formulas follows where a condition is expected: `K(`, `AG(`, `AG p`.
    fn at_formula_operator(&self) -> bool {
        let follows = match self.kind_ahead(1) {
            Token::Open => true,
            Token::Word => !is_infix(self.word_ahead(1)),
            _ => return false,
        };
        match self.word() {
            "AG" | "AF" | "AX" | "EG" | "EF" | "EX" => follows,
            "K" | "GK" | "DK" | "GCK" | "KH" | "O" => self.kind_ahead(1) == Token::Open,
            _ => false,
        }
    }

    /// Parses `sum(i in a..b where c : e)`.
    fn aggregate(&mut self, start: usize) -> Parsed<ExprId> {
        let aggregate = match self.word() {
            "sum" => Aggregate::Sum,
            "count" => Aggregate::Count,
            "forall" => Aggregate::Forall,
            _ => Aggregate::Exists,
        };
        self.advance();
        self.advance();
        let binder = self.binder()?;
        self.expect(Token::Colon, "`where` or `:`")?;
        let body = self.binary(Op::LOOSEST)?;
        self.expect(Token::Close, "an operator or `)`")?;
        Ok(self.add(Kind::Aggregate(aggregate, binder, body), self.span_from(start)))
    }

    /// Parses `count(c, d, ..)`, the number of listed conditions that are true.
    fn count(&mut self, start: usize) -> Parsed<ExprId> {
        self.advance();
        self.advance();
        let mut conditions = vec![self.binary(Op::LOOSEST)?];
        while self.eat(Token::Comma) {
            conditions.push(self.binary(Op::LOOSEST)?);
        }
        self.expect(Token::Close, "an operator, `,` or `)`")?;
        let conditions = self.list(&conditions);
        Ok(self.add(Kind::Count(conditions), self.span_from(start)))
    }

    /// Parses `min(a, b)`, `max`, `prev` or `next`.
    fn call(&mut self, start: usize) -> Parsed<ExprId> {
        let function = match self.word() {
            "min" => Function::Min,
            "max" => Function::Max,
            "prev" => Function::Previous,
            _ => Function::Next,
        };
        self.advance();
        self.advance();
        let mut arguments = vec![self.index_expr()?];
        while self.eat(Token::Comma) {
            arguments.push(self.index_expr()?);
        }
        self.expect(Token::Close, "`,` or `)`")?;
        let span = self.span_from(start);
        let is_cyclic = matches!(function, Function::Previous | Function::Next);
        if is_cyclic && arguments.len() != 2 {
            let message = "`prev` and `next` take an index and the size of the ring";
            return Err(self
                .error(Diagnostic::error("ispl/wrong-arguments", span, message).hint("write `next(i, N)`")));
        }
        let arguments = self.list(&arguments);
        Ok(self.add(Kind::Call(function, arguments), span))
    }
}

/// Formulas.
impl Parser<'_> {
    /// Parses a temporal or epistemic operator, if the current word is one here.
    fn formula_operator(&mut self, start: usize) -> Parsed<Option<ExprId>> {
        let word = self.word();
        if let Some(operator) = self.mu_operator(start)? {
            return Ok(Some(operator));
        }
        if self.kind_ahead(1) == Token::Open {
            let modality = match word {
                "K" => Modality::Knows,
                "GK" => Modality::EveryoneKnows,
                "DK" | "D" => Modality::DistributedKnowledge,
                "GCK" | "C" => Modality::CommonKnowledge,
                "O" => Modality::Correct,
                "KH" => Modality::KnowsUnder,
                "A" | "E" => return self.quantified_brackets(start).map(Some),
                _ => return self.prefix(start),
            };
            return self.modal(start, modality).map(Some);
        }
        self.prefix(start)
    }

    /// Parses `AG`, `X`, .. if an operand follows; otherwise the word is a name, and nothing is read.
    fn prefix(&mut self, start: usize) -> Parsed<Option<ExprId>> {
        if !self.operand_follows() {
            return Ok(None);
        }
        let word = self.word();
        let quantifier = match word.as_bytes()[0] {
            b'A' => Some(Quantifier::All),
            b'E' => Some(Quantifier::Some),
            _ => None,
        };
        let temporal = match &word[usize::from(quantifier.is_some())..] {
            "X" => Some(Temporal::Next),
            "F" => Some(Temporal::Finally),
            "G" => Some(Temporal::Globally),
            "" => None,
            _ => return Ok(None),
        };
        let Mode::Path { quantifiers } = self.mode else {
            return match (quantifier, temporal) {
                (Some(quantifier), Some(temporal)) => self.apply(start, Some(quantifier), Some(temporal)),
                (Some(_), None) if self.kind_ahead(1) == Token::Word => {
                    let help = match self.word_ahead(1) {
                        next @ ("X" | "F" | "G") => {
                            format!(
                                "write `{word}{next}` without the space, or begin the formula with `CTL*`"
                            )
                        }
                        _ => format!("write `{word}(p U q)`, or begin the formula with `CTL*`"),
                    };
                    let message = format!("`{word}` must be followed by a bracket with `U`, `W` or `R` here");
                    Err(self.wrong_logic(&message, help))
                }
                (None, Some(_)) if self.n_coalitions > 0 => Err(self.path_goal(word)),
                (None, Some(_)) => {
                    let help =
                        format!("write `A{word}` or `E{word}`, or begin the formula with `LTL` or `CTL*`");
                    Err(self.wrong_logic(&format!("`{word}` needs a path quantifier before it"), help))
                }
                _ => Ok(None),
            };
        };
        if quantifier.is_some() && !quantifiers {
            let help = "begin the formula with `CTL*` instead of `LTL`".to_string();
            return Err(self.wrong_logic("a path quantifier in an LTL formula", help));
        }
        self.apply(start, quantifier, temporal)
    }

    pub(super) fn wrong_logic(&mut self, message: &str, help: String) -> Reported {
        let span = self.span();
        self.error(Diagnostic::error("ispl/wrong-logic", span, message).hint(help))
    }

    fn apply(
        &mut self,
        start: usize,
        quantifier: Option<Quantifier>,
        temporal: Option<Temporal>,
    ) -> Parsed<Option<ExprId>> {
        self.advance();
        let mut expr = self.binary(Op::COMPARISON)?;
        let span = self.span_from(start);
        if let Some(temporal) = temporal {
            expr = self.add(Kind::Temporal(temporal, expr), span);
        }
        if let Some(quantifier) = quantifier {
            expr = self.add(Kind::Path(quantifier, expr), span);
        }
        Ok(Some(expr))
    }

    /// Returns whether an operand follows the current word, so that the word must be an operator: `X p`,
    /// but not `X and p`. In `F U p` the word `F` is a proposition, because no operand of `F` follows.
    fn operand_follows(&self) -> bool {
        match self.kind_ahead(1) {
            Token::Open | Token::Not | Token::Tilde | Token::Number => true,
            Token::Less => self.coalition_ahead(1) || self.kind_ahead(2) == Token::Less,
            Token::OpenBracket => self.kind_ahead(2) == Token::OpenBracket, // Strategy Logic.
            Token::Word => match self.word_ahead(1) {
                "U" | "W" | "R" if self.mode != Mode::State => !begins_operand(self.kind_ahead(2)),
                "U" | "W" | "R" => matches!(
                    self.kind_ahead(2),
                    Token::Close | Token::Semicolon | Token::Implies | Token::Iff
                ),
                word => !is_infix(word),
            },
            _ => false,
        }
    }

    /// Returns whether `<g>`, `<g, ..>` or `<{..}>` follows, rather than a comparison.
    pub(super) fn coalition_ahead(&self, ahead: usize) -> bool {
        self.kind_ahead(ahead) == Token::Less
            && match self.kind_ahead(ahead + 1) {
                Token::OpenBrace => true,
                Token::Word => {
                    matches!(self.kind_ahead(ahead + 2), Token::Greater | Token::Comma | Token::OpenBracket)
                }
                _ => false,
            }
    }

    /// Parses `E(p U q)` in CTL, `E(path)` in CTL*, and the papers' `E(group, phi)`.
    fn quantified_brackets(&mut self, start: usize) -> Parsed<ExprId> {
        let quantifier = if self.word() == "A" { Quantifier::All } else { Quantifier::Some };
        if let Mode::Path { quantifiers: false } = self.mode {
            let help = "begin the formula with `CTL*` instead of `LTL`".to_string();
            return Err(self.wrong_logic("a path quantifier in an LTL formula", help));
        }
        if quantifier == Quantifier::Some && self.kind_ahead(2) == Token::OpenBrace {
            return self.modal(start, Modality::EveryoneKnows);
        }
        self.advance();
        let open = self.position;
        self.advance();
        let inner = self.binary(Op::LOOSEST)?;
        if quantifier == Quantifier::Some
            && self.kind() == Token::Comma
            && let Kind::Name(name) = self.tree.expr(inner).kind
        {
            let party = Party::Named(name, self.tree.expr(inner).span);
            self.advance();
            return self.modal_body(start, Modality::EveryoneKnows, vec![party]);
        }
        let path = if self.mode == Mode::State { self.until(open + 1, inner)? } else { inner };
        self.expect(Token::Close, "an operator or `)`")?;
        Ok(self.add(Kind::Path(quantifier, path), self.span_from(start)))
    }

    /// Parses the rest of `p U q` inside the brackets of CTL or ATL, where `U` is the loosest operator.
    pub(super) fn until(&mut self, start: usize, left: ExprId) -> Parsed<ExprId> {
        let op = match self.word() {
            "U" => Op::Until,
            "W" => Op::WeakUntil,
            "R" => Op::Release,
            _ => return Err(self.expected("`U`, `W` or `R`")),
        };
        self.advance();
        let right = self.binary(Op::LOOSEST)?;
        let span = self.span_from(start);
        let first_op = self.tree.ops.len() as u32;
        self.tree.ops.push(op);
        let operands = self.list(&[left, right]);
        Ok(self.add(Kind::Chain { operands, ops: first_op }, span))
    }

    /// Parses `K(agent, phi)` and the other operators of knowledge; `KH` has two parties.
    fn modal(&mut self, start: usize, modality: Modality) -> Parsed<ExprId> {
        self.advance();
        self.expect(Token::Open, "`(`")?;
        let mut parties = vec![self.party(modality)?];
        self.expect(
            Token::Comma,
            if modality == Modality::KnowsUnder { "`,` and a group" } else { "`,` and a formula" },
        )?;
        if modality == Modality::KnowsUnder {
            parties.push(self.party(Modality::EveryoneKnows)?);
            self.expect(Token::Comma, "`,` and a formula")?;
        }
        self.modal_body(start, modality, parties)
    }

    fn modal_body(&mut self, start: usize, modality: Modality, parties: Vec<Party>) -> Parsed<ExprId> {
        let body = self.binary(Op::LOOSEST)?;
        self.expect(Token::Close, "an operator or `)`")?;
        Ok(self.add_modal(start, Modal { modality, parties, body }))
    }

    pub(super) fn add_modal(&mut self, start: usize, modal: Modal) -> ExprId {
        self.tree.modals.push(modal);
        let index = self.tree.modals.len() as u32 - 1;
        self.add(Kind::Modal(index), self.span_from(start))
    }

    /// Parses an agent, a group, or a set in braces.
    pub(super) fn party(&mut self, modality: Modality) -> Parsed<Party> {
        let start = self.position;
        if self.kind() == Token::OpenBrace {
            let members = self.braces("an agent")?;
            return Ok(Party::Set(members, self.span_from(start)));
        }
        let what = match modality {
            Modality::Knows | Modality::Correct | Modality::KnowsUnder => "an agent",
            _ => "a group, an agent, or a set in braces",
        };
        let name = self.reference(what)?;
        Ok(Party::Named(name, self.span_from(start)))
    }
}

fn begins_operand(kind: Token) -> bool {
    matches!(kind, Token::Word | Token::Open | Token::Not | Token::Number | Token::Tilde)
}
