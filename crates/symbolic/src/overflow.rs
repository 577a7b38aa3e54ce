//! States in which an assignment would leave its variable's domain.

use masque_model::{Domain, Expr, ExprId, VarId};

use crate::encode::Encoder;
use crate::moves::choose;
use crate::space::{Limited, Set};

impl Encoder<'_> {
    /// Returns the states among `states` in which some enabled joint action makes an enabled line overflow.
    /// In all of `states`, every agent must have an enabled action.
    ///
    /// ```text
    /// ⋃_lines ∃ action. (enabled(action) ∧ condition ∧ ¬∃ next. next = value)
    /// ```
    pub(crate) fn overflowing(&mut self, states: &Set) -> Limited<Set> {
        let system = self.system;
        let mut sets = Vec::new();
        for agent in &system.agents {
            for line in &agent.evolution {
                for &(v, value) in &line.assignments {
                    if !self.can_overflow(v, value) {
                        continue;
                    }
                    let condition = self.condition(line.condition)?;
                    let condition = self.space.and(&condition, states)?;
                    if condition.is_empty() {
                        continue;
                    }
                    let next = self.layout.variables[v.index()].next.clone();
                    let fits = self.next_is_number(v, &next, value)?;
                    let cube = self.space.cube(next)?;
                    let fits = self.space.exists(&fits, &cube)?;
                    sets.push(self.space.minus(&condition, &fits)?);
                }
            }
        }
        sets.retain(|set| !set.is_empty());
        let mut overflow = self.balanced(sets, false)?;
        for agent in self.acting_agents(&overflow) {
            let choice = self.choice(agent)?;
            let protocol = self.protocol(agent, &choice)?;
            overflow = choose(self, &overflow, agent, Some(&protocol))?;
        }
        Ok(overflow)
    }

    /// Returns whether a value may fall outside a variable's domain: any number, except a constant or
    /// a variable that fits.
    fn can_overflow(&self, v: VarId, value: ExprId) -> bool {
        let Domain::Integers(lo, hi) = self.system.variable(v).domain else { return false };
        match self.system.exprs.get(value) {
            Expr::Number(n) => !(lo..=hi).contains(&n),
            Expr::Variable(w) => match self.system.variable(w).domain {
                Domain::Integers(from, to) => from < lo || hi < to,
                _ => false,
            },
            _ => true,
        }
    }
}
