//! The values of expressions as sets: for each value, the states and joint actions in which it is taken.

use std::collections::{BTreeMap, BTreeSet};

use masque_model::semantics::Ratio;
use masque_model::{AgentId, Expr, ExprId, Relation, System, VarId};
use rustc_hash::FxHashMap;

use crate::kernel::{Diagrams, Limit, Limited, Set};

/// Maximum number of values of one expression.
const MAX_VALUES: usize = 1 << 16;

/// The value of an expression: for each number, or number of a symbol, where it is taken; `true` is 1 and `false`
/// is 0. The sets are disjoint. Elsewhere the expression has no value (a division by zero, `mod` of a fraction), or
/// a code stands for no state.
pub(crate) type Value = BTreeMap<Ratio, Set>;

/// The levels of all bits. The lowest bit of a code comes first.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// For each variable the levels of the current value; the next value is one level below.
    pub(crate) variables: Vec<Vec<u32>>,
    /// For each agent the levels of the number of its action.
    pub(crate) actions: Vec<Vec<u32>>,
}

/// Encodes expressions.
pub(crate) struct Values<'s> {
    pub(crate) system: &'s System,
    pub(crate) diagrams: Diagrams,
    pub(crate) levels: Levels,
    known: FxHashMap<ExprId, Value>,
}

