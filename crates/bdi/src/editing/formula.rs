//! Completion in formulas. The attitudes around a position decide which program its names belong to.

use masque_text::{Completion, Declaration, NameKind};

use super::complete::Completer;
use super::operators::words;
use crate::lexer::Token;
use crate::names::TOP_WORLD;
use crate::parser::operator;

/// Words that begin operands in any formula.
const PREFIXES: [&str; 18] = [
    "B", "D", "I", "PB", "PD", "PI", "AG", "AF", "AX", "EG", "EF", "EX", "A", "E", "not", "do", "true",
    "false",
];
/// Words that begin commitments.
const COMMITMENTS: [&str; 4] = ["blind", "single_minded", "open_minded", "persistent"];

impl Completer<'_> {
    /// Completes a formula that begins at a token and is about a program.
    pub(super) fn formula(&self, program: Option<u32>, first: usize) -> Vec<Completion> {
        if self.is_in_attitude_agent() {
            return self.agents();
        }
        let program = self.around(program, first);
        match self.kind(1) {
            Token::Equal | Token::Unequal => {
                let values = self.values(program, self.before.n_complete - 1);
                return if values.is_empty() { self.operands(program) } else { values };
            }
            Token::Less | Token::AtMost | Token::Greater | Token::AtLeast | Token::Plus | Token::Minus => {
                return self.own_names(program, NameKind::Variable);
            }
            _ => {}
        }
        match self.word(1) {
            "do" => return self.own_names(program, NameKind::Action),
            word if COMMITMENTS.contains(&word) => return words(&["I"]),
            _ => {}
        }
        if self.is_after_operand() && self.subscripted().is_none() && self.before.n_complete > first {
            return self.after_operand().unwrap_or_default();
        }
        let mut found = self.operands(program);
        found.extend(words(&COMMITMENTS));
        found
    }

    /// What an operand of a formula may begin with.
    pub(super) fn operands(&self, program: Option<u32>) -> Vec<Completion> {
        let mut found = self.own_names(program, NameKind::Variable);
        found.extend(self.own_names(program, NameKind::Index));
        found.extend(words(&PREFIXES));
        found
    }

    /// What may follow an operand: in `E[..]` the operator between the two parts, and `unless`.
    pub(super) fn after_operand(&self) -> Option<Vec<Completion>> {
        let open = self.open_bracket(self.before.n_complete);
        if let Some(open) = open {
            let is_until = self.before.tokens.kind(open) == Token::OpenBracket
                || open.checked_sub(1).is_some_and(|word| matches!(self.before.word(word), "E" | "A"));
            return Some(words(if is_until { &["U", "R", "W"] } else { &[] }));
        }
        let is_persistent = (0..self.before.n_complete)
            .rev()
            .take_while(|token| self.before.tokens.kind(*token) != Token::Semicolon)
            .any(|token| self.before.word(token) == "persistent");
        is_persistent.then(|| words(&["unless"]))
    }

    /// Returns the program of the innermost attitude around the position.
    fn around(&self, program: Option<u32>, first: usize) -> Option<u32> {
        let mut open: Vec<usize> = Vec::new();
        for token in first..self.before.n_complete {
            match self.before.tokens.kind(token) {
                Token::Open | Token::OpenBracket | Token::OpenBrace => open.push(token),
                Token::Close | Token::CloseBracket | Token::CloseBrace => _ = open.pop(),
                Token::Semicolon => open.clear(),
                _ => {}
            }
        }
        let mut attitudes: Vec<(&str, &str)> =
            open.into_iter().filter_map(|open| self.attitude_at(open)).collect();
        attitudes.extend(self.subscripted());
        attitudes.into_iter().fold(program, |program, (op, agent)| self.child(program?, op, agent))
    }

    /// Returns the attitude `B_a` if it is the last token.
    fn subscripted(&self) -> Option<(&'static str, &str)> {
        let (letters, agent) = self.word(1).split_once('_')?;
        let (op, _) = operator(letters)?;
        self.agent(agent).map(|_| (op.name(), agent))
    }

    /// Returns the program by which the agent of a program pictures another agent.
    fn child(&self, program: u32, op: &str, agent: &str) -> Option<u32> {
        let declaration = &self.index.declarations[program as usize];
        let observer = match declaration.kind {
            NameKind::World => described_agent(&declaration.name),
            _ => &declaration.name,
        };
        let view = |name: String| self.declared(|one| one.kind == NameKind::World && one.name == name);
        view(format!("{op}({agent}) in {observer}"))
            .or_else(|| view(format!("{agent} in {observer}")))
            .or_else(|| self.agent(agent))
    }

    fn declared(&self, is_wanted: impl Fn(&Declaration) -> bool) -> Option<u32> {
        self.index.declarations.iter().position(is_wanted).map(|place| place as u32)
    }

    fn agent(&self, name: &str) -> Option<u32> {
        self.declared(|one| one.kind == NameKind::Agent && one.name == name)
    }

    /// Returns the program that a property is about: the path between its heading and its colon, or the top world.
    pub(super) fn world(&self, first: usize, colon: usize) -> Option<u32> {
        let top = || self.declared(|one| one.details.iter().any(|detail| detail.ends_with(TOP_WORLD)));
        let Some(root) = self.find("in", first).filter(|root| *root < colon).map(|root| root + 1) else {
            return top();
        };
        let mut program = match self.before.word(root) {
            "top" => top(),
            name => self.agent(name),
        }?;
        for open in root..colon {
            if self.before.tokens.kind(open) == Token::Open
                && let Some((op, agent)) = self.attitude_at(open)
            {
                program = self.child(program, op, agent)?;
            }
        }
        Some(program)
    }
}

/// Returns the agent that a view describes, from the view's name: `b` in `B(b) in a` and in `b in a`.
fn described_agent(view: &str) -> &str {
    let described = view.split_once(" in ").map_or(view, |(described, _)| described);
    described.split_once('(').map_or(described, |(_, agent)| agent.trim_end_matches(')'))
}
