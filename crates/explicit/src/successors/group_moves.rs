//! The moves of a group at a state: its members choose first, one after the other.
//!
//! Units that depend on no member are computed once, and after each choice those that it settles. So a
//! group of three with ten actions each costs far less than 10^3 expansions.

use std::sync::Arc;

use masque_verdict::Stop;
use rustc_hash::FxHashMap;

use super::{MAX_PLANS, Stepper};
use crate::plan::GroupPlan;

/// The plans for a group, by the agents that have a choice.
#[derive(Debug, Default)]
pub(super) struct GroupPlans {
    members: Vec<u32>,
    plans: FxHashMap<Box<[u32]>, Arc<GroupPlan>>,
}

/// The moves of a group at one state, in lexicographic order.
#[derive(Debug, Default)]
pub(crate) struct MoveList {
    /// The actions of each move, one per member.
    pub(crate) actions: Vec<u32>,
    /// The rows to which each move may lead, concatenated. A row may occur twice.
    pub(crate) targets: Vec<u64>,
    /// End of each move's targets in `targets`, and whether some choice may overflow.
    pub(crate) ends: Vec<(usize, bool)>,
}

impl MoveList {
    fn clear(&mut self) {
        self.actions.clear();
        self.targets.clear();
        self.ends.clear();
    }

    fn bytes(&self) -> u64 {
        let words = self.targets.capacity() + self.actions.capacity() / 2 + self.ends.capacity() * 2;
        words as u64 * 8
    }
}

impl Stepper<'_> {
    /// Lists the moves of a group at a packed state; there is none if some agent has no action. There is one
    /// move for each choice of actions that some unit reads; of other actions only the least is listed.
    pub(crate) fn list_moves(
        &mut self,
        state: &[u64],
        members: &[u32],
        listed: &mut MoveList,
    ) -> Result<(), Stop> {
        listed.clear();
        self.enter(state);
        self.overflow = false;
        if !self.choose() {
            return Ok(());
        }
        let plan = self.group_plan(members);
        let mut base = self.begin(state);
        let mut is_dead = self.settle(&plan.settled, &mut base);
        for component in &plan.free {
            is_dead |= self.choose_in(component)?;
        }
        let mut walk = Walk { plan: &plan, members, listed };
        self.walk(&mut walk, 0, &base, is_dead, self.overflow)?;
        self.spare.push(base);
        self.drop_parts(0);
        Ok(())
    }

    /// Returns the plan for the agents that have a choice, which is made once for each set of them.
    fn group_plan(&mut self, members: &[u32]) -> Arc<GroupPlan> {
        let Stepper { group_plans, choosing, steps, .. } = self;
        if group_plans.members != members {
            *group_plans = GroupPlans { members: members.to_vec(), plans: FxHashMap::default() };
        }
        if let Some(plan) = group_plans.plans.get(&**choosing) {
            return Arc::clone(plan);
        }
        let leaders: Vec<u32> =
            members.iter().copied().filter(|member| choosing.binary_search(member).is_ok()).collect();
        let plan = Arc::new(GroupPlan::new(&leaders, choosing, steps.units.iter().map(|unit| &*unit.tests)));
        if group_plans.plans.len() < MAX_PLANS {
            group_plans.plans.insert(choosing.as_slice().into(), Arc::clone(&plan));
        }
        plan
    }

    /// Enumerates the choices of the members from `index` on. `base` has the values that the earlier choices
    /// have settled; `is_dead` says that some unit then has no choice, `overflows` that a value overflows.
    fn walk(
        &mut self,
        walk: &mut Walk<'_, '_>,
        index: usize,
        base: &[u64],
        is_dead: bool,
        overflows: bool,
    ) -> Result<(), Stop> {
        let plan = walk.plan;
        let mut next = self.spare.pop().unwrap_or_default();
        let Some(member) = plan.members.get(index) else {
            next.clear();
            next.extend_from_slice(base);
            self.overflow = false;
            let first_part = self.parts.len();
            let mut is_dead = is_dead;
            for component in &plan.others {
                is_dead |= self.choose_in(component)?;
            }
            let targets = &mut walk.listed.targets;
            if !is_dead {
                self.each_combination(0, &mut next, &mut |row: &[u64]| {
                    targets.extend_from_slice(row);
                    Ok(())
                })?;
            }
            self.drop_parts(first_part);
            self.spare.push(next);
            let end = targets.len();
            walk.listed.ends.push((end, overflows | self.overflow));
            let actions = walk.members.iter().map(|&member| self.chosen[member as usize]);
            walk.listed.actions.extend(actions);
            if walk.listed.ends.len().is_multiple_of(1024) {
                self.budget.check()?;
                self.budget.check_memory(walk.listed.bytes())?;
            }
            return Ok(());
        };
        let mut untested = self.spare.pop().unwrap_or_default();
        let mut special = self.spare_lists.pop().unwrap_or_default();
        self.overflow = false;
        self.evolve_untested(member, &mut untested, &mut special);
        let untested_overflows = self.overflow;
        let (begin, end) = self.choices[member.agent as usize];
        self.set_known(member.agent, true);
        for choice in begin..end {
            let action = self.enabled[choice as usize];
            self.perform(member.agent, action);
            self.chosen[member.agent as usize] = action;
            next.clear();
            next.extend(base.iter().zip(&untested).map(|(a, b)| a | b));
            let first_part = self.parts.len();
            self.overflow = false;
            let is_stuck = self.evolve_chosen(member, action, &special, &mut next);
            let overflows = overflows | untested_overflows | self.overflow;
            self.walk(walk, index + 1, &next, is_dead | is_stuck, overflows)?;
            self.drop_parts(first_part);
        }
        self.set_known(member.agent, false);
        self.spare.extend([untested, next]);
        self.spare_lists.push(special);
        Ok(())
    }
}

/// The enumeration of the members' choices.
struct Walk<'p, 'l> {
    plan: &'p GroupPlan,
    members: &'p [u32],
    listed: &'l mut MoveList,
}
