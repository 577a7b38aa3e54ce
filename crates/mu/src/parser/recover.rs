//! Messages about syntax, and how reading goes on after one.

use masque_text::{Diagnostic, Span};

use super::{NESTING_LIMIT, Parser, Reported};
use crate::lexer::Token;
use crate::tree::Name;

/// After this many syntax errors the rest of the text is not read.
const ERROR_LIMIT: usize = 20;
/// Longer quotations are cut.
const SHOWN: usize = 40;

/// Messages.
impl Parser<'_> {
    /// Keeps an error, unless there are too many.
    fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        self.n_errors += 1;
        if self.n_errors <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        } else {
            let message = format!("there are more than {ERROR_LIMIT} errors");
            self.diagnostics.push(
                Diagnostic::error("mu/too-many-errors", self.clipped(self.span()), message)
                    .label("the text was read up to here")
                    .hint("mend the errors above first; the rest was not looked at"),
            );
            self.position = self.tokens.len();
        }
        Reported
    }

    /// The beginning of a span that may be too long to show.
    fn clipped(&self, span: Span) -> Span {
        let text = self.text_of(span);
        if text.len() <= SHOWN { span } else { span.slice(0, text.floor_char_boundary(SHOWN) as u32) }
    }

    /// What stands here, for a message.
    fn found(&self) -> String {
        let span = self.clipped(self.span());
        match self.kind() {
            Token::End => "the end of the text".to_string(),
            _ if span != self.span() => format!("`{}..`", self.text_of(span)),
            _ => format!("`{}`", self.text_of(span)),
        }
    }

    /// The token at hand is not what may stand here.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let help = self.foreign_sign();
        self.expected_with(what, help)
    }

    /// The same after a whole formula, where an operator may have been meant.
    pub(super) fn expected_after_formula(&mut self, what: &str) -> Reported {
        let help = match self.kind() {
            Token::Bar => {
                Some("`|` is for actions, as in `<a | b>`; between formulas write `||`".to_string())
            }
            Token::Less | Token::OpenBracket | Token::Open | Token::Word | Token::Not => {
                Some("between formulas write `&&`, `||` or `->`".to_string())
            }
            _ => self.foreign_sign(),
        };
        self.expected_with(what, help)
    }

    fn expected_with(&mut self, what: &str, help: Option<String>) -> Reported {
        let span = self.clipped(self.span());
        if self.kind() == Token::Unknown {
            let shown: String = self.text_here().chars().take(12).collect();
            let message = format!("`{}` is not part of the language", shown.escape_debug());
            return self.error(
                Diagnostic::error("mu/unexpected-character", span, message)
                    .label(format!("expected {what}"))
                    .help(help),
            );
        }
        let message = format!("expected {what}, found {}", self.found());
        // What is missing at the end is missing after the last token, not on the line after it.
        let at_end = self.kind() == Token::End && self.position > 0;
        let span = if at_end { self.last_span().after() } else { span };
        let mut diagnostic = Diagnostic::error("mu/unexpected-token", span, message).help(help);
        if what.len() <= SHOWN {
            diagnostic = diagnostic.label(format!("expected {what}"));
        }
        self.error(diagnostic)
    }

    /// How a sign of another notation is written here.
    fn foreign_sign(&self) -> Option<String> {
        let sign = match (self.kind(), self.text_here().chars().next()?) {
            (Token::Unknown, '&') => "&&",
            (Token::Unknown, '⇒' | '⟶' | '=') => "->",
            (Token::Unknown, '⟨') => "<..>",
            (Token::Unknown, '⊤') => "tt",
            (Token::Unknown, '⊥') => "ff",
            _ => return None,
        };
        Some(format!("write `{sign}`"))
    }

    /// Takes a closing bracket, or says which one is open.
    pub(super) fn close(&mut self, kind: Token, open: Span, sign: &str) -> Result<(), Reported> {
        if self.take(kind) { Ok(()) } else { Err(self.unclosed(open, sign)) }
    }

    pub(super) fn unclosed(&mut self, open: Span, sign: &str) -> Reported {
        let help = match self.kind() {
            Token::Or => Some("between actions write `|`, as in `<a | b>`".to_string()),
            Token::And => Some("actions have no `&&`; `<a>phi && <b>phi` has two modalities".to_string()),
            _ => self.foreign_sign(),
        };
        let message = format!("expected {sign}, found {}", self.found());
        self.error(
            Diagnostic::error("mu/unclosed-bracket", self.clipped(self.span()), message)
                .label("the bracket should end before this")
                .also(open, "opened here")
                .help(help),
        )
    }

    pub(super) fn no_variable_name(&mut self, name: &Name) -> Reported {
        let capital: String = {
            let mut chars = name.text.chars();
            chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
        };
        let fits = capital != name.text && capital.starts_with(|c: char| c.is_ascii_uppercase());
        let message = format!("`{}` cannot be a variable", name.text);
        self.error(
            Diagnostic::error("mu/variable-name", name.span, message)
                .label("a variable is a word with a capital letter first")
                .help(fits.then(|| format!("write `{capital}`, here and where it is used"))),
        )
    }

    pub(super) fn too_deep(&mut self) -> Reported {
        let message = format!("brackets and prefixes nest more than {NESTING_LIMIT} deep");
        self.error(
            Diagnostic::error("mu/too-deep", self.clipped(self.span()), message)
                .hint("chains of `&&`, `||`, `->`, `.` and `|` may have any length without brackets"),
        )
    }

    pub(super) fn duplicate(&mut self, name: &Name, first: Span) {
        let message = format!("there are two properties `{}`", name.text);
        self.error(
            Diagnostic::error("mu/duplicate-property", name.span, message)
                .also(first, "the first one")
                .hint("reports name properties, so each needs a name of its own"),
        );
    }

    /// Goes on after the next `;`, or before what looks like the next property.
    pub(super) fn skip_property(&mut self) {
        self.depth = 0;
        while self.kind() != Token::End {
            if self.take(Token::Semicolon) {
                return;
            }
            let next_is_colon = self.tokens.kind(self.position + 1) == Token::Colon;
            let begins_line = self.position == 0 || {
                let gap = Span { start: self.last_span().end, end: self.span().start };
                self.text_of(gap).contains('\n')
            };
            if self.kind() == Token::Word && next_is_colon && begins_line {
                return;
            }
            self.position += 1;
        }
    }
}
