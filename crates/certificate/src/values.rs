//! The values of expressions as sets: for each value, the states and joint actions in which it is taken.

use std::collections::BTreeMap;

use masque_model::semantics::Ratio;
use masque_model::{AgentId, Domain, Expr, ExprId, Relation, System, VarId};
use rustc_hash::FxHashMap;

use crate::kernel::{Diagrams, Limit, Limited, Set};

/// Maximum number of values of one expression.
const MAX_VALUES: usize = 1 << 16;

/// The value of an expression. Where it has none (a division by zero, `mod` of a fraction), it is in `none`.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A truth value.
    Truth {
        /// Where it is true.
        yes: Set,
        /// Where it has no value.
        none: Set,
    },
    /// A number or the number of a symbol.
    Numbers {
        /// For each value where it is taken; the sets are disjoint.
        classes: BTreeMap<Ratio, Set>,
        /// Where it has no value.
        none: Set,
    },
}

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
        Ok(self.truth(&value)?.0)
    }

    /// Returns the value of an expression; its operands are evaluated first, without recursion.
    pub(crate) fn value(&mut self, root: ExprId) -> Limited<Value> {
        let mut needed = std::collections::BTreeSet::from([root]);
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
        let system = self.system;
        let of = |values: &Self, e: &ExprId| values.known[e].clone();
        Ok(match system.exprs.get(expr) {
            Expr::Bool(b) => {
                let yes = self.diagrams.constant(b);
                self.total(yes)
            }
            Expr::Number(n) => self.number(n),
            Expr::Symbol(s) => self.number(s.0.into()),
            Expr::Variable(v) => self.variable(v)?,
            Expr::ActionIs(agent, action) => {
                let yes = self.action_is(agent, action.0)?;
                self.total(yes)
            }
            Expr::Not(a) => {
                let (yes, none) = self.truth(&of(self, &a))?;
                let either = self.diagrams.or(&yes, &none)?;
                Value::Truth { yes: self.diagrams.not(&either), none }
            }
            Expr::And(list) => self.junction(list, true)?,
            Expr::Or(list) => self.junction(list, false)?,
            Expr::Xor(list) => {
                let (mut odd, mut none) = (self.diagrams.constant(false), self.diagrams.constant(false));
                for e in list {
                    let (yes, undefined) = self.truth(&of(self, e))?;
                    none = self.diagrams.or(&none, &undefined)?;
                    let (only_odd, only_yes) =
                        (self.diagrams.minus(&odd, &yes)?, self.diagrams.minus(&yes, &odd)?);
                    odd = self.diagrams.or(&only_odd, &only_yes)?;
                }
                Value::Truth { yes: self.diagrams.minus(&odd, &none)?, none }
            }
            Expr::Compare(relation, a, b) => {
                let (a, b) = (of(self, &a), of(self, &b));
                let yes = self.compare(relation, &a, &b)?;
                self.total(yes)
            }
            Expr::Sum(list) => self.fold(list, 0, |a, b| Some(a.plus(b)))?,
            Expr::Product(list) => self.fold(list, 1, |a, b| Some(a.times(b)))?,
            Expr::Negate(a) => {
                let (classes, none) = self.numbers(&of(self, &a))?;
                let classes = classes.into_iter().map(|(value, set)| (value.negated(), set)).collect();
                Value::Numbers { classes, none }
            }
            Expr::Divide(a, b) => self.combine(&of(self, &a), &of(self, &b), Ratio::divide)?,
            Expr::Modulo(a, b) => self.combine(&of(self, &a), &of(self, &b), Ratio::modulo)?,
        })
    }

    fn total(&mut self, yes: Set) -> Value {
        Value::Truth { yes, none: self.diagrams.constant(false) }
    }

    fn number(&mut self, n: i64) -> Value {
        let classes = BTreeMap::from([(Ratio::integer(n), self.diagrams.constant(true))]);
        Value::Numbers { classes, none: self.diagrams.constant(false) }
    }

    fn variable(&mut self, v: VarId) -> Limited<Value> {
        let domain = &self.system.variable(v).domain;
        let levels = self.levels.variables[v.index()].clone();
        if *domain == Domain::Boolean {
            let yes = self.code(&levels, 1)?;
            return Ok(self.total(yes));
        }
        if domain.size() > MAX_VALUES as u128 {
            return Err(Limit::Values);
        }
        let mut classes = BTreeMap::new();
        for code in 0..domain.size() as u64 {
            classes.insert(Ratio::integer(domain.value(code)), self.code(&levels, code)?);
        }
        Ok(Value::Numbers { classes, none: self.diagrams.constant(false) })
    }

    /// Returns where a value is true (not zero), and where there is none.
    pub(crate) fn truth(&mut self, value: &Value) -> Limited<(Set, Set)> {
        match value {
            Value::Truth { yes, none } => Ok((yes.clone(), none.clone())),
            Value::Numbers { classes, none } => {
                let zero = Ratio::integer(0);
                let sets = classes.iter().filter(|(v, _)| **v != zero).map(|(_, set)| set.clone()).collect();
                Ok((self.diagrams.union(sets)?, none.clone()))
            }
        }
    }

    /// Returns where each number is taken, true as 1 and false as 0, and where there is none.
    pub(crate) fn numbers(&mut self, value: &Value) -> Limited<(BTreeMap<Ratio, Set>, Set)> {
        match value {
            Value::Numbers { classes, none } => Ok((classes.clone(), none.clone())),
            Value::Truth { yes, none } => {
                let either = self.diagrams.or(yes, none)?;
                let no = self.diagrams.not(&either);
                let classes = BTreeMap::from([(Ratio::integer(0), no), (Ratio::integer(1), yes.clone())]);
                Ok((classes, none.clone()))
            }
        }
    }

    /// A conjunction or disjunction; without a value if some operand has none.
    fn junction(&mut self, list: &[ExprId], is_and: bool) -> Limited<Value> {
        let (mut sets, mut undefined) = (Vec::new(), Vec::new());
        for e in list {
            let value = self.known[e].clone();
            let (yes, none) = self.truth(&value)?;
            sets.push(if is_and { self.diagrams.not(&yes) } else { yes });
            undefined.push(none);
        }
        let (union, none) = (self.diagrams.union(sets)?, self.diagrams.union(undefined)?);
        let yes = if is_and { self.diagrams.not(&union) } else { union };
        Ok(Value::Truth { yes: self.diagrams.minus(&yes, &none)?, none })
    }

    fn compare(&mut self, relation: Relation, a: &Value, b: &Value) -> Limited<Set> {
        let ((a, a_none), (b, b_none)) = (self.numbers(a)?, self.numbers(b)?);
        let mut found = Vec::new();
        match relation {
            Relation::Equal | Relation::Unequal => {
                for (value, set) in &a {
                    if let Some(other) = b.get(value) {
                        found.push(self.diagrams.and(set, other)?);
                    }
                }
            }
            Relation::Less | Relation::AtLeast => self.less(&a, &b, &mut found)?,
            Relation::Greater | Relation::AtMost => self.less(&b, &a, &mut found)?,
        }
        let found = self.diagrams.union(found)?;
        if let Relation::Equal | Relation::Less | Relation::Greater = relation {
            return Ok(found);
        }
        // The other relations are the complements of these where both operands have values. A code that stands
        // for no value is in no class; what is true there does not matter, because no state has it.
        let undefined = self.diagrams.or(&a_none, &b_none)?;
        let excluded = self.diagrams.or(&found, &undefined)?;
        Ok(self.diagrams.not(&excluded))
    }

    /// Adds for each value of `a` the states in which it is taken and `b` is larger.
    fn less(
        &mut self,
        a: &BTreeMap<Ratio, Set>,
        b: &BTreeMap<Ratio, Set>,
        found: &mut Vec<Set>,
    ) -> Limited<()> {
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
        let ((a, a_none), (b, b_none)) = (self.numbers(a)?, self.numbers(b)?);
        let mut none = self.diagrams.or(&a_none, &b_none)?;
        let mut classes: BTreeMap<Ratio, Set> = BTreeMap::new();
        for (x, x_set) in &a {
            for (y, y_set) in &b {
                let both = self.diagrams.and(x_set, y_set)?;
                let place = match op(*x, *y) {
                    _ if both.is_empty() => continue,
                    None => &mut none,
                    Some(value) => classes.entry(value).or_insert_with(|| self.diagrams.constant(false)),
                };
                *place = self.diagrams.or(place, &both)?;
            }
            if classes.len() > MAX_VALUES {
                return Err(Limit::Values);
            }
        }
        Ok(Value::Numbers { classes, none })
    }

    /// Combines a list of numbers, those with the lowest diagrams first: each next one is then on top of all
    /// results so far, and an intersection takes one step.
    fn fold(
        &mut self,
        list: &[ExprId],
        neutral: i64,
        op: impl Fn(Ratio, Ratio) -> Option<Ratio> + Copy,
    ) -> Limited<Value> {
        let mut operands: Vec<Value> = list.iter().map(|e| self.known[e].clone()).collect();
        let top = |values: &Self, value: &Value| match value {
            Value::Truth { yes, .. } => values.diagrams.top(yes),
            Value::Numbers { classes, .. } => {
                classes.values().map(|set| values.diagrams.top(set)).min().unwrap_or(u32::MAX)
            }
        };
        operands.sort_by_cached_key(|value| std::cmp::Reverse(top(self, value)));
        let mut result = self.number(neutral);
        for operand in operands {
            result = self.combine(&result, &operand, op)?;
        }
        Ok(result)
    }
}
