//! Writes terms as statements that can be parsed again: `now`, `mail`, clauses and facts.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::print::{decimal, quoted};
use crate::program::{ClauseDef, FactDef};
use crate::symbol::Symbol;
use crate::term::{Functor, Head, TermId, Terms};

/// Maximum nesting of a written term. Deeper parts are written as `..`. Such a term cannot be parsed again,
/// nor can any other that exceeds the nesting limit of the parser.
const MAX_WRITTEN_DEPTH: u32 = 1000;
/// Words that need quotes because they have a meaning where a term may occur.
const QUOTED_WORDS: [&str; 6] = ["a", "null", "nil", "is", "mod", "until"];

/// How tightly an operator binds. An operand that binds less tightly than required needs brackets.
type Precedence = u8;
const ALTERNATIVES: Precedence = 0;
const PARALLEL: Precedence = 1;
const SEQUENCE: Precedence = 2;
const STEP: Precedence = 3;
const SUM: Precedence = 0;
const PRODUCT: Precedence = 1;

impl Terms {
    /// Writes `now a(role, id) :: rest.` for what remains of an agent's process: one statement for each of
    /// the roles in which it started in parallel. Roles that share variables are in one statement,
    /// `now a(_, id) :: {a(role, id) :: rest} par {..}.`, because a variable belongs to its statement.
    pub(crate) fn now(&self, id: TermId, process: TermId) -> Vec<String> {
        let mut parts = Vec::new();
        let mut rest = process;
        // `par` nests to the left, so the first role is innermost.
        while self.symbol(rest) == Some(Symbol::PAR) {
            parts.push(self.arg(rest, 1));
            rest = self.arg(rest, 0);
        }
        parts.push(rest);
        parts.reverse();
        if self.share_variables(&parts) {
            return vec![self.now_part(id, process)];
        }
        parts.into_iter().map(|part| self.now_part(id, part)).collect()
    }

    /// Whether a variable occurs in two of the terms.
    fn share_variables(&self, terms: &[TermId]) -> bool {
        let mut owners: FxHashMap<u32, usize> = FxHashMap::default();
        for (index, term) in terms.iter().enumerate() {
            let (mut left, mut seen) = (vec![*term], FxHashSet::default());
            while let Some(term) = left.pop() {
                if self.is_ground(term) || !seen.insert(term) {
                    continue;
                }
                match self.head(term) {
                    Head::Var(number) if *owners.entry(number).or_insert(index) != index => return true,
                    _ => left.extend(self.args(term)),
                }
            }
        }
        false
    }

    fn now_part(&self, id: TermId, process: TermId) -> String {
        let mut writer = Writer { terms: self, out: "now ".to_string(), id };
        match (self.symbol(process), self.args(process)) {
            (Some(Symbol::FRAME), [role, inner]) => {
                writer.agent(*role, id, 0);
                writer.out.push_str(" :: ");
                writer.process(*inner, ALTERNATIVES, 0);
            }
            (Some(Symbol::CALL), [role, _]) => {
                writer.agent(*role, id, 0);
                writer.out.push_str(" :: ");
                writer.process(process, ALTERNATIVES, 0);
            }
            _ => {
                writer.out.push_str("a(_, ");
                writer.term(id, SUM, 0);
                writer.out.push_str(") :: ");
                writer.process(process, ALTERNATIVES, 0);
            }
        }
        writer.out.push('.');
        writer.out
    }

    /// Writes `mail a(r, i) -> a(s, j) : M.` for a message under way.
    pub(crate) fn mail(&self, message: TermId) -> String {
        let mut writer = Writer { terms: self, out: "mail ".to_string(), id: message };
        if let [from_role, from, to_role, to, what] = self.args(message) {
            writer.agent(*from_role, *from, 0);
            writer.out.push_str(" -> ");
            writer.agent(*to_role, *to, 0);
            writer.out.push_str(" : ");
            writer.term(*what, SUM, 0);
        }
        writer.out.push('.');
        writer.out
    }
}

impl Terms {
    /// Writes a term as it stands in a statement.
    pub(crate) fn written(&self, term: TermId) -> String {
        let mut writer = Writer { terms: self, out: String::new(), id: term };
        writer.term(term, SUM, 0);
        writer.out
    }

    /// Writes `a(role, id)`.
    pub(crate) fn written_agent(&self, role: TermId, id: TermId) -> String {
        let mut writer = Writer { terms: self, out: String::new(), id };
        writer.agent(role, id, 0);
        writer.out
    }

