//! Completion in processes, constraints and rules.

use masque_text::{Completion, NameKind};

use super::complete::{Completer, agent};
use super::context::Open;
use super::operators::words;
use crate::lexer::Token;

impl Completer<'_> {
    /// Completes the arguments of a name, if the position is among some: roles and ids of agents, and terms.
    pub(super) fn arguments(&self) -> Option<Vec<Completion>> {
        Some(match self.open.last()? {
            // An argument is complete.
            Open::Call(..) | Open::List if self.is_after_operand() => words(&["mod"]),
            Open::Call("a", 0) => self.names(&[NameKind::Role]),
            Open::Call("a", _) => {
                let mut found = self.variables();
                found.extend(self.names(&[NameKind::Agent]));
                found
            }
            Open::Call(..) | Open::List => self.terms(),
            Open::Group(_) | Open::Frame => return None,
        })
    }

    /// Constants, ids and the variables of the statement.
    fn terms(&self) -> Vec<Completion> {
        let mut found = self.variables();
        found.extend(self.names(&[NameKind::Value, NameKind::Agent]));
        found
    }

    /// Whether a term may end with the last token.
    fn is_after_operand(&self) -> bool {
        match self.kind(1) {
            Token::Word => !crate::parser::RESERVED.contains(&self.word(1)),
            Token::Variable | Token::Number | Token::Dotted | Token::Quoted => true,
            Token::Close | Token::CloseBracket | Token::CloseBrace => true,
            _ => false,
        }
    }

    /// Completes a process that begins at a token.
    pub(super) fn process(&self, first: usize) -> Vec<Completion> {
        if let Some(found) = self.arguments() {
            return found;
        }
        if matches!(self.kind(1), Token::Sends | Token::Receives) {
            return agent();
        }
        let is_step = matches!(self.word(1), "then" | "par" | "or")
            || matches!(self.kind(1), Token::Defines | Token::OpenBrace);
        if is_step || (self.kind(1) == Token::Open && !self.is_in_constraint(first)) {
            return self.step();
        }
        if self.is_in_constraint(first) {
            return self.constraint(false);
        }
        if self.is_after_operand() { words(&["then", "par", "or"]) } else { self.step() }
    }

    /// Whether the position lies in a constraint: after `<-`, and after all steps that begin there.
    fn is_in_constraint(&self, first: usize) -> bool {
        let mut depth = 0usize;
        for token in (first..self.before.n_complete).rev() {
            match self.before.tokens.kind(token) {
                Token::Close | Token::CloseBracket => depth += 1,
                Token::Open | Token::OpenBracket => depth = depth.saturating_sub(1),
                Token::If if depth == 0 => return true,
                _ if depth == 0 && matches!(self.before.word(token), "then" | "par") => return false,
                // `or` in brackets may belong to a constraint.
                _ if depth == 0 && self.before.word(token) == "or" && self.open.is_empty() => return false,
                _ => {}
            }
        }
        false
    }

    /// The beginnings of steps.
    fn step(&self) -> Vec<Completion> {
        let mut found = self.names(&[NameKind::Message]);
        found.extend(words(&["null"]));
        found.extend(agent());
        found.push(Completion::snippet("${1:message} => a(${2:role}, ${3:Id})", "sends a message"));
        found.push(Completion::snippet("${1:message} <= a(${2:role}, ${3:Id})", "receives a message"));
        found.push(Completion::snippet("null <- ${1:constraint}", "a step without a message"));
        found
    }

    /// Completes a constraint: that of a step, or the body of a fact or rule.
    pub(super) fn constraint(&self, is_body: bool) -> Vec<Completion> {
        if let Some(found) = self.arguments() {
            return found;
        }
        match self.kind(1) {
            Token::Equal | Token::Differs | Token::Same | Token::NotSame => return self.terms(),
            Token::Less | Token::Greater | Token::AtMost | Token::AtLeast => return self.variables(),
            Token::Plus | Token::Minus | Token::Star | Token::Slash => return self.variables(),
            _ => {}
        }
        if self.is_after_operand() {
            let process: &[&str] = if is_body { &[] } else { &["then", "par"] };
            let mut found = words(&["and", "or", "is", "mod"]);
            found.extend(words(process));
            return found;
        }
        let mut found = self.names(&[NameKind::Predicate]);
        found.extend(words(&["not"]));
        found.extend(self.variables());
        found
    }

    /// Completes `rule enforcer: (subject, object, +action) <- body.` and `.. !action) after P until Q.`
    pub(super) fn rule(&self) -> Vec<Completion> {
        match self.word(1) {
            "enforced" => return words(&["by"]),
            "rule" | "by" => return self.names(&[NameKind::Agent]),
            _ => {}
        }
        let Some(open) = self.find(Token::Open) else {
            return if self.kind(1) == Token::Colon { tuple() } else { Vec::new() };
        };
        if self.find(Token::If).is_some() {
            return self.constraint(true);
        }
        if let Some(pattern) = self.pattern_start(open) {
            let start = self.before.tokens.span(pattern).end;
            let position = self.before.tokens.span(self.before.tokens.len()).end;
            let mut found = self.pattern(start, position);
            let is_after = self.before.word(pattern) == "after" && self.before.n_complete > pattern + 1;
            found.extend(words(if is_after { &["until"] } else { &[] }));
            return found;
        }
        match self.open.as_slice() {
            [] if self.is_obligation(open) => words(&["after"]),
            [] => Vec::new(),
            [Open::Group(0 | 1)] => {
                let mut found = self.variables();
                found.extend(self.names(&[NameKind::Agent]));
                found.push(Completion::keyword("self", "the enforcer"));
                found
            }
            [Open::Group(_)] if matches!(self.kind(1), Token::Plus | Token::Minus | Token::Not) => {
                self.names(&[NameKind::Predicate, NameKind::Message])
            }
            [Open::Group(_)] => Vec::new(),
            _ => self.arguments().unwrap_or_default(),
        }
    }

    fn is_obligation(&self, open: usize) -> bool {
        (open..self.before.n_complete).any(|token| self.before.tokens.kind(token) == Token::Not)
    }

    /// Returns the index of the last `after` or `until` behind the tuple of an obligation.
    fn pattern_start(&self, open: usize) -> Option<usize> {
        (open..self.before.n_complete)
            .rev()
            .find(|token| matches!(self.before.word(*token), "after" | "until"))
    }

    /// Completes an action pattern, which is what a modality contains.
    fn pattern(&self, start: u32, position: u32) -> Vec<Completion> {
        masque_mu::pattern_completions(self.index, self.sources, start, position)
    }
}

/// The parts of a rule.
fn tuple() -> Vec<Completion> {
    vec![Completion::snippet("(${1:Subject}, ${2:Object}, +${3:action}) <- ${4:condition}.", "a rule")]
}
