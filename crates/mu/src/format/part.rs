//! A formula as a tree of parts between which lines may break.
//!
//! The reader sees only tokens that the parser has accepted, so it does not check for mistakes and
//! recurses no deeper than the parser did.

use super::opens_modality;
use crate::lexer::{Token, Tokens};
use crate::parser::{RESERVED, is_variable};
use crate::tree::PathOperator;

/// A part of a formula, and its width in columns when written on one line.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) form: Form,
    pub(super) width: usize,
}

#[derive(Debug)]
pub(super) enum Form {
    /// Text that is never broken: a constant, an atom, a macro.
    Leaf(String),
    /// Prefix operators, and their operand.
    Prefixed(String, Box<Part>),
    /// Operands, each with the operator before it.
    Chain(Vec<(String, Part)>),
    /// A formula in brackets.
    Bracketed(Box<Part>),
}

impl Part {
    fn new(form: Form) -> Part {
        let width = match &form {
            Form::Leaf(text) => columns(text),
            Form::Prefixed(prefix, inner) => columns(prefix) + inner.width,
            Form::Chain(links) => {
                links.iter().map(|(sign, part)| columns(sign) + 2 + part.width).sum::<usize>() - 2
            }
            Form::Bracketed(inner) => inner.width + 2,
        };
        Part { form, width }
    }

    /// Writes the part on one line.
    pub(super) fn flat(&self, out: &mut String) {
        match &self.form {
            Form::Leaf(text) => out.push_str(text),
            Form::Prefixed(prefix, inner) => {
                out.push_str(prefix);
                inner.flat(out);
            }
            Form::Chain(links) => {
                for (at, (sign, part)) in links.iter().enumerate() {
                    if at > 0 {
                        out.extend([" ", sign, " "]);
                    }
                    part.flat(out);
                }
            }
            Form::Bracketed(inner) => {
                out.push('(');
                inner.flat(out);
                out.push(')');
            }
        }
    }
}

