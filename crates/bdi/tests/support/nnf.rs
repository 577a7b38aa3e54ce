//! Negation normal form: negation only before atoms and attitudes.
//!
//! `!O(i, f)` is a literal, because the core logic has no dual of `O`; the argument belongs to another
//! world and is put into normal form separately.

use masque_bdi::tree::{Binary, Expr, Kind, Quantifier, Rel, Unary};

/// Pushes negations inwards.
pub(crate) fn nnf(expr: &Expr) -> Expr {
    push(expr, false)
}

/// Returns the normal form of a formula or, with `negate`, of its negation.
fn push(expr: &Expr, negate: bool) -> Expr {
    let make = |kind| Expr { kind, span: expr.span };
    let boxed = |arg: &Expr, negate| Box::new(push(arg, negate));
    let all = |items: &[Expr], negate| items.iter().map(|item| push(item, negate)).collect::<Vec<_>>();
    let literal = |kind: Kind| {
        let positive = make(kind);
        if negate { make(Kind::Not(Box::new(positive))) } else { positive }
    };
    match &expr.kind {
        Kind::Constant(value) => make(Kind::Constant(*value != negate)),
        Kind::Not(arg) => push(arg, !negate),
        Kind::And(items) if negate => make(Kind::Or(all(items, true))),
        Kind::And(items) => make(Kind::And(all(items, false))),
        Kind::Or(items) if negate => make(Kind::And(all(items, true))),
        Kind::Or(items) => make(Kind::Or(all(items, false))),
        Kind::Implies(items) => {
            let Some((last, antecedents)) = items.split_last() else { return expr.clone() };
            let mut parts = all(antecedents, !negate);
            parts.push(push(last, negate));
            make(if negate { Kind::And(parts) } else { Kind::Or(parts) })
        }
        Kind::Iff(items) => {
            // Negating one side negates the whole equivalence.
            let Some((first, rest)) = items.split_first() else { return expr.clone() };
            let mut parts = vec![push(first, negate)];
            parts.extend(all(rest, false));
            make(Kind::Iff(parts))
        }
        Kind::Unary(quantifier, op, arg) if negate => {
            let op = match op {
                Unary::X => Unary::X,
                Unary::F => Unary::G,
                Unary::G => Unary::F,
            };
            make(Kind::Unary(dual(*quantifier), op, boxed(arg, true)))
        }
        Kind::Unary(quantifier, op, arg) => make(Kind::Unary(*quantifier, *op, boxed(arg, false))),
        Kind::Binary(quantifier, op, args) => {
            let [f, g] = &**args;
            let (quantifier, op, f, g) = match (negate, op) {
                (false, _) => (*quantifier, *op, push(f, false), push(g, false)),
                (true, Binary::U) => (dual(*quantifier), Binary::R, push(f, true), push(g, true)),
                (true, Binary::R) => (dual(*quantifier), Binary::U, push(f, true), push(g, true)),
                // f W g = g R (f | g)
                (true, Binary::W) => {
                    let either = make(Kind::And(vec![push(f, true), push(g, true)]));
                    (dual(*quantifier), Binary::U, push(g, true), either)
                }
            };
            make(Kind::Binary(quantifier, op, Box::new([f, g])))
        }
        Kind::Attitude { op, dual: false, agent, arg } => {
            literal(Kind::Attitude { op: *op, dual: false, agent: agent.clone(), arg: boxed(arg, false) })
        }
        // !PB(i, f) = B(i, !f)
        Kind::Attitude { op, dual: true, agent, arg } => {
            make(Kind::Attitude { op: *op, dual: !negate, agent: agent.clone(), arg: boxed(arg, negate) })
        }
        Kind::Compare(rel, args) => {
            let rel = match (negate, rel) {
                (false, rel) => *rel,
                (true, Rel::Eq) => Rel::Ne,
                (true, Rel::Ne) => Rel::Eq,
                (true, Rel::Lt) => Rel::Ge,
                (true, Rel::Ge) => Rel::Lt,
                (true, Rel::Gt) => Rel::Le,
                (true, Rel::Le) => Rel::Gt,
            };
            make(Kind::Compare(rel, args.clone()))
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
