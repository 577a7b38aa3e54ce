//! Patterns and atoms: words that the language of the model gives a meaning. Those of LCC are divided into messages,
//! roles and predicates; any other word is the label of a transition, or an atom.

use masque_text::NameKind;

use super::Reader;
use crate::lexer::Token;
use crate::parser::is_variable;

/// Maximum depth of brackets in an argument in which roles are looked for.
const MAX_DEPTH: u32 = 64;

impl Reader<'_> {
    /// Reads a pattern of steps: `go`, `out(ask(_), a(seller, _))@c1`, `#(price(_))`. Returns the next token.
    pub(super) fn pattern(&mut self, at: usize, end: usize) -> usize {
        let (text, is_call) = (self.tokens.text(at), self.tokens.kind(at + 1) == Token::Open);
        match (text, self.tokens.kind(at)) {
            ("tau" | "τ" | "and" | "or" | "not", _) => {}
            ("in" | "out", _) if is_call => self.head(NameKind::Message, at + 2),
            (_, Token::Hash) if is_call => self.head(NameKind::Predicate, at + 2),
            (_, Token::Hash) => {}
            _ => self.mention(NameKind::Action, at),
        }
        if is_call { self.argument(at + 1, end) } else { at + 1 }
    }

    /// Reads an atom: `final`, `at(x, seller)`, `lit`. Returns the next token.
    pub(super) fn atom(&mut self, at: usize, end: usize) -> usize {
        let is_call = self.tokens.kind(at + 1) == Token::Open;
        match self.tokens.text(at) {
            "final" | "done" | "idle" => {}
            "at" if is_call && self.tokens.kind(at + 3) == Token::Comma => self.head(NameKind::Role, at + 4),
            "at" if is_call => {}
            _ => self.mention(NameKind::Proposition, at),
        }
        if is_call { self.argument(at + 1, end) } else { at + 1 }
    }

    /// Adds the first word of a term, unless it is a variable.
    fn head(&mut self, kind: NameKind, at: usize) {
        let text = self.tokens.text(at);
        let is_name = self.tokens.kind(at) == Token::Word && !is_variable(text) && !text.starts_with('_');
        if is_name {
            self.mention(kind, at);
        }
    }

    /// Skips an argument in brackets, and adds the roles in it: `a(seller, _)`. Returns the token after it.
    fn argument(&mut self, open: usize, end: usize) -> usize {
        let (mut depth, mut at) = (0u32, open);
        while at < end {
            match self.tokens.kind(at) {
                Token::Open | Token::OpenBracket | Token::OpenBrace => depth += 1,
                Token::Close | Token::CloseBracket | Token::CloseBrace => depth = depth.saturating_sub(1),
                Token::Semicolon => return at,
                Token::Word if self.tokens.text(at) == "a" && self.tokens.kind(at + 1) == Token::Open => {
                    let is_first = self.tokens.kind(at - 1) == Token::Open && depth == 1;
                    if !is_first && depth < MAX_DEPTH {
                        self.head(NameKind::Role, at + 2);
                    }
                }
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at
    }
}
