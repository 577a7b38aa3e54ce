//! A bounded search for a state and joint action that satisfy several conditions, for the lints.
//!
//! Equations that the conditions require (`x = 1`, `Action = a`) are fixed first; all values of the
//! remaining variables and actions are tried if there are few. If the result is not known within the
//! bounds, a lint reports nothing.

use masque_model::{ActionId, AgentId, Expr, ExprId, Relation, System, VarId, semantics};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of subexpressions considered.
const MAX_EXPRESSIONS: usize = 2_000;
/// Maximum number of valuations tried.
const MAX_VALUATIONS: u128 = 4_096;

/// An unknown of the search: the value of a variable, or the action of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Slot {
    Variable(VarId),
    Action(AgentId),
}

/// The search, with the current state and joint action.
pub(super) struct ConditionSearch<'s> {
    system: &'s System,
    state: Vec<i64>,
    joint: Vec<ActionId>,
}

impl<'s> ConditionSearch<'s> {
    pub(super) fn new(system: &'s System) -> Self {
        ConditionSearch {
            system,
            state: system.variables.iter().map(|v| v.domain.value(0)).collect(),
            joint: vec![ActionId(0); system.agents.len()],
        }
    }

    /// Returns whether some state and joint action make all conditions true, or `None` if that is not
    /// known within the bounds.
    pub(super) fn satisfiable(&mut self, conditions: &[ExprId]) -> Option<bool> {
        let mut forced: FxHashMap<Slot, i64> = FxHashMap::default();
        let mut open: Vec<ExprId> = conditions.to_vec();
        let mut n_seen = 0;
        let mut is_all_forced = true;
        while let Some(condition) = open.pop() {
            n_seen += 1;
            if n_seen > MAX_EXPRESSIONS {
                return None;
            }
            if self.system.exprs.get(condition) == Expr::Bool(false) {
                return Some(false);
            }
            if let Expr::And(list) = self.system.exprs.get(condition) {
                open.extend_from_slice(list);
            } else if let Some((slot, value)) = self.equation(condition) {
                if *forced.entry(slot).or_insert(value) != value {
                    return Some(false);
                }
            } else {
                is_all_forced = false;
            }
        }
        if is_all_forced {
            return Some(true);
        }
        let mut free: Vec<Slot> =
            self.support(conditions)?.into_iter().filter(|s| !forced.contains_key(s)).collect();
        free.sort_unstable();
        for (&slot, &value) in &forced {
            self.set(slot, value);
        }
        let sizes: Vec<u128> = free.iter().map(|&slot| self.size(slot)).collect();
        if sizes.iter().try_fold(1u128, |n, size| n.checked_mul(*size)).is_none_or(|n| n > MAX_VALUATIONS) {
            return None;
        }
        Some(self.try_all(conditions, &free))
    }

    fn try_all(&mut self, conditions: &[ExprId], free: &[Slot]) -> bool {
        let Some((&slot, rest)) = free.split_first() else {
            return conditions.iter().all(|&c| semantics::is_true(self.system, c, &self.state, &self.joint));
        };
        (0..self.size(slot) as u64).any(|code| {
            let value = match slot {
                Slot::Variable(v) => self.system.variable(v).domain.value(code),
                Slot::Action(_) => code as i64,
            };
            self.set(slot, value);
            self.try_all(conditions, rest)
        })
    }

    fn size(&self, slot: Slot) -> u128 {
        match slot {
            Slot::Variable(v) => self.system.variable(v).domain.size(),
            Slot::Action(agent) => self.system.agent(agent).actions.len() as u128,
        }
    }

    fn set(&mut self, slot: Slot, value: i64) {
        match slot {
            Slot::Variable(v) => self.state[v.index()] = value,
            Slot::Action(agent) => self.joint[agent.index()] = ActionId(value as u32),
        }
    }

    /// Returns `(slot, value)` if the condition is the equation `slot = value`.
    fn equation(&self, condition: ExprId) -> Option<(Slot, i64)> {
        let exprs = &self.system.exprs;
        match exprs.get(condition) {
            Expr::ActionIs(agent, action) => Some((Slot::Action(agent), action.0.into())),
            Expr::Variable(v) => Some((Slot::Variable(v), 1)),
            Expr::Not(a) => match exprs.get(a) {
                Expr::Variable(v) => Some((Slot::Variable(v), 0)),
                _ => None,
            },
            Expr::Compare(Relation::Equal, a, b) => {
                let (v, constant) = match (exprs.get(a), exprs.get(b)) {
                    (Expr::Variable(v), constant) | (constant, Expr::Variable(v)) => (v, constant),
                    _ => return None,
                };
                let value = match constant {
                    Expr::Number(n) => n,
                    Expr::Symbol(s) => s.0.into(),
                    _ => return None,
                };
                // A value outside the domain cannot be fixed; trying all values then finds no solution.
                self.system.variable(v).domain.contains(value).then_some((Slot::Variable(v), value))
            }
            _ => None,
        }
    }

    fn support(&self, conditions: &[ExprId]) -> Option<FxHashSet<Slot>> {
        let mut slots = FxHashSet::default();
        let mut seen: FxHashSet<ExprId> = conditions.iter().copied().collect();
        let mut open = conditions.to_vec();
        while let Some(id) = open.pop() {
            match self.system.exprs.get(id) {
                Expr::Variable(v) => _ = slots.insert(Slot::Variable(v)),
                Expr::ActionIs(agent, _) => _ = slots.insert(Slot::Action(agent)),
                _ => self.system.exprs.each_operand(id, |a| {
                    if seen.insert(a) {
                        open.push(a);
                    }
                }),
            }
            if seen.len() > MAX_EXPRESSIONS {
                return None;
            }
        }
        Some(slots)
    }
}
