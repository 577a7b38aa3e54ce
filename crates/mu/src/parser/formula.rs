//! Formulas by precedence: `->`, then `||`, then `&&`, then prefixes. `mu` and `nu` are prefixes
//! that reach as far right as possible.

use masque_text::Parsed;

use crate::lexer::Token;
use crate::tree::{FormulaKind, Modality, Name, PathOperator, Phi, Sign};

use super::Parser;

/// Words that cannot be variables, atoms or patterns.
pub(crate) const RESERVED: [&str; 18] = [
    "tt", "ff", "true", "false", "and", "or", "not", "mu", "nu", "inev", "resp", "deadlock", "AG", "EF",
    "AF", "EG", "AX", "EX",
];

/// Formulas.
impl Parser<'_> {
    /// Reads a formula. Chains are read in loops; only prefixes and brackets recurse.
    pub(super) fn formula(&mut self) -> Parsed<Phi> {
        let start = self.position;
        let mut chain = vec![self.disjunction()?];
        while self.at_arrow() || self.kind() == Token::Arrow {
            self.position += if self.kind() == Token::Arrow { 1 } else { 2 };
            chain.push(self.disjunction()?);
        }
        Ok(self.chained(start, chain, FormulaKind::Implies))
    }

    fn disjunction(&mut self) -> Parsed<Phi> {
        let start = self.position;
        let mut chain = vec![self.conjunction()?];
        while self.eat(Token::Or) || self.eat_word("or") {
            chain.push(self.conjunction()?);
        }
        Ok(self.chained(start, chain, FormulaKind::Or))
    }

    fn conjunction(&mut self) -> Parsed<Phi> {
        let start = self.position;
        let mut chain = vec![self.prefixed()?];
        while self.eat(Token::And) || self.eat_word("and") {
            chain.push(self.prefixed()?);
        }
        Ok(self.chained(start, chain, FormulaKind::And))
    }

    /// Returns a chain of operands, or the operand alone if there is only one.
    fn chained(&self, start: usize, mut chain: Vec<Phi>, kind: fn(Vec<Phi>) -> FormulaKind) -> Phi {
        match chain.len() {
            1 => chain.remove(0),
            _ => Phi { kind: kind(chain), span: self.span_from(start) },
        }
    }

    fn prefixed(&mut self) -> Parsed<Phi> {
        self.nested(|parser| {
            let start = parser.position;
            let kind = parser.prefixed_kind()?;
            Ok(Phi { kind, span: parser.span_from(start) })
        })
    }

    fn prefixed_kind(&mut self) -> Parsed<FormulaKind> {
        match self.kind() {
            Token::Not => self.negation(),
            Token::Less => self.modal(Modality::Diamond),
            Token::OpenBracket => self.modal(Modality::Box),
            Token::Mu => self.fixpoint(Sign::Mu),
            Token::Nu => self.fixpoint(Sign::Nu),
            Token::Open => self.bracketed(),
            Token::Word => self.worded(),
            _ => Err(self.expected("a formula")),
        }
    }

    fn negation(&mut self) -> Parsed<FormulaKind> {
        self.advance();
        Ok(FormulaKind::Not(Box::new(self.prefixed()?)))
    }

    fn bracketed(&mut self) -> Parsed<FormulaKind> {
        let open = self.advance();
        let inner = self.formula()?;
        self.close(Token::Close, open, "`)`")?;
        Ok(inner.kind)
    }

    fn modal(&mut self, modality: Modality) -> Parsed<FormulaKind> {
        let open = self.advance();
        let regular = self.regular()?;
        match modality {
            Modality::Diamond => self.close(Token::Greater, open, "`>`")?,
            Modality::Box => self.close(Token::CloseBracket, open, "`]`")?,
        }
        Ok(FormulaKind::Modal(modality, regular, Box::new(self.prefixed()?)))
    }

    fn fixpoint(&mut self, sign: Sign) -> Parsed<FormulaKind> {
        self.advance();
        let name = self.variable_name()?;
        self.expect(Token::Dot, "`.` after the variable")?;
        Ok(FormulaKind::Fixpoint(sign, name, Box::new(self.formula()?)))
    }

    /// Reads the name of a variable, which begins with a capital letter, unlike an atom.
    fn variable_name(&mut self) -> Parsed<Name> {
        if self.kind() != Token::Word {
            return Err(self.expected("a variable, as in `mu X. phi`"));
        }
        let name = Name { text: self.word().to_string(), span: self.span() };
        if RESERVED.contains(&name.text.as_str()) || !is_variable(&name.text) {
            return Err(self.no_variable_name(&name));
        }
        self.advance();
        Ok(name)
    }

    fn worded(&mut self) -> Parsed<FormulaKind> {
        let word = self.word();
        if let Some(operator) = PathOperator::ALL.into_iter().find(|operator| operator.word() == word) {
            self.advance();
            return Ok(FormulaKind::Path(operator, Box::new(self.prefixed()?)));
        }
        let simple = match word {
            "mu" => return self.fixpoint(Sign::Mu),
            "nu" => return self.fixpoint(Sign::Nu),
            "not" => return self.negation(),
            "inev" | "resp" => return self.macro_of_patterns(word),
            "and" | "or" => return Err(self.expected("a formula")),
            "tt" | "true" => FormulaKind::True,
            "ff" | "false" => FormulaKind::False,
            "deadlock" => FormulaKind::Deadlock,
            _ if is_variable(word) => FormulaKind::Variable(word.to_string()),
            _ => {
                let span = self.primitive(false)?;
                return Ok(FormulaKind::Atom(self.text_of(span).to_string()));
            }
        };
        self.advance();
        Ok(simple)
    }

    fn macro_of_patterns(&mut self, word: &str) -> Parsed<FormulaKind> {
        self.advance();
        let open = self.expect(Token::Open, &format!("`(` after `{word}`"))?;
        let first = self.pattern()?;
        if word == "inev" {
            self.close(Token::Close, open, "`)`")?;
            return Ok(FormulaKind::Inevitable(first));
        }
        self.expect(Token::Comma, "`,` and what must follow, as in `resp(ask, answer)`")?;
        let second = self.pattern()?;
        self.close(Token::Close, open, "`)`")?;
        Ok(FormulaKind::Response(first, second))
    }
}

/// Whether a word has the form of a variable.
pub(crate) fn is_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}
