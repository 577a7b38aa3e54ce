//! Exact evaluation of the few expressions that need it: fractions, and numbers beyond 64 bits.
//!
//! All other expressions are compiled (`compile`). This evaluates the expression's parts in order, operands
//! before users, with the rational numbers of `masque_model::semantics`.

use masque_model::semantics::Ratio;
use masque_model::{AgentId, Expr, ExprId, System, VarId};
use rustc_hash::FxHashMap;

use crate::bounds::parts;
use crate::layout::Layout;

/// An expression and its parts, ready to be evaluated on packed rows.
#[derive(Debug)]
pub(crate) struct Exact<'s> {
    system: &'s System,
    parts: Vec<ExprId>,
    positions: FxHashMap<ExprId, usize>,
}

impl<'s> Exact<'s> {
    pub(crate) fn new(system: &'s System, root: ExprId) -> Exact<'s> {
        let parts = parts(&system.exprs, [root]);
        let positions = parts.iter().copied().zip(0..).collect();
        Exact { system, parts, positions }
    }

    /// Returns the number of parts, including the expression itself.
    pub(crate) fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the value in a row, which contains the actions of the current step; `None` if it is undefined.
    pub(crate) fn value(&self, layout: &Layout, row: &[u64]) -> Option<Ratio> {
        let system = self.system;
        let mut values: Vec<Option<Ratio>> = Vec::with_capacity(self.parts.len());
        for &part in &self.parts {
            let value = self.part_value(system.exprs.get(part), &values, layout, row);
            values.push(value);
        }
        values.pop().flatten()
    }

    /// Whether a condition is true. An undefined condition is not.
    pub(crate) fn is_true(&self, layout: &Layout, row: &[u64]) -> bool {
        self.value(layout, row).is_some_and(is_nonzero)
    }

    /// Returns the code of the value in a variable's domain; `None` if the value is outside.
    pub(crate) fn code(&self, layout: &Layout, row: &[u64], target: VarId) -> Option<u64> {
        layout.code(self.system, target, self.value(layout, row)?.as_integer()?)
    }

    fn part_value(
        &self,
        expr: Expr<'_>,
        values: &[Option<Ratio>],
        layout: &Layout,
        row: &[u64],
    ) -> Option<Ratio> {
        let of = |e: ExprId| values[self.positions[&e]];
        let truth = |e: ExprId| of(e).map(is_nonzero);
        let count_true =
            |list: &[ExprId]| list.iter().try_fold(0, |count, &e| truth(e).map(|b| count + usize::from(b)));
        let boolean = |b: bool| Some(Ratio::integer(i64::from(b)));
        match expr {
            Expr::Bool(b) => boolean(b),
            Expr::Number(n) => Some(Ratio::integer(n)),
            Expr::Symbol(s) => Some(Ratio::integer(i64::from(s.0))),
            Expr::Variable(v) => Some(Ratio::integer(layout.value(self.system, v, row))),
            Expr::ActionIs(agent, action) => boolean(acts(layout, row, agent) == u64::from(action.0)),
            Expr::Not(a) => boolean(!truth(a)?),
            Expr::And(list) => boolean(count_true(list)? == list.len()),
            Expr::Or(list) => boolean(count_true(list)? > 0),
            Expr::Xor(list) => boolean(count_true(list)? % 2 == 1),
            Expr::Compare(relation, a, b) => {
                boolean(of(a).zip(of(b)).is_some_and(|(a, b)| relation.admits(a.cmp(&b))))
            }
            Expr::Sum(list) => list.iter().try_fold(Ratio::integer(0), |sum, &e| Some(sum.plus(of(e)?))),
            Expr::Product(list) => {
                list.iter().try_fold(Ratio::integer(1), |product, &e| Some(product.times(of(e)?)))
            }
            Expr::Negate(a) => Some(of(a)?.negated()),
            Expr::Divide(a, b) => of(a)?.divide(of(b)?),
            Expr::Modulo(a, b) => of(a)?.modulo(of(b)?),
        }
    }
}

fn acts(layout: &Layout, row: &[u64], agent: AgentId) -> u64 {
    layout.action(agent).get(row)
}

fn is_nonzero(value: Ratio) -> bool {
    value != Ratio::integer(0)
}
