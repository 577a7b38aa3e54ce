//! Uniform strategies as certificates name them: for each member and action the states in which it is chosen.

use std::collections::BTreeMap;

use masque_model::AgentId;
use masque_proof::{Choice, GroupStrategy};
use masque_verdict::{FixedActions, View};
use rustc_hash::FxHashSet;

use crate::arena::Arena;
use crate::check::Checker;
use crate::moves::Coalition;
use crate::space::{Limited, Set};

impl Checker<'_> {
    /// Returns the choices of a strategy that fixes the actions of the views of an arena.
    pub(crate) fn strategy_of_arena(
        &mut self,
        group: &Coalition<'_>,
        arena: &Arena,
        fixed: &FixedActions,
    ) -> Limited<GroupStrategy<Set>> {
        let mut strategy = GroupStrategy::new();
        for (member, (&agent, may)) in group.members.iter().zip(&group.choices).enumerate() {
            if may.is_none() {
                strategy.extend(self.only_choices(member, agent)?);
                continue;
            }
            // One state stands for all with the same view.
            let mut seen: FxHashSet<View> = FxHashSet::default();
            let mut rows: BTreeMap<u32, Vec<&[bool]>> = BTreeMap::new();
            for (row, views) in arena.states.iter().zip(&arena.views).skip(1) {
                if let Some(action) = fixed[views[member] as usize]
                    && seen.insert(views[member])
                {
                    rows.entry(action).or_default().push(row);
                }
            }
            for (action, rows) in rows {
                let states = self.set_of_rows(rows.into_iter())?;
                let states = self.confused(&[agent], &states)?;
                strategy.push(Choice { member, action, states });
            }
        }
        Ok(strategy)
    }

    /// Returns the choices of a group whose members may choose one action at most at each view.
    pub(crate) fn strategy_of_choices(&mut self, group: &Coalition<'_>) -> Limited<GroupStrategy<Set>> {
        let mut strategy = GroupStrategy::new();
        for (member, (&agent, may)) in group.members.iter().zip(&group.choices).enumerate() {
            let Some(may) = may else {
                strategy.extend(self.only_choices(member, agent)?);
                continue;
            };
            let space = &self.encoder.space;
            let bits = &self.encoder.layout.actions[agent.index()];
            let cube = space.cube(bits.iter().copied())?;
            for action in 0..self.system.agent(agent).actions.len() as u32 {
                let states = space.and_exists(may, &space.has_code(bits, action.into())?, &cube)?;
                strategy.push(Choice { member, action, states: space.and(&states, self.domain())? });
            }
        }
        Ok(strategy)
    }

    /// Returns the choices of a member for which it makes no difference what it chooses, or that has no choice: the
    /// first action that its protocol enables.
    fn only_choices(&mut self, member: usize, agent: AgentId) -> Limited<GroupStrategy<Set>> {
        let enabled = self.encoder.choice(agent)?.enabled;
        let space = &self.encoder.space;
        let mut rest = self.domain().clone();
        let mut strategy = GroupStrategy::new();
        for (action, enabled) in (0..).zip(enabled) {
            let states = space.and(&enabled, &rest)?;
            rest = space.minus(&rest, &states)?;
            strategy.push(Choice { member, action, states });
        }
        Ok(strategy)
    }

    /// Restricts the members of a group to the choices of a strategy.
    pub(crate) fn follow(&self, group: &mut Coalition<'_>, strategy: &[Choice<Set>]) -> Limited<()> {
        let space = &self.encoder.space;
        for (member, (agent, may)) in group.members.iter().zip(&mut group.choices).enumerate() {
            let Some(may) = may else { continue };
            let bits = &self.encoder.layout.actions[agent.index()];
            let mut own = Vec::new();
            for choice in strategy.iter().filter(|choice| choice.member == member) {
                own.push(space.and(&choice.states, &space.has_code(bits, choice.action.into())?)?);
            }
            *may = space.and(may, &self.encoder.balanced(own, false)?)?;
        }
        Ok(())
    }
}