impl<'s> Values<'s> {
    pub(crate) fn new(system: &'s System, diagrams: Diagrams, levels: Levels) -> Values<'s> {
        Values { system, diagrams, levels, known: FxHashMap::default() }
    }

    /// Forgets the values of expressions, so that their diagrams can be dropped.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    /// Returns where a code stands at levels.
    pub(crate) fn code(&mut self, levels: &[u32], code: u64) -> Limited<Set> {
        let bits: Vec<(u32, bool)> =
            levels.iter().enumerate().map(|(power, &level)| (level, code >> power & 1 == 1)).collect();
        self.diagrams.literals(&bits)
    }

    /// Returns where a variable has a value now, or `offset` = 1, in the next state; `None` if the value is not in
    /// its domain.
    pub(crate) fn variable_is(&mut self, v: VarId, value: i64, offset: u32) -> Limited<Option<Set>> {
        let Some(code) = self.system.variable(v).domain.code(value) else { return Ok(None) };
        let levels: Vec<u32> = self.levels.variables[v.index()].iter().map(|level| level + offset).collect();
        self.code(&levels, code).map(Some)
    }

    /// Returns where an agent performs an action.
    pub(crate) fn action_is(&mut self, agent: AgentId, action: u32) -> Limited<Set> {
        let levels = self.levels.actions[agent.index()].clone();
        self.code(&levels, action.into())
    }

    /// Returns where a condition is true; a condition without a value is not.
    pub(crate) fn condition(&mut self, condition: ExprId) -> Limited<Set> {
        let value = self.value(condition)?;
        self.where_true(&value)
    }

    /// Returns where a value is not zero.
    fn where_true(&mut self, value: &Value) -> Limited<Set> {
        let sets = value.iter().filter(|(number, _)| **number != Ratio::integer(0));
        self.diagrams.union(sets.map(|(_, set)| set.clone()).collect())
    }

    /// Returns the value of an expression; its operands are evaluated first, without recursion.
    pub(crate) fn value(&mut self, root: ExprId) -> Limited<Value> {
        let mut needed = BTreeSet::from([root]);
        let mut open = vec![root];
        while let Some(expr) = open.pop() {
            if !self.known.contains_key(&expr) {
                self.system.exprs.each_operand(expr, |operand| {
                    if needed.insert(operand) {
                        open.push(operand);
                    }
                });
            }
        }
        for expr in needed {
            if !self.known.contains_key(&expr) {
                let value = self.evaluate(expr)?;
                self.known.insert(expr, value);
            }
        }
        Ok(self.known[&root].clone())
    }

    /// `model::semantics::value`, arm by arm.
    fn evaluate(&mut self, expr: ExprId) -> Limited<Value> {
        let of = |values: &Self, e: &ExprId| values.known[e].clone();
        let all = self.diagrams.constant(true);
        let (zero, one) = (Ratio::integer(0), Ratio::integer(1));
        Ok(match self.system.exprs.get(expr) {
            Expr::Bool(b) => Value::from([(Ratio::integer(b.into()), all)]),
            Expr::Number(n) => Value::from([(Ratio::integer(n), all)]),
            Expr::Symbol(s) => Value::from([(Ratio::integer(s.0.into()), all)]),
            Expr::Variable(v) => self.variable(v)?,
            Expr::ActionIs(agent, action) => {
                let yes = self.action_is(agent, action.0)?;
                self.truth(yes, all)?
            }
            Expr::Not(a) => {
                let a = of(self, &a);
                let (yes, defined) = (self.where_true(&a)?, self.defined(&a)?);
                let no = self.diagrams.minus(&defined, &yes)?;
                self.truth(no, defined)?
            }
            Expr::And(list) | Expr::Or(list) => {
                let is_and = matches!(self.system.exprs.get(expr), Expr::And(_));
                let (mut deciding, mut undefined) = (Vec::new(), Vec::new());
                for e in list {
                    let value = of(self, e);
                    let (yes, defined) = (self.where_true(&value)?, self.defined(&value)?);
                    undefined.push(self.diagrams.not(&defined));
                    deciding.push(if is_and { self.diagrams.not(&yes) } else { yes });
                }
                let (found, undefined) = (self.diagrams.union(deciding)?, self.diagrams.union(undefined)?);
                let yes = if is_and { self.diagrams.not(&found) } else { found };
                let yes = self.diagrams.minus(&yes, &undefined)?;
                let defined = self.diagrams.not(&undefined);
                self.truth(yes, defined)?
            }
            Expr::Xor(list) => {
                let mut odd = Value::from([(zero, all)]);
                for e in list {
                    let value = of(self, e);
                    let (yes, defined) = (self.where_true(&value)?, self.defined(&value)?);
                    let value = self.truth(yes, defined)?;
                    odd = self.combine(&odd, &value, |a, b| Some(if a == b { zero } else { one }))?;
                }
                odd
            }
            Expr::Compare(relation, a, b) => {
                let (a, b) = (of(self, &a), of(self, &b));
                let yes = self.compare(relation, &a, &b)?;
                self.truth(yes, all)?
            }
            Expr::Sum(list) => self.fold(list, zero, |a, b| Some(a.plus(b)))?,
            Expr::Product(list) => self.fold(list, one, |a, b| Some(a.times(b)))?,
            Expr::Negate(a) => of(self, &a).into_iter().map(|(value, set)| (value.negated(), set)).collect(),
            Expr::Divide(a, b) => self.combine(&of(self, &a), &of(self, &b), Ratio::divide)?,
            Expr::Modulo(a, b) => self.combine(&of(self, &a), &of(self, &b), Ratio::modulo)?,
        })
    }

    /// Makes a truth value, given where it is true and where there is any value.
    fn truth(&mut self, yes: Set, defined: Set) -> Limited<Value> {
        let no = self.diagrams.minus(&defined, &yes)?;
        Ok(Value::from([(Ratio::integer(0), no), (Ratio::integer(1), yes)]))
    }

    /// Returns where an expression has a value.
    fn defined(&mut self, value: &Value) -> Limited<Set> {
        self.diagrams.union(value.values().cloned().collect())
    }

    fn variable(&mut self, v: VarId) -> Limited<Value> {
        let domain = &self.system.variable(v).domain;
        if domain.size() > MAX_VALUES as u128 {
            return Err(Limit::Values);
        }
        let levels = self.levels.variables[v.index()].clone();
        let codes = 0..domain.size() as u64;
        codes.map(|code| Ok((Ratio::integer(domain.value(code)), self.code(&levels, code)?))).collect()
    }

    fn compare(&mut self, relation: Relation, a: &Value, b: &Value) -> Limited<Set> {
        let mut found = Vec::new();
        match relation {
            Relation::Equal | Relation::Unequal => {
                for (value, set) in a {
                    if let Some(other) = b.get(value) {
                        found.push(self.diagrams.and(set, other)?);
                    }
                }
            }
            Relation::Less | Relation::AtLeast => self.less(a, b, &mut found)?,
            Relation::Greater | Relation::AtMost => self.less(b, a, &mut found)?,
        }
        let found = self.diagrams.union(found)?;
        if let Relation::Equal | Relation::Less | Relation::Greater = relation {
            return Ok(found);
        }
        // The other relations are the complements of these where both operands have values.
        let (a, b) = (self.defined(a)?, self.defined(b)?);
        let both = self.diagrams.and(&a, &b)?;
        self.diagrams.minus(&both, &found)
    }

    /// Adds for each value of `a` the states in which it is taken and `b` is larger.
    fn less(&mut self, a: &Value, b: &Value, found: &mut Vec<Set>) -> Limited<()> {
        let mut larger = self.diagrams.constant(false);
        let mut rest = b.iter().rev().peekable();
        for (value, set) in a.iter().rev() {
            while let Some((_, other)) = rest.next_if(|(other, _)| *other > value) {
                larger = self.diagrams.or(&larger, other)?;
            }
            found.push(self.diagrams.and(set, &larger)?);
        }
        Ok(())
    }

    /// Combines two numbers. Where the operation has no result, there is no value.
    fn combine(
        &mut self,
        a: &Value,
        b: &Value,
        op: impl Fn(Ratio, Ratio) -> Option<Ratio>,
    ) -> Limited<Value> {
        let mut result = Value::new();
        for (x, x_set) in a {
            for (y, y_set) in b {
                let both = self.diagrams.and(x_set, y_set)?;
                if let Some(value) = op(*x, *y)
                    && !both.is_empty()
                {
                    let place = result.entry(value).or_insert_with(|| self.diagrams.constant(false));
                    *place = self.diagrams.or(place, &both)?;
                }
            }
            if result.len() > MAX_VALUES {
                return Err(Limit::Values);
            }
        }
        Ok(result)
    }

    /// Combines a list of numbers, those with the lowest diagrams first: each next one is then on top of all
    /// results so far, and an intersection takes one step.
    fn fold(
        &mut self,
        list: &[ExprId],
        neutral: Ratio,
        op: impl Fn(Ratio, Ratio) -> Option<Ratio> + Copy,
    ) -> Limited<Value> {
        let mut operands: Vec<Value> = list.iter().map(|e| self.known[e].clone()).collect();
        let top = |value: &Value| value.values().map(|set| self.diagrams.top(set)).min();
        operands.sort_by_cached_key(|value| std::cmp::Reverse(top(value)));
        let mut result = Value::from([(neutral, self.diagrams.constant(true))]);
        for operand in operands {
            result = self.combine(&result, &operand, op)?;
        }
        Ok(result)
    }
}
