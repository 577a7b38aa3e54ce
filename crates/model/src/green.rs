//! Whether an agent has a green local state at all.

use std::collections::BTreeSet;

use crate::{AgentId, Expr, ExprId, System, VarId, semantics};

impl System {
    /// Returns whether the agent has a green local state, reachable or not; `None` if all local states that
    /// were looked at are red and there are more. Looks at `n_states` local states at most, and subtracts
    /// from it the number of those looked at.
    ///
    /// A deontic interpreted system divides the local states of an agent into a *non-empty* set of green
    /// states and a set of red states. [JAL05 §2.1] Local states that differ only in variables that the
    /// condition on red states does not mention have the same colour, so one of them represents all.
    pub fn has_green_state(&self, agent: AgentId, n_states: &mut u32) -> Option<bool> {
        let Some(red) = self.agent(agent).red else { return Some(true) };
        let variables = self.variables_of(red);
        let mut state: Vec<i64> = self.variables.iter().map(|v| v.domain.value(0)).collect();
        while let Some(remaining) = n_states.checked_sub(1) {
            *n_states = remaining;
            if semantics::is_green(self, agent, &state) {
                return Some(true);
            }
            if !self.advance(&variables, &mut state) {
                return Some(false);
            }
        }
        None
    }

    /// Returns the variables that occur in an expression.
    fn variables_of(&self, expr: ExprId) -> BTreeSet<VarId> {
        let (mut variables, mut seen, mut pending) = (BTreeSet::new(), BTreeSet::from([expr]), vec![expr]);
        while let Some(expr) = pending.pop() {
            if let Expr::Variable(variable) = self.exprs.get(expr) {
                variables.insert(variable);
            }
            self.exprs.each_operand(expr, |operand| {
                if seen.insert(operand) {
                    pending.push(operand);
                }
            });
        }
        variables
    }

    /// Replaces the values of `variables` by the next combination in lexicographic order. Returns whether
    /// there is one.
    fn advance(&self, variables: &BTreeSet<VarId>, state: &mut [i64]) -> bool {
        for &variable in variables.iter().rev() {
            let domain = &self.variable(variable).domain;
            let slot = &mut state[variable.index()];
            let next = domain.code(*slot).map_or(0, |code| code + 1);
            if u128::from(next) < domain.size() {
                *slot = domain.value(next);
                return true;
            }
            *slot = domain.value(0);
        }
        false
    }
}
