//! Images, pre-images and views: what the conditions of `conditions.rs` are made of.

use masque_model::{AgentId, Deadlock};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::encode::{Conjunct, Encoded};
use crate::kernel::Set;
use crate::values::Levels;

impl Encoded<'_> {
    /// Intersects a set with conjuncts, one after the other, and quantifies each level in `gone` after the last
    /// one that mentions it.
    fn product(&self, start: &Set, conjuncts: &[Conjunct], gone: impl IntoIterator<Item = u32>) -> Set {
        let mut last: FxHashMap<u32, Option<usize>> = gone.into_iter().map(|level| (level, None)).collect();
        for (index, conjunct) in conjuncts.iter().enumerate() {
            for level in &conjunct.support {
                last.entry(*level).and_modify(|last| *last = Some(index));
            }
        }
        let mut ends: Vec<Vec<u32>> = vec![Vec::new(); conjuncts.len()];
        let mut unused = Vec::new();
        last.iter().for_each(|(level, last)| last.map_or(&mut unused, |index| &mut ends[index]).push(*level));
        let start = start.exists(unused);
        conjuncts.iter().zip(ends).fold(start, |set, (conjunct, end)| set.and_exists(&conjunct.relation, end))
    }

    fn actions(&self, agents: impl Iterator<Item = AgentId>) -> Vec<u32> {
        agents.flat_map(|agent| self.values.levels.actions[agent.index()].clone()).collect()
    }

    fn all_actions(&self) -> Vec<u32> {
        self.actions(self.values.system.agent_ids())
    }

    /// The levels of next values that steps change.
    fn next(&self) -> impl Iterator<Item = u32> {
        self.changing.iter().map(|level| level + 1)
    }

    /// Returns the successors of a set by joint actions.
    pub(crate) fn post(&self, set: &Set) -> Set {
        let gone = self.changing.iter().copied().chain(self.all_actions());
        self.product(set, &self.forward, gone).down()
    }

    /// Returns the predecessors of a set by joint actions that satisfy a condition.
    pub(crate) fn before(&self, set: &Set, condition: Option<&Set>) -> Set {
        let next = set.up();
        let next = condition.map_or(next.clone(), |condition| next.and(condition));
        self.product(&next, &self.backward, self.next().chain(self.all_actions()))
    }

    /// Returns the states without successor.
    pub(crate) fn dead(&self) -> Set {
        self.before(&self.values.diagrams.constant(true), None).not()
    }

    /// Returns the states in which some enabled joint action overflows.
    pub(crate) fn overflowing(&self) -> Set {
        self.product(&self.overflow, &self.protocols, self.all_actions())
    }

    /// Returns the states that some view confuses with a state of a set. A view is a list of agents: together they
    /// confuse states that agree on every variable that some of them sees.
    pub(crate) fn alike(&self, views: &[&[AgentId]], set: &Set) -> Set {
        let Levels { variables, .. } = &self.values.levels;
        let system = self.values.system;
        self.values.diagrams.union(views.iter().map(|view| {
            let seen: FxHashSet<_> = view.iter().flat_map(|i| &system.agent(*i).sees).collect();
            let hidden = system.variable_ids().filter(|v| !seen.contains(v));
            set.exists(hidden.flat_map(|v| variables[v.index()].iter().copied()))
        }))
    }

    /// Returns the states that are green for all of some agents.
    pub(crate) fn green(&self, agents: &[AgentId]) -> Set {
        let red = agents.iter().filter_map(|agent| self.values.system.agent(*agent).red);
        self.values.diagrams.union(red.map(|red| self.values.condition(red))).not()
    }

    /// `pre(Z)`, where `outside` has the states outside `Z`: a choice of the group, one that `choice` allows, has a
    /// completion, and each completion has a successor and leads into `Z` only.
    pub(crate) fn forced(&self, group: &[AgentId], choice: &Set, outside: &Set, dead: &Set) -> Set {
        let system = self.values.system;
        let rest = self.actions(system.agent_ids().filter(|agent| !group.contains(agent)));
        let gone = self.next().chain(rest.iter().copied());
        let leaving = self.product(&outside.up(), &self.backward, gone);
        let completed = |set: &Set| self.product(set, &self.protocols, rest.iter().copied());
        let stuck = self.stuck.iter().filter(|stuck| !stuck.is_empty()).map(completed);
        let stuck = self.values.diagrams.union(stuck);
        let good = completed(choice).minus(&leaving).minus(&stuck);
        let forced = good.exists(self.actions(group.iter().copied()));
        match system.meaning.deadlock {
            Deadlock::Stutter => forced.or(&dead.minus(outside)),
            Deadlock::Finite | Deadlock::Error => forced,
        }
    }
}
