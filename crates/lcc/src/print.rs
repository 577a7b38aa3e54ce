//! Prints terms, processes and constraints. Printed terms and constraints parse as the same terms.

use std::fmt::Write;

use masque_text::LONGEST_NAME;

use crate::parser::RESERVED;
use crate::symbol::Symbol;
use crate::term::{Head, TermId, Terms};

/// Maximum nesting of a printed term. Deeper parts are printed as `..`.
const MAX_PRINTED_DEPTH: u32 = 1000;

impl Terms {
    /// Prints a term with numbered variables `_0`, `_1` .. and without spaces after commas, as labels and
    /// states show it.
    pub(crate) fn text(&self, term: TermId) -> String {
        let mut printer = Printer { terms: self, out: String::new(), is_anonymous: false, comma: "," };
        printer.term(term, 0);
        printer.out
    }

    /// Prints a term for readers: every variable is `_`.
    pub(crate) fn shape(&self, term: TermId) -> String {
        let mut printer = Printer { terms: self, out: String::new(), is_anonymous: true, comma: ", " };
        printer.term(term, 0);
        printer.out
    }
}

struct Printer<'t> {
    terms: &'t Terms,
    out: String,
    is_anonymous: bool,
    comma: &'static str,
}

impl Printer<'_> {
    fn term(&mut self, term: TermId, depth: u32) {
        if depth > MAX_PRINTED_DEPTH {
            return self.out.push_str("..");
        }
        let terms = self.terms;
        let args = terms.args(term);
        let _ = match terms.head(term) {
            Head::Var(_) if self.is_anonymous => write!(self.out, "_"),
            Head::Var(number) => write!(self.out, "_{number}"),
            Head::Int(value) => write!(self.out, "{value}"),
            Head::Decimal(value) => write!(self.out, "{}", decimal(value)),
            Head::App(Symbol::CONS) => return self.list(term, depth),
            Head::App(symbol) if symbol.is_built_in() => return self.built_in(symbol, args, depth),
            Head::App(symbol) => {
                self.out.push_str(&quoted(terms.symbols.name(symbol), !args.is_empty()));
                if !args.is_empty() {
                    self.sequence("(", self.comma, ")", args, depth);
                }
                Ok(())
            }
        };
    }

    fn sequence(&mut self, open: &str, between: &str, close: &str, args: &[TermId], depth: u32) {
        self.out.push_str(open);
        for (index, arg) in args.iter().enumerate() {
            if index > 0 {
                self.out.push_str(between);
            }
            self.term(*arg, depth + 1);
        }
        self.out.push_str(close);
    }

    fn list(&mut self, mut term: TermId, depth: u32) {
        let mut items = Vec::new();
        while self.terms.symbol(term) == Some(Symbol::CONS) {
            items.push(self.terms.arg(term, 0));
            term = self.terms.arg(term, 1);
        }
        self.sequence("[", self.comma, "", &items, depth);
        if self.terms.symbol(term) != Some(Symbol::EMPTY) {
            self.out.push('|');
            self.term(term, depth + 1);
        }
        self.out.push(']');
    }

    /// Prints processes, constraints, arithmetic, messages and labels.
    fn built_in(&mut self, symbol: Symbol, args: &[TermId], depth: u32) {
        let name = self.terms.symbols.name(symbol);
        let comma = self.comma;
        match (symbol, args) {
            (Symbol::CALL, _) => self.sequence("a(", comma, ")", args, depth),
            (Symbol::SEND | Symbol::RECEIVE, [message, agent @ ..]) => {
                self.term(*message, depth + 1);
                self.sequence(&format!(" {name} a("), comma, ")", agent, depth);
            }
            (Symbol::FRAME, _) => self.sequence("{", ": ", "}", args, depth),
            (Symbol::PERMIT | Symbol::FORBID, [subject, object, action]) => {
                self.sequence("(", comma, comma, &[*subject, *object], depth);
                self.sequence(name, "", ")", &[*action], depth);
            }
            (Symbol::NOT, _) => self.sequence("not ", "", "", args, depth),
            (Symbol::MESSAGE, [from_role, from, to_role, to, message]) => {
                self.sequence("a(", comma, ") -> ", &[*from_role, *from], depth);
                self.sequence("a(", comma, ") : ", &[*to_role, *to], depth);
                self.term(*message, depth + 1);
            }
            (Symbol::SET, _) => self.sequence("{", comma, "}", args, depth),
            (Symbol::PLUS | Symbol::MINUS | Symbol::TIMES | Symbol::DIVIDE, _) => {
                self.sequence("(", name, ")", args, depth);
            }
            (Symbol::THEN | Symbol::PAR | Symbol::EITHER | Symbol::AND | Symbol::OR | Symbol::MOD, _) => {
                self.sequence("(", &format!(" {name} "), ")", args, depth);
            }
            (_, [_, _]) => self.sequence("", &format!(" {name} "), "", args, depth),
            (_, []) => self.out.push_str(name),
            _ => self.sequence(&format!("{name}("), comma, ")", args, depth),
        }
    }
}

/// Returns a name, quoted if it would otherwise be parsed as something else. No name contains both kinds of
/// quotes.
pub(crate) fn quoted(name: &str, is_applied: bool) -> String {
    // `_find(X)` is a built-in predicate of LiJ, but `_find` alone is a variable.
    let has_word_start = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '$')
        || (is_applied && name.starts_with('_') && name.len() > 1);
    let is_word = has_word_start
        && name.len() <= LONGEST_NAME
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$".contains(c));
    match (is_word && !RESERVED.contains(&name), name.contains('\'')) {
        (true, _) => name.to_string(),
        (false, false) => format!("'{name}'"),
        (false, true) => format!("\"{name}\""),
    }
}

/// Returns the constant with this name as text, in quotes if necessary, so that no name is read as a variable or a
/// number; `None` if no constant can have the name.
///
/// ```
/// assert_eq!(masque_lcc::constant("Ann").as_deref(), Some("'Ann'"));
/// assert_eq!(masque_lcc::constant("ann").as_deref(), Some("ann"));
/// ```
pub fn constant(name: &str) -> Option<String> {
    let is_one_line = !name.contains(['\n', '\r']);
    let has_both_quotes = ['\'', '"'].iter().all(|quote| name.contains(*quote));
    (is_one_line && !has_both_quotes).then(|| quoted(name, false))
}

/// Prints a decimal with a point and without an exponent, because the language has no exponents.
pub fn decimal(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.1}") } else { value.to_string() }
}

#[cfg(test)]
mod tests;