/// Width of a text in columns.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Reads the tokens of a formula.
pub(super) struct Reader<'t> {
    tokens: &'t Tokens<'t>,
    at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: &'t Tokens<'t>, at: usize) -> Self {
        Reader { tokens, at }
    }

    /// Index of the next token.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn kind(&self) -> Token {
        self.tokens.kind(self.at)
    }

    /// The source text from one token to another.
    fn source(&self, from: usize, to: usize) -> &'t str {
        self.tokens.slice(self.tokens.span(from).to(self.tokens.span(to)))
    }

    fn word(&self) -> &'t str {
        if self.kind() == Token::Word { self.tokens.text(self.at) } else { "" }
    }

    /// Reads one token. Returns its text in ASCII.
    pub(super) fn next(&mut self) -> &'t str {
        let (kind, at) = (self.kind(), self.at);
        self.at += 1;
        match kind {
            Token::And => "&&",
            Token::Or => "||",
            Token::Not => "!",
            Token::Arrow => "->",
            Token::Mu => "mu",
            Token::Nu => "nu",
            _ => self.tokens.text(at),
        }
    }

    /// Reads a formula: chains of `->`, of `||` and of `&&`, in this order.
    pub(super) fn formula(&mut self) -> Part {
        self.chain(0)
    }

    fn chain(&mut self, level: usize) -> Part {
        let operand =
            |reader: &mut Self| if level == 2 { reader.prefixed() } else { reader.chain(level + 1) };
        let mut links = vec![(String::new(), operand(self))];
        while let Some(sign) = self.sign(level) {
            links.push((sign, operand(self)));
        }
        if links.len() == 1 { links.remove(0).1 } else { Part::new(Form::Chain(links)) }
    }

    /// Reads the next operator of a chain, if the chain continues.
    fn sign(&mut self, level: usize) -> Option<String> {
        match (level, self.kind(), self.word()) {
            // After an operand, a minus is the first half of an arrow.
            (0, Token::Minus, _) => {
                self.at += 2;
                Some("->".to_string())
            }
            (0, Token::Arrow, _) | (1, Token::Or, _) | (2, Token::And, _) => Some(self.next().to_string()),
            (1, _, "or") | (2, _, "and") => Some(self.next().to_string()),
            _ => None,
        }
    }

    /// Reads prefix operators and their operand. A fixpoint extends as far right as it can.
    fn prefixed(&mut self) -> Part {
        let mut prefix = String::new();
        let inner = loop {
            match (self.kind(), self.word()) {
                (Token::Not, _) => prefix.push_str(self.next()),
                (Token::Mu | Token::Nu, _) | (_, "mu" | "nu") => {
                    // `mu X. `
                    prefix.extend([self.next(), " ", self.next(), ". "]);
                    self.at += 1;
                    break self.formula();
                }
                (_, "not") => prefix.extend([self.next(), " "]),
                (_, word) if PathOperator::ALL.iter().any(|operator| operator.word() == word) => {
                    prefix.extend([self.next(), " "]);
                }
                (kind, _) if opens_modality(kind) => {
                    let close = if kind == Token::Less { Token::Greater } else { Token::CloseBracket };
                    self.patterns(close, &mut prefix);
                }
                _ => break self.operand(),
            }
        };
        if prefix.is_empty() { inner } else { Part::new(Form::Prefixed(prefix, Box::new(inner))) }
    }

    fn operand(&mut self) -> Part {
        let word = self.word();
        match self.kind() {
            Token::Open => {
                self.at += 1;
                let inner = self.formula();
                self.at += 1;
                Part::new(Form::Bracketed(Box::new(inner)))
            }
            _ if matches!(word, "inev" | "resp") => {
                let mut text = self.next().to_string();
                self.patterns(Token::Close, &mut text);
                Part::new(Form::Leaf(text))
            }
            _ if RESERVED.contains(&word) || is_variable(word) => {
                Part::new(Form::Leaf(self.next().to_string()))
            }
            _ => Part::new(Form::Leaf(self.primitive(false))),
        }
    }

    /// Reads an opening bracket, patterns and their operators, up to the matching bracket.
    fn patterns(&mut self, close: Token, out: &mut String) {
        let mut n_open = 0;
        while self.at < self.tokens.len() {
            match self.kind() {
                Token::Word | Token::Hash | Token::Quoted => {
                    out.push_str(&self.primitive(true));
                    continue;
                }
                Token::Bar => out.push_str(" | "),
                Token::Dot => out.push_str(" . "),
                Token::Comma => out.push_str(", "),
                kind => {
                    out.push_str(self.tokens.text(self.at));
                    n_open += usize::from(kind == Token::Open);
                    // Round brackets may nest; the first bracket of another kind closes.
                    let is_inner = kind == Token::Close && n_open > 1;
                    n_open -= usize::from(kind == Token::Close && n_open > 0);
                    if kind == close && !is_inner {
                        self.at += 1;
                        return;
                    }
                }
            }
            self.at += 1;
        }
    }

    /// Reads text of the language of the model. Returns it unchanged but on one line.
    fn primitive(&mut self, is_pattern: bool) -> String {
        let from = self.at;
        self.at += 1;
        self.argument();
        if is_pattern && self.kind() == Token::At {
            self.at += 2;
            self.argument();
        }
        let lines = self.source(from, self.at - 1).lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn argument(&mut self) {
        if self.kind() != Token::Open {
            return;
        }
        let mut n_open = 0;
        while self.at < self.tokens.len() {
            match self.kind() {
                Token::Open | Token::OpenBracket | Token::OpenBrace => n_open += 1,
                Token::Close | Token::CloseBracket | Token::CloseBrace => n_open -= 1,
                _ => {}
            }
            self.at += 1;
            if n_open == 0 {
                return;
            }
        }
    }
}
