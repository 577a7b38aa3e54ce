//! The values of expressions as sets: for each value, the states and joint actions in which it is taken.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use masque_model::semantics::Ratio;
use masque_model::{AgentId, Expr, ExprId, Relation, System, VarId};
use rustc_hash::FxHashMap;

use crate::kernel::{Diagrams, Limit, Set};

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
    known: RefCell<FxHashMap<ExprId, Rc<Value>>>,
}

impl<'s> Values<'s> {
    pub(crate) fn new(system: &'s System, diagrams: Diagrams, levels: Levels) -> Values<'s> {
        Values { system, diagrams, levels, known: RefCell::default() }
    }

    /// Forgets the values of expressions, so that their diagrams can be dropped.
    pub(crate) fn forget(&self) {
        self.known.borrow_mut().clear();
    }

    /// Returns where a code stands at levels.
    fn code(&self, levels: impl Iterator<Item = u32>, code: u64) -> Set {
        self.diagrams.literals(levels.enumerate().map(|(power, level)| (level, code >> power & 1 == 1)))
    }

    /// Returns where the next value of a variable is a number; `None` if that is not in its domain.
    pub(crate) fn next_is(&self, v: VarId, value: i64) -> Option<Set> {
        let code = self.system.variable(v).domain.code(value)?;
        Some(self.code(self.levels.variables[v.index()].iter().map(|level| level + 1), code))
    }

    /// Returns where an agent performs an action.
    pub(crate) fn action_is(&self, agent: AgentId, action: u32) -> Set {
        self.code(self.levels.actions[agent.index()].iter().copied(), action.into())
    }

    /// Returns where a condition is true; a condition without a value is not.
    pub(crate) fn condition(&self, condition: ExprId) -> Set {
        self.where_true(&self.value(condition))
    }

    /// Returns where a value is not zero.
    fn where_true(&self, value: &Value) -> Set {
        let sets = value.iter().filter(|(number, _)| **number != Ratio::integer(0));
        self.diagrams.union(sets.map(|(_, set)| set.clone()))
    }

    /// Returns where an expression has a value.
    fn defined(&self, value: &Value) -> Set {
        self.diagrams.union(value.values().cloned())
    }

    /// Returns the value of an expression; its operands are evaluated first, without recursion.
    pub(crate) fn value(&self, root: ExprId) -> Rc<Value> {
        let is_known = |expr: &ExprId| self.known.borrow().contains_key(expr);
        let (mut needed, mut open) = (BTreeSet::from([root]), vec![root]);
        while let Some(expr) = open.pop() {
            self.system.exprs.each_operand(expr, |operand| {
                if !is_known(&operand) && needed.insert(operand) {
                    open.push(operand);
                }
            });
        }
        for expr in needed {
            if !is_known(&expr) {
                let value = Rc::new(self.evaluate(expr));
                self.known.borrow_mut().insert(expr, value);
            }
        }
        self.of(root)
    }

    /// Returns the value of an expression that has been evaluated.
    fn of(&self, expr: ExprId) -> Rc<Value> {
        self.known.borrow()[&expr].clone()
    }

    /// `model::semantics::value`, arm by arm.
    fn evaluate(&self, expr: ExprId) -> Value {
        let all = self.diagrams.constant(true);
        let [zero, one] = [0, 1].map(Ratio::integer);
        match self.system.exprs.get(expr) {
            Expr::Bool(b) => Value::from([(Ratio::integer(b.into()), all)]),
            Expr::Number(n) => Value::from([(Ratio::integer(n), all)]),
            Expr::Symbol(s) => Value::from([(Ratio::integer(s.0.into()), all)]),
            Expr::Variable(v) => self.variable(v),
            Expr::ActionIs(agent, action) => truth(&self.action_is(agent, action.0), &all),
            Expr::Not(a) => {
                let defined = self.defined(&self.of(a));
                truth(&defined.minus(&self.where_true(&self.of(a))), &defined)
            }
            Expr::And(list) | Expr::Or(list) => {
                let is_and = matches!(self.system.exprs.get(expr), Expr::And(_));
                let truths = list.iter().map(|e| self.where_true(&self.of(*e)));
                let found = self.diagrams.union(truths.map(|yes| if is_and { yes.not() } else { yes }));
                let yes = if is_and { found.not() } else { found };
                let undefined = self.diagrams.union(list.iter().map(|e| self.defined(&self.of(*e)).not()));
                truth(&yes.minus(&undefined), &undefined.not())
            }
            Expr::Xor(list) => list.iter().fold(Value::from([(zero, all)]), |odd, e| {
                let value = truth(&self.where_true(&self.of(*e)), &self.defined(&self.of(*e)));
                self.combine(&odd, &value, |a, b| Some(if a == b { zero } else { one }))
            }),
            Expr::Compare(relation, a, b) => truth(&self.compare(relation, &self.of(a), &self.of(b)), &all),
            Expr::Sum(list) => self.fold(list, zero, |a, b| Some(a.plus(b))),
            Expr::Product(list) => self.fold(list, one, |a, b| Some(a.times(b))),
            Expr::Negate(a) => self.of(a).iter().map(|(value, set)| (value.negated(), set.clone())).collect(),
            Expr::Divide(a, b) => self.combine(&self.of(a), &self.of(b), Ratio::divide),
            Expr::Modulo(a, b) => self.combine(&self.of(a), &self.of(b), Ratio::modulo),
        }
    }

    fn variable(&self, v: VarId) -> Value {
        let domain = &self.system.variable(v).domain;
        if domain.size() > MAX_VALUES as u128 {
            self.diagrams.exceed(Limit::Values);
            return Value::new();
        }
        let code = |code| self.code(self.levels.variables[v.index()].iter().copied(), code);
        (0..domain.size() as u64).map(|c| (Ratio::integer(domain.value(c)), code(c))).collect()
    }

    fn compare(&self, relation: Relation, a: &Value, b: &Value) -> Set {
        let found = match relation {
            Relation::Equal | Relation::Unequal => {
                let both = a.iter().filter_map(|(value, set)| Some(set.and(b.get(value)?)));
                self.diagrams.union(both)
            }
            Relation::Less | Relation::AtLeast => self.less(a, b),
            Relation::Greater | Relation::AtMost => self.less(b, a),
        };
        match relation {
            Relation::Equal | Relation::Less | Relation::Greater => found,
            // The other relations are the complements of these where both operands have values.
            _ => self.defined(a).and(&self.defined(b)).minus(&found),
        }
    }

    /// Returns where `a` is less than `b`.
    fn less(&self, a: &Value, b: &Value) -> Set {
        let mut larger = self.diagrams.constant(false);
        let mut rest = b.iter().rev().peekable();
        self.diagrams.union(a.iter().rev().map(|(value, set)| {
            while let Some((_, other)) = rest.next_if(|(other, _)| *other > value) {
                larger = larger.or(other);
            }
            set.and(&larger)
        }))
    }

    /// Combines two numbers. Where the operation has no result, there is no value.
    fn combine(&self, a: &Value, b: &Value, op: impl Fn(Ratio, Ratio) -> Option<Ratio>) -> Value {
        let mut result = Value::new();
        for (x, x_set) in a {
            if result.len() > MAX_VALUES {
                self.diagrams.exceed(Limit::Values);
            }
            if self.diagrams.exceeded().is_some() {
                break;
            }
            for (y, y_set) in b {
                let both = x_set.and(y_set);
                if let Some(value) = op(*x, *y).filter(|_| !both.is_empty()) {
                    let place = result.entry(value).or_insert_with(|| self.diagrams.constant(false));
                    *place = place.or(&both);
                }
            }
        }
        result
    }

    /// Combines a list of numbers, those with the lowest diagrams first: each next one is then on top of all
    /// results so far, and an intersection takes one step.
    fn fold(
        &self,
        list: &[ExprId],
        neutral: Ratio,
        op: impl Fn(Ratio, Ratio) -> Option<Ratio> + Copy,
    ) -> Value {
        let mut operands: Vec<Rc<Value>> = list.iter().map(|e| self.of(*e)).collect();
        operands.sort_by_cached_key(|value| std::cmp::Reverse(value.values().map(Set::top).min()));
        let start = Value::from([(neutral, self.diagrams.constant(true))]);
        operands.iter().fold(start, |result, operand| self.combine(&result, operand, op))
    }
}

/// Makes a truth value, given where it is true and where there is any value.
fn truth(yes: &Set, defined: &Set) -> Value {
    Value::from([(Ratio::integer(0), defined.minus(yes)), (Ratio::integer(1), yes.clone())])
}
