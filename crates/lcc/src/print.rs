//! Terms, processes and constraints as text.

use std::fmt::Write;

use crate::symbol::Symbol;
use crate::term::{Head, TermId, Terms};

/// Terms nested deeper than this are shown as `..` from there on.
const DEEPEST: u32 = 1000;

impl Terms {
    /// The term as it would be written; variables are `_0`, `_1` ..
    pub(crate) fn text(&self, term: TermId) -> String {
        let mut out = String::new();
        self.write(&mut out, term, &mut |out, number| {
            let _ = write!(out, "_{number}");
        }, 0);
        out
    }

    /// The term with all its variables as `_`.
    pub(crate) fn shape(&self, term: TermId) -> String {
        let mut out = String::new();
        self.write(&mut out, term, &mut |out, _| out.push('_'), 0);
        out
    }

    fn write(&self, out: &mut String, term: TermId, var: &mut dyn FnMut(&mut String, u32), depth: u32) {
        if depth > DEEPEST {
            return out.push_str("..");
        }
        let args = self.args(term);
        match self.head(term) {
            Head::Var(number) => var(out, number),
            Head::Int(value) => {
                let _ = write!(out, "{value}");
            }
            Head::Decimal(value) => {
                let _ = write!(out, "{value:?}");
            }
            Head::App(Symbol::CONS) => self.write_list(out, term, var, depth),
            Head::App(symbol) if symbol.is_built_in() => self.write_built_in(out, symbol, args, var, depth),
            Head::App(symbol) => {
                out.push_str(&quoted(self.symbols.name(symbol)));
                if !args.is_empty() {
                    self.write_all(out, ["(", ",", ")"], args, var, depth);
                }
            }
        }
    }

    fn write_all(
        &self,
        out: &mut String,
        [open, between, close]: [&str; 3],
        args: &[TermId],
        var: &mut dyn FnMut(&mut String, u32),
        depth: u32,
    ) {
        out.push_str(open);
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                out.push_str(between);
            }
            self.write(out, *arg, var, depth + 1);
        }
        out.push_str(close);
    }

    fn write_list(&self, out: &mut String, mut term: TermId, var: &mut dyn FnMut(&mut String, u32), depth: u32) {
        out.push('[');
        let mut between = "";
        while self.symbol(term) == Some(Symbol::CONS) {
            out.push_str(between);
            self.write(out, self.arg(term, 0), var, depth + 1);
            between = ",";
            term = self.arg(term, 1);
        }
        if self.symbol(term) != Some(Symbol::EMPTY) {
            out.push('|');
            self.write(out, term, var, depth + 1);
        }
        out.push(']');
    }

    /// Processes, constraints, arithmetic, messages and labels.
    fn write_built_in(
        &self,
        out: &mut String,
        symbol: Symbol,
        args: &[TermId],
        var: &mut dyn FnMut(&mut String, u32),
        depth: u32,
    ) {
        let name = self.symbols.name(symbol);
        match (symbol, args) {
            (Symbol::CALL, _) => self.write_all(out, ["a(", ",", ")"], args, var, depth),
            (Symbol::SEND | Symbol::RECEIVE, [message, role, id]) => {
                self.write(out, *message, var, depth + 1);
                let _ = write!(out, " {name} ");
                self.write_all(out, ["a(", ",", ")"], &[*role, *id], var, depth);
            }
            (Symbol::FRAME, [role, process]) => {
                self.write_all(out, ["{", ": ", "}"], &[*role, *process], var, depth);
            }
            (Symbol::PERMIT | Symbol::FORBID, [subject, object, action]) => {
                self.write_all(out, ["(", ",", ","], &[*subject, *object], var, depth);
                out.push_str(name);
                self.write(out, *action, var, depth + 1);
                out.push(')');
            }
            (Symbol::NOT, [inner]) => {
                out.push_str("not ");
                self.write(out, *inner, var, depth + 1);
            }
            (Symbol::MESSAGE, [from_role, from, to_role, to, message]) => {
                self.write_all(out, ["a(", ",", ") -> "], &[*from_role, *from], var, depth);
                self.write_all(out, ["a(", ",", ") : "], &[*to_role, *to], var, depth);
                self.write(out, *message, var, depth + 1);
            }
            (Symbol::SET, _) => self.write_all(out, ["{", ",", "}"], args, var, depth),
            (Symbol::PLUS | Symbol::MINUS | Symbol::TIMES | Symbol::DIVIDE, [_, _]) => {
                self.write_all(out, ["(", name, ")"], args, var, depth);
            }
            (Symbol::THEN | Symbol::PAR | Symbol::EITHER | Symbol::AND | Symbol::OR | Symbol::MOD, [_, _]) => {
                self.write_all(out, ["(", &format!(" {name} "), ")"], args, var, depth);
            }
            (_, [_, _]) => self.write_all(out, ["", &format!(" {name} "), ""], args, var, depth),
            (_, []) => out.push_str(name),
            _ => {
                out.push_str(name);
                self.write_all(out, ["(", ",", ")"], args, var, depth);
            }
        }
    }
}

/// A name, in quotes if it would be read as something else.
fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '$')
        || (name.starts_with('_') && name.len() > 1);
    let is_plain = is_plain && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$".contains(c));
    match is_plain {
        true => name.to_string(),
        false => format!("'{name}'"),
    }
}
