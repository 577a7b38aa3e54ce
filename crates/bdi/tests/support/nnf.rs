//! Negation normal form: negation only before atoms and attitudes.
//!
//! `!O(i, f)` is a literal, because the core logic has no dual of `O`; the argument belongs to another
//! world and is put into normal form separately.

use masque_bdi::tree::{Binary, Expr, ExprKind, Quantifier, Rel, Unary};

/// Pushes negations inwards.
pub(crate) fn nnf(expr: &Expr) -> Expr {
    push(expr, false)
}

/// Returns the normal form of a formula or, with `negate`, of its negation.
fn push(expr: &Expr, negate: bool) -> Expr {
    let make = |kind| Expr { kind, span: expr.span };
    let boxed = |arg: &Expr, negate| Box::new(push(arg, negate));
    let all = |items: &[Expr], negate| items.iter().map(|item| push(item, negate)).collect::<Vec<_>>();
    let literal = |kind: ExprKind| {
        let positive = make(kind);
        if negate { make(ExprKind::Not(Box::new(positive))) } else { positive }
    };
    match &expr.kind {
        ExprKind::Constant(value) => make(ExprKind::Constant(*value != negate)),
        ExprKind::Not(arg) => push(arg, !negate),
        ExprKind::And(items) if negate => make(ExprKind::Or(all(items, true))),
        ExprKind::And(items) => make(ExprKind::And(all(items, false))),
        ExprKind::Or(items) if negate => make(ExprKind::And(all(items, true))),
        ExprKind::Or(items) => make(ExprKind::Or(all(items, false))),
        ExprKind::Implies(items) => {
            let Some((last, antecedents)) = items.split_last() else { return expr.clone() };
            let mut parts = all(antecedents, !negate);
            parts.push(push(last, negate));
            make(if negate { ExprKind::And(parts) } else { ExprKind::Or(parts) })
        }
        ExprKind::Iff(items) => {
            // Negating one side negates the whole equivalence.
            let Some((first, rest)) = items.split_first() else { return expr.clone() };
            let mut parts = vec![push(first, negate)];
            parts.extend(all(rest, false));
            make(ExprKind::Iff(parts))
        }
        ExprKind::Unary(quantifier, op, arg) if negate => {
            let op = match op {
                Unary::X => Unary::X,
                Unary::F => Unary::G,
                Unary::G => Unary::F,
            };
            make(ExprKind::Unary(dual(*quantifier), op, boxed(arg, true)))
        }
        ExprKind::Unary(quantifier, op, arg) => make(ExprKind::Unary(*quantifier, *op, boxed(arg, false))),
        ExprKind::Binary(quantifier, op, args) => {
            let [f, g] = &**args;
            let (quantifier, op, f, g) = match (negate, op) {
                (false, _) => (*quantifier, *op, push(f, false), push(g, false)),
                (true, Binary::U) => (dual(*quantifier), Binary::R, push(f, true), push(g, true)),
                (true, Binary::R) => (dual(*quantifier), Binary::U, push(f, true), push(g, true)),
                // f W g = g R (f | g)
                (true, Binary::W) => {
                    let either = make(ExprKind::And(vec![push(f, true), push(g, true)]));
                    (dual(*quantifier), Binary::U, push(g, true), either)
                }
            };
            make(ExprKind::Binary(quantifier, op, Box::new([f, g])))
        }
        ExprKind::Attitude { op, dual: false, agent, arg } => {
            literal(ExprKind::Attitude { op: *op, dual: false, agent: agent.clone(), arg: boxed(arg, false) })
        }
        // !PB(i, f) = B(i, !f)
        ExprKind::Attitude { op, dual: true, agent, arg } => {
            make(ExprKind::Attitude { op: *op, dual: !negate, agent: agent.clone(), arg: boxed(arg, negate) })
        }
        ExprKind::Compare(rel, args) => {
            let rel = match (negate, rel) {
                (false, rel) => *rel,
                (true, Rel::Eq) => Rel::Ne,
                (true, Rel::Ne) => Rel::Eq,
                (true, Rel::Lt) => Rel::Ge,
                (true, Rel::Ge) => Rel::Lt,
                (true, Rel::Gt) => Rel::Le,
                (true, Rel::Le) => Rel::Gt,
            };
            make(ExprKind::Compare(rel, args.clone()))
        }
        atom => literal(atom.clone()),
    }
}

fn dual(quantifier: Quantifier) -> Quantifier {
    match quantifier {
        Quantifier::E => Quantifier::A,
        Quantifier::A => Quantifier::E,
    }
}
