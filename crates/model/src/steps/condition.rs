//! Conditions, evaluated only as far as necessary.

use crate::semantics::is_true;
use crate::{ActionId, Expr, ExprId, Relation, System};

/// Returns whether a condition is true, like [`is_true`], but stops at the first operand that determines the
/// result. A checked system has no condition without a value below `and`, `or` and `not`: comparisons always
/// have one. So it does not matter which operands are evaluated.
pub(super) fn holds(system: &System, condition: ExprId, state: &[i64], joint: &[ActionId]) -> bool {
    let of = |e: ExprId| holds(system, e, state, joint);
    match system.exprs.get(condition) {
        Expr::And(list) => list.iter().all(|&e| of(e)),
        Expr::Or(list) => list.iter().any(|&e| of(e)),
        Expr::Not(a) => !of(a),
        Expr::ActionIs(agent, action) => joint.get(agent.index()) == Some(&action),
        Expr::Compare(Relation::Equal, a, b) => match (system.exprs.get(a), system.exprs.get(b)) {
            (Expr::Variable(v), Expr::Number(n)) => state[v.index()] == n,
            (Expr::Variable(v), Expr::Symbol(s)) => state[v.index()] == i64::from(s.0),
            _ => is_true(system, condition, state, joint),
        },
        _ => is_true(system, condition, state, joint),
    }
}