    /// Writes `a(Role, Id) :: body.` for a clause of the protocol.
    pub(crate) fn clause(&self, clause: &ClauseDef) -> String {
        let mut writer = Writer { terms: self, out: String::new(), id: clause.id };
        writer.agent(clause.role, clause.id, 0);
        writer.out.push_str(" :: ");
        writer.process(clause.body, ALTERNATIVES, 0);
        writer.out.push('.');
        writer.out
    }

    /// Writes `head <- conditions.` for a fact, without its owner.
    pub(crate) fn fact(&self, fact: &FactDef) -> String {
        let mut writer = Writer { terms: self, out: String::new(), id: fact.head };
        writer.term(fact.head, SUM, 0);
        if let Some(body) = fact.body {
            writer.out.push_str(" <- ");
            writer.constraint(body, Symbol::AND, 0);
        }
        writer.out.push('.');
        writer.out
    }

    /// Writes `p/n` for a predicate.
    pub(crate) fn predicate(&self, functor: Functor) -> String {
        format!("{}/{}", quoted(self.symbols.name(functor.name), false), functor.arity)
    }
}

struct Writer<'t> {
    terms: &'t Terms,
    out: String,
    /// Id of the agent, for frames.
    id: TermId,
}

impl Writer<'_> {
    fn agent(&mut self, role: TermId, id: TermId, depth: u32) {
        self.out.push_str("a(");
        self.term(role, SUM, depth + 1);
        self.out.push_str(", ");
        self.term(id, SUM, depth + 1);
        self.out.push(')');
    }

    /// Writes a process, in brackets if it binds less tightly than `precedence`.
    fn process(&mut self, process: TermId, precedence: Precedence, depth: u32) {
        if depth > MAX_WRITTEN_DEPTH {
            return self.out.push_str("..");
        }
        let terms = self.terms;
        let (symbol, args) = (terms.symbol(process), terms.args(process));
        let (own, word) = match symbol {
            Some(Symbol::EITHER) => (ALTERNATIVES, " or "),
            Some(Symbol::PAR) => (PARALLEL, " par "),
            Some(Symbol::THEN) => (SEQUENCE, " then "),
            _ => return self.step(symbol, args, depth),
        };
        let is_bracketed = own < precedence || (own != ALTERNATIVES && precedence == PARALLEL);
        self.out.push_str(if is_bracketed { "(" } else { "" });
        // Chains nest to the right.
        let mut rest = process;
        while terms.symbol(rest) == symbol {
            self.process(terms.arg(rest, 0), own + 1, depth + 1);
            self.out.push_str(word);
            rest = terms.arg(rest, 1);
        }
        self.process(rest, own + 1, depth + 1);
        self.out.push_str(if is_bracketed { ")" } else { "" });
    }

    fn step(&mut self, symbol: Option<Symbol>, args: &[TermId], depth: u32) {
        match (symbol, args) {
            (Some(Symbol::NULL), _) => self.out.push_str("null"),
            (Some(Symbol::CALL), [role, id]) => self.agent(*role, *id, depth),
            (Some(Symbol::SEND | Symbol::RECEIVE), [message, role, id]) => {
                self.term(*message, SUM, depth + 1);
                self.out.push_str(if symbol == Some(Symbol::SEND) { " => " } else { " <= " });
                self.agent(*role, *id, depth);
            }
            (Some(Symbol::GUARD), [step, constraint]) => {
                self.process(*step, STEP, depth + 1);
                self.out.push_str(" <- ");
                self.constraint(*constraint, Symbol::AND, depth + 1);
            }
            (Some(Symbol::FRAME), [role, inner]) => {
                self.out.push('{');
                self.agent(*role, self.id, depth);
                self.out.push_str(" :: ");
                self.process(*inner, ALTERNATIVES, depth + 1);
                self.out.push('}');
            }
            _ => self.out.push_str("nil"),
        }
    }

    /// Writes a constraint. A chain of `and` or `or` is bracketed unless its operator is `within`.
    fn constraint(&mut self, constraint: TermId, within: Symbol, depth: u32) {
        if depth > MAX_WRITTEN_DEPTH {
            return self.out.push_str("..");
        }
        let terms = self.terms;
        let args = terms.args(constraint);
        match (terms.symbol(constraint), args) {
            (Some(symbol @ (Symbol::AND | Symbol::OR)), _) => {
                self.out.push_str(if symbol == within { "" } else { "(" });
                let mut rest = constraint;
                while terms.symbol(rest) == Some(symbol) {
                    self.constraint(terms.arg(rest, 0), Symbol::NOT, depth + 1);
                    self.out.push_str(if symbol == Symbol::AND { " and " } else { " or " });
                    rest = terms.arg(rest, 1);
                }
                self.constraint(rest, Symbol::NOT, depth + 1);
                self.out.push_str(if symbol == within { "" } else { ")" });
            }
            (Some(Symbol::NOT), [inner]) => {
                self.out.push_str("not ");
                self.constraint(*inner, Symbol::NOT, depth + 1);
            }
            (Some(symbol @ (Symbol::PERMIT | Symbol::FORBID)), [subject, object, action]) => {
                self.out.push('(');
                self.term(*subject, SUM, depth + 1);
                self.out.push_str(", ");
                self.term(*object, SUM, depth + 1);
                self.out.push_str(if symbol == Symbol::PERMIT { ", +" } else { ", -" });
                self.term(*action, SUM, depth + 1);
                self.out.push(')');
            }
            (Some(symbol), [left, right]) if is_comparison(symbol) => {
                self.term(*left, SUM, depth + 1);
                let _ = write!(self.out, " {} ", terms.symbols.name(symbol));
                self.term(*right, SUM, depth + 1);
            }
            _ => self.term(constraint, SUM, depth),
        }
    }

    /// Writes a term, in brackets if it binds less tightly than `precedence`.
    fn term(&mut self, term: TermId, precedence: Precedence, depth: u32) {
        if depth > MAX_WRITTEN_DEPTH {
            return self.out.push_str("..");
        }
        let terms = self.terms;
        let args = terms.args(term);
        let _ = match terms.head(term) {
            Head::Var(number) => write!(self.out, "V{number}"),
            Head::Int(value) => write!(self.out, "{value}"),
            Head::Decimal(value) => write!(self.out, "{}", decimal(value)),
            Head::App(Symbol::EMPTY) => write!(self.out, "[]"),
            Head::App(Symbol::CONS) => return self.list(term, depth),
            // The brackets distinguish the operation from the sign of a number.
            Head::App(Symbol::NEGATIVE) if args.len() == 1 => {
                self.out.push_str("-(");
                self.term(args[0], SUM, depth + 1);
                return self.out.push(')');
            }
            Head::App(symbol) if symbol.is_built_in() && args.len() == 2 => {
                let own = if matches!(symbol, Symbol::PLUS | Symbol::MINUS) { SUM } else { PRODUCT };
                self.out.push_str(if own < precedence { "(" } else { "" });
                self.term(args[0], own, depth + 1);
                let _ = write!(self.out, " {} ", terms.symbols.name(symbol));
                self.term(args[1], own + 1, depth + 1);
                return self.out.push_str(if own < precedence { ")" } else { "" });
            }
            Head::App(symbol) => {
                self.name(terms.symbols.name(symbol), !args.is_empty());
                return self.arguments(args, depth);
            }
        };
    }

    fn arguments(&mut self, args: &[TermId], depth: u32) {
        for (index, arg) in args.iter().enumerate() {
            self.out.push_str(if index == 0 { "(" } else { ", " });
            self.term(*arg, SUM, depth + 1);
        }
        self.out.push_str(if args.is_empty() { "" } else { ")" });
    }

    fn list(&mut self, mut term: TermId, depth: u32) {
        let terms = self.terms;
        let mut mark = "[";
        while terms.symbol(term) == Some(Symbol::CONS) {
            self.out.push_str(mark);
            self.term(terms.arg(term, 0), SUM, depth + 1);
            mark = ", ";
            term = terms.arg(term, 1);
        }
        if terms.symbol(term) != Some(Symbol::EMPTY) {
            self.out.push_str(" | ");
            self.term(term, SUM, depth + 1);
        }
        self.out.push(']');
    }

    /// Writes a name, quoted if it would otherwise be parsed as something else in a statement.
    fn name(&mut self, name: &str, is_applied: bool) {
        if QUOTED_WORDS.contains(&name) {
            self.out.push_str(&format!("'{name}'"))
        } else {
            self.out.push_str(&quoted(name, is_applied))
        }
    }
}

fn is_comparison(symbol: Symbol) -> bool {
    matches!(
        symbol,
        Symbol::UNIFY
            | Symbol::DIFFER
            | Symbol::SAME
            | Symbol::NOT_SAME
            | Symbol::LESS
            | Symbol::GREATER
            | Symbol::AT_MOST
            | Symbol::AT_LEAST
            | Symbol::IS
    )
}
