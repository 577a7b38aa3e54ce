//! The value of an expression in a state.

use super::Ratio;
use crate::{ActionId, AgentId, Expr, ExprId, System};

/// Returns the value of an expression in `state`, where the agents perform `joint`; `None` if it divides by
/// zero, or takes `mod` by zero or of a fraction.
///
/// `joint` has one action per agent. Outside evolution lines it is empty: no agent acts there.
///
/// ```text
/// value(true) = 1    value(false) = 0    value(symbol) = its number    value(v) = state(v)
/// value(a op b) = value(a) op value(b), none if either is none
/// value(a ~ b) = 1 iff both have values and value(a) ~ value(b), otherwise 0
/// ```
pub fn value(system: &System, expr: ExprId, state: &[i64], joint: &[ActionId]) -> Option<Ratio> {
    let of = |e: ExprId| value(system, e, state, joint);
    let truth = |e: ExprId| Some(of(e)? != Ratio::integer(0));
    let boolean = |b: bool| Ratio::integer(i64::from(b));
    // If an operand has no value, the operation has none, even where the other operands determine the
    // result; hence all operands are evaluated.
    let truths = |list: &[ExprId]| list.iter().map(|&e| truth(e)).collect::<Option<Vec<bool>>>();
    Some(match system.exprs.get(expr) {
        Expr::Bool(b) => boolean(b),
        Expr::Number(n) => Ratio::integer(n),
        Expr::Symbol(s) => Ratio::integer(i64::from(s.0)),
        Expr::Variable(v) => Ratio::integer(state[v.index()]),
        Expr::ActionIs(agent, action) => boolean(joint.get(agent.index()) == Some(&action)),
        Expr::Not(a) => boolean(!truth(a)?),
        Expr::And(list) => boolean(truths(list)?.into_iter().all(|b| b)),
        Expr::Or(list) => boolean(truths(list)?.into_iter().any(|b| b)),
        Expr::Xor(list) => boolean(truths(list)?.into_iter().filter(|&b| b).count() % 2 == 1),
        Expr::Compare(relation, a, b) => match (of(a), of(b)) {
            (Some(a), Some(b)) => boolean(relation.admits(a.cmp(&b))),
            _ => boolean(false),
        },
        Expr::Sum(list) => list.iter().try_fold(Ratio::integer(0), |sum, &e| Some(sum.plus(of(e)?)))?,
        Expr::Product(list) => {
            list.iter().try_fold(Ratio::integer(1), |product, &e| Some(product.times(of(e)?)))?
        }
        Expr::Negate(a) => of(a)?.negated(),
        Expr::Divide(a, b) => of(a)?.divide(of(b)?)?,
        Expr::Modulo(a, b) => of(a)?.modulo(of(b)?)?,
    })
}

/// Returns whether a condition is true; a condition without a value is not.
pub fn is_true(system: &System, condition: ExprId, state: &[i64], joint: &[ActionId]) -> bool {
    value(system, condition, state, joint).is_some_and(|v| v != Ratio::integer(0))
}

/// Returns whether the agent's local state is green: its RedStates is false there. Without RedStates, all
/// states are green.
pub fn is_green(system: &System, agent: AgentId, state: &[i64]) -> bool {
    system.agent(agent).red.is_none_or(|red| !is_true(system, red, state, &[]))
}
