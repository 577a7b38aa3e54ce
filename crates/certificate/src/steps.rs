//! Images, pre-images and views: what the conditions of `conditions` are made of.

use masque_model::{AgentId, Deadlock, ExprId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::encode::{Conjunct, Encoded};
use crate::kernel::{Limited, Set};

impl Encoded<'_> {
    /// Intersects a set with conjuncts, one after the other, and quantifies each level in `gone` after the last
    /// one that mentions it.
    fn product(&mut self, start: &Set, conjuncts: &[Conjunct], gone: &FxHashSet<u32>) -> Limited<Set> {
        let mut last: FxHashMap<u32, usize> = FxHashMap::default();
        for (index, conjunct) in conjuncts.iter().enumerate() {
            last.extend(
                conjunct.support.iter().filter(|level| gone.contains(level)).map(|level| (*level, index)),
            );
        }
        let diagrams = &mut self.values.diagrams;
        let unused: Vec<u32> = gone.iter().copied().filter(|level| !last.contains_key(level)).collect();
        let mut set = diagrams.exists(start, &unused)?;
        for (index, conjunct) in conjuncts.iter().enumerate() {
            let is_last = |level: &u32| last.get(level) == Some(&index);
            let now: Vec<u32> = conjunct.support.iter().copied().filter(is_last).collect();
            set = diagrams.and_exists(&set, &conjunct.relation, &now)?;
        }
        Ok(set)
    }

    fn action_levels(&self, agents: impl Iterator<Item = AgentId>) -> impl Iterator<Item = u32> {
        let levels: Vec<u32> =
            agents.flat_map(|agent| self.values.levels.actions[agent.index()].clone()).collect();
        levels.into_iter()
    }

    fn all_actions(&self) -> impl Iterator<Item = u32> {
        self.action_levels(self.values.system.agent_ids())
    }

    /// Returns the successors of a set by joint actions.
    pub(crate) fn post(&mut self, set: &Set) -> Limited<Set> {
        let gone = self.changing.iter().copied().chain(self.all_actions()).collect();
        let next = self.product(set, &self.forward.clone(), &gone)?;
        self.values.diagrams.down(&next)
    }

    /// Returns the predecessors of a set by joint actions that satisfy a condition.
    pub(crate) fn before(&mut self, set: &Set, condition: Option<ExprId>) -> Limited<Set> {
        let gone = self.changing.iter().map(|level| level + 1).chain(self.all_actions()).collect();
        let mut next = self.values.diagrams.up(set)?;
        if let Some(condition) = condition {
            let condition = self.values.condition(condition)?;
            next = self.values.diagrams.and(&next, &condition)?;
        }
        self.product(&next, &self.backward.clone(), &gone)
    }

    /// Returns the states without successor.
    pub(crate) fn dead(&mut self) -> Limited<Set> {
        let all = self.values.diagrams.constant(true);
        let live = self.before(&all, None)?;
        Ok(self.values.diagrams.not(&live))
    }

    /// Returns the states in which some enabled joint action overflows.
    pub(crate) fn overflowing(&mut self) -> Limited<Set> {
        let protocols = self.protocols();
        let gone = self.all_actions().collect();
        self.product(&self.overflow.clone(), &protocols, &gone)
    }

    fn protocols(&self) -> Vec<Conjunct> {
        self.parts.iter().filter(|part| part.is_protocol).map(|part| part.conjunct.clone()).collect()
    }

    /// Returns the states that agents together confuse with some state of a set: they agree on every variable
    /// that some of the agents sees.
    pub(crate) fn alike(&mut self, agents: &[AgentId], set: &Set) -> Limited<Set> {
        let system = self.values.system;
        let seen: FxHashSet<_> = agents.iter().flat_map(|i| &system.agent(*i).sees).copied().collect();
        let hidden: Vec<u32> = (system.variable_ids().filter(|v| !seen.contains(v)))
            .flat_map(|v| self.values.levels.variables[v.index()].clone())
            .collect();
        self.values.diagrams.exists(set, &hidden)
    }

    /// Returns the states that are green for all of some agents.
    pub(crate) fn green(&mut self, agents: &[AgentId]) -> Limited<Set> {
        let mut green = self.values.diagrams.constant(true);
        for agent in agents {
            if let Some(red) = self.values.system.agent(*agent).red {
                let red = self.values.condition(red)?;
                green = self.values.diagrams.minus(&green, &red)?;
            }
        }
        Ok(green)
    }

    /// `pre(Z)`, where `outside` has the states outside `Z`: a choice of the group, one that `choice` allows if it
    /// is given, has a completion, and each completion has a successor and leads into `Z` only.
    pub(crate) fn forced(
        &mut self,
        group: &[AgentId],
        choice: Option<&Set>,
        outside: &Set,
        dead: &Set,
    ) -> Limited<Set> {
        let members: FxHashSet<AgentId> = group.iter().copied().collect();
        let rest = self.values.system.agent_ids().filter(|agent| !members.contains(agent));
        let rest: FxHashSet<u32> = self.action_levels(rest).collect();
        let all = self.values.diagrams.constant(true);
        let protocols = self.protocols();
        let enabled = self.product(&all, &protocols, &rest)?;
        let next = self.values.diagrams.up(outside)?;
        let gone = self.changing.iter().map(|level| level + 1).chain(rest.iter().copied()).collect();
        let mut bad = self.product(&next, &self.backward.clone(), &gone)?;
        let stuck: Vec<Set> = self.parts.iter().map(|part| part.stuck.clone()).collect();
        for stuck in stuck.iter().filter(|stuck| !stuck.is_empty()) {
            let stuck = self.product(stuck, &protocols, &rest)?;
            bad = self.values.diagrams.or(&bad, &stuck)?;
        }
        let mut good = self.values.diagrams.minus(&enabled, &bad)?;
        if let Some(choice) = choice {
            good = self.values.diagrams.and(&good, choice)?;
        }
        let own: Vec<u32> = self.action_levels(group.iter().copied()).collect();
        let forced = self.values.diagrams.exists(&good, &own)?;
        if self.values.system.meaning.deadlock != Deadlock::Stutter {
            return Ok(forced);
        }
        let staying = self.values.diagrams.minus(dead, outside)?;
        self.values.diagrams.or(&forced, &staying)
    }
}
