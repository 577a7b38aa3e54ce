//! Canonical text of terms and formulas.
//!
//! Two attitudes are the same variable iff their canonical texts are equal. So the text preserves the
//! structure of the formula and nothing else: it has only necessary brackets and uniform spacing.

use crate::tree::{Binary, Expr, ExprKind, Quantifier, Term, Unary};

/// Precedence of an expression; one with a lower precedence than its context requires gets brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Iff,
    Implies,
    Or,
    And,
    Compare,
    Sum,
    Prefix,
    Primary,
}

/// Returns the canonical text of a formula.
pub fn formula_text(expr: &Expr) -> String {
    let mut out = String::new();
    write(&mut out, expr, Level::Iff);
    out
}

/// Returns the canonical text of a term.
pub(crate) fn term_text(term: &Term) -> String {
    let mut out = String::new();
    write_term(&mut out, term);
    out
}

fn write_term(out: &mut String, term: &Term) {
    out.push_str(&term.name.text);
    if let Some(args) = &term.args {
        out.push('(');
        for (i, arg) in args.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            write(out, arg, Level::Iff);
        }
        out.push(')');
    }
}

fn level(kind: &ExprKind) -> Level {
    match kind {
        ExprKind::Iff(_) => Level::Iff,
        ExprKind::Implies(_) => Level::Implies,
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Compare(..) => Level::Compare,
        ExprKind::Sum(_) => Level::Sum,
        ExprKind::Not(_)
        | ExprKind::Do(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Commit(..)
        | ExprKind::Persistent(_) => Level::Prefix,
        ExprKind::Constant(_) | ExprKind::Number(_) | ExprKind::Term(_) | ExprKind::Attitude { .. } => {
            Level::Primary
        }
    }
}

/// Returns the level at which the items of a chain are written: one tighter than the chain itself.
fn inside(level: Level) -> Level {
    match level {
        Level::Iff => Level::Implies,
        Level::Implies => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Compare,
        Level::Compare => Level::Sum,
        Level::Sum | Level::Prefix | Level::Primary => Level::Primary,
    }
}

/// Writes an expression in a context that requires a level.
fn write(out: &mut String, expr: &Expr, required: Level) {
    let own = level(&expr.kind);
    // A prefix applies to a whole comparison: `!a < b` is `!(a < b)`.
    let is_side_of_comparison = required == Level::Sum;
    if own < required || is_side_of_comparison && own == Level::Prefix {
        out.push('(');
        write(out, expr, Level::Iff);
        out.push(')');
        return;
    }
    let chain = |out: &mut String, items: &[Expr], sign: &str| {
        for (i, item) in items.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { sign });
            write(out, item, inside(own));
        }
    };
    match &expr.kind {
        ExprKind::Constant(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Number(value) => out.push_str(&value.to_string()),
        ExprKind::Term(term) => write_term(out, term),
        ExprKind::Do(action) => {
            out.push_str("do ");
            write_term(out, action);
        }
        ExprKind::Not(arg) => {
            out.push('!');
            write(out, arg, Level::Prefix);
        }
        ExprKind::And(items) => chain(out, items, " & "),
        ExprKind::Or(items) => chain(out, items, " | "),
        ExprKind::Implies(items) => chain(out, items, " -> "),
        ExprKind::Iff(items) => chain(out, items, " <-> "),
        ExprKind::Unary(quantifier, op, arg) => {
            out.push_str(quantifier_text(*quantifier));
            out.push_str(unary_text(*op));
            write(out, arg, Level::Prefix);
        }
        ExprKind::Binary(quantifier, op, args) => {
            out.push_str(quantifier_text(*quantifier));
            out.push('[');
            write(out, &args[0], Level::Iff);
            out.push_str(binary_text(*op));
            write(out, &args[1], Level::Iff);
            out.push(']');
        }
        ExprKind::Attitude { op, dual, agent, arg } => {
            out.push_str(if *dual { "P" } else { "" });
            out.push_str(op.name());
            out.push('(');
            out.push_str(&agent.text);
            out.push_str(", ");
            write(out, arg, Level::Iff);
            out.push(')');
        }
        ExprKind::Compare(rel, args) => {
            write(out, &args[0], inside(own));
            out.push_str(&format!(" {} ", rel.sign()));
            write(out, &args[1], inside(own));
        }
        ExprKind::Sum(items) => {
            for (i, (is_negative, item)) in items.iter().enumerate() {
                out.push_str(sum_sign(i, *is_negative));
                write(out, item, inside(own));
            }
        }
        ExprKind::Commit(commitment, intention) => {
            out.push_str(commitment.name());
            out.push(' ');
            write(out, intention, Level::Prefix);
        }
        ExprKind::Persistent(args) => {
            out.push_str("persistent ");
            write(out, &args[0], Level::Prefix);
            out.push_str(" unless ");
            write(out, &args[1], Level::Prefix);
        }
    }
}

/// Returns the sign before the item of a sum with this index.
pub(crate) fn sum_sign(index: usize, is_negative: bool) -> &'static str {
    match (index, is_negative) {
        (0, false) => "",
        (0, true) => "-",
        (_, false) => " + ",
        (_, true) => " - ",
    }
}

fn quantifier_text(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::E => "E",
        Quantifier::A => "A",
    }
}

fn unary_text(op: Unary) -> &'static str {
    match op {
        Unary::X => "X ",
        Unary::F => "F ",
        Unary::G => "G ",
    }
}

fn binary_text(op: Binary) -> &'static str {
    match op {
        Binary::U => " U ",
        Binary::R => " R ",
        Binary::W => " W ",
    }
}
