//! Evaluation of the arithmetic expressions in `is` and in comparisons.

use std::cmp::Ordering;

use crate::symbol::Symbol;
use crate::term::{Bindings, Head, TermId, Terms};

/// Maximum nesting of an expression. A deeper expression has no value.
const MAX_EXPRESSION_DEPTH: u32 = 500;

/// The value of an arithmetic expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    Decimal(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Decimal(value) => value,
        }
    }

    /// Returns the term of this number; `None` if the number is not finite.
    pub(crate) fn term(self, terms: &mut Terms) -> Option<TermId> {
        match self {
            Number::Int(value) => Some(terms.int(value)),
            Number::Decimal(value) if value.is_finite() => Some(terms.make(Head::Decimal(value), &[])),
            Number::Decimal(_) => None,
        }
    }

    /// Compares two numbers by value; `None` if one of them is not a number (NaN).
    pub(crate) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(left), Number::Int(right)) => Some(left.cmp(&right)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }
}

/// Computes the value of an expression; `None` if it has unbound variables, is not arithmetic, or
/// overflows.
pub(crate) fn evaluate(terms: &Terms, bindings: &Bindings, term: TermId) -> Option<Number> {
    value(terms, bindings, term, 0)
}

fn value(terms: &Terms, bindings: &Bindings, term: TermId, depth: u32) -> Option<Number> {
    if depth > MAX_EXPRESSION_DEPTH {
        return None;
    }
    let term = terms.walk(term, bindings);
    let symbol = match terms.head(term) {
        Head::Int(value) => return Some(Number::Int(value)),
        Head::Decimal(value) => return Some(Number::Decimal(value)),
        Head::Var(_) => return None,
        Head::App(symbol) => symbol,
    };
    match *terms.args(term) {
        [inner] if symbol == Symbol::NEGATIVE => match value(terms, bindings, inner, depth + 1)? {
            Number::Int(inner) => inner.checked_neg().map(Number::Int),
            Number::Decimal(inner) => Some(Number::Decimal(-inner)),
        },
        [left, right] => {
            let left = value(terms, bindings, left, depth + 1)?;
            let right = value(terms, bindings, right, depth + 1)?;
            binary(symbol, left, right)
        }
        _ => None,
    }
}

/// Applies an operator as Prolog does: `/` of integers is an integer if the division has no remainder.
fn binary(symbol: Symbol, left: Number, right: Number) -> Option<Number> {
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        return match symbol {
            Symbol::PLUS => left.checked_add(right).map(Number::Int),
            Symbol::MINUS => left.checked_sub(right).map(Number::Int),
            Symbol::TIMES => left.checked_mul(right).map(Number::Int),
            Symbol::DIVIDE if right != 0 && left.checked_rem(right)? == 0 => {
                left.checked_div(right).map(Number::Int)
            }
            Symbol::DIVIDE if right != 0 => Some(Number::Decimal(left as f64 / right as f64)),
            // The result has the sign of the divisor.
            Symbol::MOD => {
                let rest = left.checked_rem(right)?;
                Some(Number::Int(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }))
            }
            _ => None,
        };
    }
    let (left, right) = (left.float(), right.float());
    let value = match symbol {
        Symbol::PLUS => left + right,
        Symbol::MINUS => left - right,
        Symbol::TIMES => left * right,
        Symbol::DIVIDE => left / right,
        _ => return None,
    };
    value.is_finite().then_some(Number::Decimal(value))
}
