//! Syntax errors, and recovery from them.

use masque_text::{Codes, Diagnostic, Fix, Language, Reported, Span};

use super::{NESTING_LIMIT, Parser};
use crate::lexer::Token;
use crate::tree::Name;

/// Codes and hints of the mu-calculus.
#[derive(Debug)]
pub(super) struct Mu;

impl Language for Mu {
    type Token = Token;

    const CODES: Codes = Codes {
        unexpected_token: "mu/unexpected-token",
        unexpected_character: "mu/unexpected-character",
        name_too_long: None,
        too_deep: "mu/too-deep",
        too_many_errors: "mu/too-many-errors",
    };
    const WHOLE: &'static str = "text";
    const NESTING_LIMIT: u32 = NESTING_LIMIT;
    const FLATTER: &'static str =
        "chains of `&&`, `||`, `->`, `.` and `|` may have any length without brackets";

    fn sign(foreign: char) -> Option<&'static str> {
        match foreign {
            '&' => Some("&&"),
            '⇒' | '⟶' | '=' => Some("->"),
            '⊤' => Some("tt"),
            '⊥' => Some("ff"),
            _ => None,
        }
    }
}

/// Messages.
impl Parser<'_> {
    /// Reports that `what` does not follow a whole formula, where an operator may have been meant.
    pub(super) fn expected_after_formula(&mut self, what: &str) -> Reported {
        let help = match self.kind() {
            Token::Bar => {
                Some("`|` is for actions, as in `<a | b>`; between formulas write `||`".to_string())
            }
            Token::Less | Token::OpenBracket | Token::Open | Token::Word | Token::Not => {
                Some("between formulas write `&&`, `||` or `->`".to_string())
            }
            _ => None,
        };
        self.expected_with(what, help)
    }

    /// Reads a closing bracket, or reports which one is open.
    pub(super) fn close(&mut self, kind: Token, open: Span, sign: &str) -> Result<(), Reported> {
        if self.eat(kind) { Ok(()) } else { Err(self.unclosed(open, sign)) }
    }

    pub(super) fn unclosed(&mut self, open: Span, sign: &str) -> Reported {
        let help = match self.kind() {
            Token::Or => Some("between actions write `|`, as in `<a | b>`".to_string()),
            Token::And => Some("actions have no `&&`; `<a>phi && <b>phi` has two modalities".to_string()),
            _ => self.sign_here(),
        };
        let message = format!("expected {sign}, found {}", self.found());
        let diagnostic = Diagnostic::error("mu/unclosed-bracket", self.clipped(self.span()), message)
            .label("the bracket should end before this")
            .also(open, "opened here")
            .help(help);
        self.error(diagnostic)
    }

    pub(super) fn no_variable_name(&mut self, name: &Name) -> Reported {
        let capital: String = {
            let mut chars = name.text.chars();
            chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
        };
        let fits = capital != name.text && capital.starts_with(|c: char| c.is_ascii_uppercase());
        let message = format!("`{}` cannot be a variable", name.text);
        let mut diagnostic = Diagnostic::error("mu/variable-name", name.span, message)
            .label("a variable is a word with a capital letter first")
            .help(fits.then(|| format!("write `{capital}`, here and where it is used")));
        if fits {
            let edits = self.uses_below(name).into_iter().map(|span| (span, capital.clone())).collect();
            diagnostic.fix = Some(Fix { title: format!("write `{capital}`"), edits });
        }
        self.error(diagnostic)
    }

    /// The places of a word in the rest of the property, outside of the actions of modalities.
    fn uses_below(&self, name: &Name) -> Vec<Span> {
        let mut found = vec![name.span];
        let mut is_in_modality = false;
        let mut at = self.tokens.at(name.span.end);
        while !matches!(self.tokens.kind(at), Token::End | Token::Semicolon) {
            match self.tokens.kind(at) {
                Token::Less | Token::OpenBracket => is_in_modality = true,
                Token::Greater | Token::CloseBracket => is_in_modality = false,
                Token::Word if !is_in_modality && self.word_at(at) == name.text => {
                    found.push(self.tokens.span(at));
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    pub(super) fn duplicate(&mut self, name: &Name, first: Span) {
        let message = format!("there are two properties `{}`", name.text);
        self.error(
            Diagnostic::error("mu/duplicate-property", name.span, message)
                .also(first, "the first one")
                .hint("reports name properties, so each needs a name of its own"),
        );
    }

    /// Skips to after the next `;`, or to what looks like the next property.
    pub(super) fn skip_property(&mut self) {
        self.depth = 0;
        while self.kind() != Token::End {
            if self.eat(Token::Semicolon) {
                return;
            }
            let is_name = self.kind() == Token::Word && self.kind_ahead(1) == Token::Colon;
            if is_name && self.begins_line() {
                return;
            }
            self.advance();
        }
    }
}
