//! Edges: computes which states of the world below are accessible, without power sets. [BB04 §4]
//!
//! The paper defines accessibility for *sets* of attitudes and enumerates them. Instead each
//! explicit attitude `a_j = O(i, φ_j)` of an edge gets a slot `x_j`; with `y` the bits of the child
//!
//! ```text
//! C(x, y)   = S_v(y) ∧ ⋀_j (x_j → ⟦φ_j⟧(y))          y is accessible if x are the true attitudes
//! Der_ψ(x)  = ¬∃y. C(x, y) ∧ ¬⟦ψ⟧(y)                 ψ holds in all accessible states
//! Empty(x)  = ¬∃y. C(x, y)                           nothing is accessible
//! ```
//!
//! and afterwards the labels of the attitudes replace the slots. If the edge leads to the world itself, `C` also
//! requires `x_j ↔ label_j(y)`: an agent knows its own attitudes. See [`super::own`] for `option self = paper`.
//!
//! Where the child has few groups of states that satisfy the same arguments, `C` is not built: the parent sees
//! no more of a state than its group. This is coarser than bisimulation, which preserves all formulas, not only
//! those that the parent evaluates. Slots are needed because parent and child
//! may be worlds of the same program.

use masque_symbolic::space::{Bit, Limited, Renaming, Set};

use super::Engine;
use super::own::OwnSlots;
use crate::model::{AgentId, Edge, FormulaId, VarId};
use crate::plan::WorldId;
use crate::tree::{Op, Realism};

/// Sets that describe an edge of a world.
pub(super) struct EdgeSets {
    /// World below.
    child: WorldId,
    /// `C(x, y)`; `None` until it is needed, if there are groups.
    accessible: Option<Set>,
    /// States of the child grouped by the arguments they satisfy; `None` if there are too many groups.
    groups: Option<Vec<StateGroup>>,
    /// Renaming from slots to the bits of stored labels.
    to_labels: Renaming,
    /// Slots of defined attitudes and their labels.
    defined: Vec<(Bit, Set)>,
    /// `⟦φ_j⟧` for each attitude.
    args: Vec<(VarId, Set)>,
    /// Slots for a part of the agent's own state.
    pub(super) own: Option<OwnSlots>,
}

/// States of a world below that the world above cannot distinguish: they satisfy the same arguments.
pub(super) struct StateGroup {
    /// The states.
    states: Set,
    /// Slots with which they are accessible: all are false whose argument the states violate.
    slots: Set,
}

/// Maximum number of groups. Each is visited whenever an attitude on the edge is evaluated.
const MAX_STATE_GROUPS: usize = 64;

impl Engine<'_> {
    /// Returns the sets of an edge; `None` if there is no world below.
    pub(super) fn edge(&mut self, world: WorldId, edge: Edge) -> Limited<Option<&EdgeSets>> {
        let Some(child) = self.plan.child(world, edge) else { return Ok(None) };
        if !self.edges.contains_key(&(world, edge)) {
            let sets = self.edge_sets(world, edge, child)?;
            self.edges.insert((world, edge), sets);
        }
        Ok(self.edges.get(&(world, edge)))
    }

    fn edge_sets(&mut self, world: WorldId, edge: Edge, child: WorldId) -> Limited<EdgeSets> {
        let program = self.program_of(world);
        let slots = self.layout.slots.get(&(program, edge)).cloned().unwrap_or_default();
        let (mut args, mut pairs, mut defined, mut implications) = (vec![], vec![], vec![], vec![]);
        for (var, &slot) in self.explicit(world, edge).into_iter().zip(&slots) {
            let Some(attitude) = self.model.var(var).attitude else { continue };
            let arg = self.sat(child, attitude.arg)?;
            let lacking = self.space.minus(&self.world(child).kept, &arg)?;
            let violated = self.space.and(&self.space.bit(slot, true)?, &lacking)?;
            implications.push((self.space.level(slot), violated));
            args.push((var, arg));
            match self.model.var(var).definition {
                Some(definition) => defined.push((slot, self.now(world, definition)?)),
                None => pairs.push((slot, self.layout_of(world).vars[&var].current[0])),
            }
        }
        let to_labels = self.space.renaming(pairs);
        // In a world of its own an agent also distinguishes states by its attitudes.
        let is_own = child == world;
        let own = self.own_slots(world, edge)?;
        let groups = if is_own { None } else { self.state_groups(child, &args, &slots)? };
        let mut accessible = None;
        if groups.is_none() {
            // From the lowest level of the order up, so that intermediate sets have few nodes.
            implications.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
            let mut all = self.world(child).kept.clone();
            for (_, violated) in &implications {
                all = self.space.minus(&all, violated)?;
            }
            for (var, &slot) in self.explicit(world, edge).into_iter().zip(&slots).filter(|_| is_own) {
                let label = self.label(world, var)?;
                let same = self.space.iff(&self.space.bit(slot, true)?, &label)?;
                all = self.space.and(&all, &same)?;
            }
            if let Some(own) = &own {
                all = self.space.and(&all, &self.own_condition(own)?)?;
            }
            accessible = Some(all);
        }
        Ok(EdgeSets { child, accessible, groups, to_labels, defined, args, own })
    }

    /// Groups the kept states of a world by the arguments they satisfy; `None` if there are too many groups.
    fn state_groups(
        &self,
        child: WorldId,
        args: &[(VarId, Set)],
        slots: &[Bit],
    ) -> Limited<Option<Vec<StateGroup>>> {
        if self.separates_states {
            return Ok(None);
        }
        let mut groups = vec![StateGroup { states: self.world(child).kept.clone(), slots: self.space.all() }];
        for ((_, arg), &slot) in args.iter().zip(slots) {
            let is_false = self.space.bit(slot, false)?;
            let mut parts = Vec::new();
            for StateGroup { states, slots } in groups {
                let lacking = self.space.minus(&states, arg)?;
                let states = self.space.and(&states, arg)?;
                if !lacking.is_empty() {
                    parts.push(StateGroup { states: lacking, slots: self.space.and(&slots, &is_false)? });
                }
                if !states.is_empty() {
                    parts.push(StateGroup { states, slots });
                }
            }
            groups = parts;
            if groups.len() > MAX_STATE_GROUPS {
                return Ok(None);
            }
        }
        Ok(Some(groups))
    }

    /// Returns the pairs of slots and states below that are accessible: `C(x, y)`.
    pub(super) fn accessible_pairs(&mut self, world: WorldId, edge: Edge) -> Limited<Option<Set>> {
        let Some(sets) = self.edge(world, edge)? else { return Ok(None) };
        if let Some(known) = &sets.accessible {
            return Ok(Some(known.clone()));
        }
        let mut all = self.space.none();
        for group in self.edges[&(world, edge)].groups.iter().flatten() {
            all = self.space.or(&all, &self.space.and(&group.states, &group.slots)?)?;
        }
        if let Some(sets) = self.edges.get_mut(&(world, edge)) {
            sets.accessible = Some(all.clone());
        }
        Ok(Some(all))
    }

    /// Returns the slots of an edge with the names of their attitudes.
    pub(super) fn named_slots(&self, world: WorldId, edge: Edge) -> Vec<(&str, Bit)> {
        let slots = self.layout.slots.get(&(self.program_of(world), edge)).cloned().unwrap_or_default();
        let names = self.explicit(world, edge).into_iter().map(|var| self.model.var(var).name.as_str());
        names.zip(slots).collect()
    }

    /// Replaces slots by labels.
    pub(super) fn labelled(&mut self, world: WorldId, edge: Edge, set: &Set) -> Limited<Set> {
        let Some(sets) = self.edges.get(&(world, edge)) else { return Ok(set.clone()) };
        let mut set = self.space.rename(set, &sets.to_labels)?;
        for (slot, label) in &sets.defined {
            let same = self.space.iff(&self.space.bit(*slot, true)?, label)?;
            set = self.space.and_exists(&set, &same, &self.space.cube([*slot])?)?;
        }
        self.own_labelled(world, edge, &set)
    }

    /// Returns the states from which some state of the child outside `holds` is accessible.
    fn some_accessible_outside(&mut self, world: WorldId, edge: Edge, holds: &Set) -> Limited<Set> {
        let Some(sets) = self.edge(world, edge)? else { return Ok(self.space.none()) };
        let child = sets.child;
        let cube = self.cube_of(self.program_of(child))?;
        let outside = self.space.minus(&self.world(child).kept, holds)?;
        let EdgeSets { accessible, groups, .. } = &self.edges[&(world, edge)];
        let some = match (groups, accessible) {
            (Some(groups), _) => {
                let mut some = self.space.none();
                for group in groups {
                    if self.space.intersects(&group.states, &outside)? {
                        some = self.space.or(&some, &group.slots)?;
                    }
                }
                some
            }
            (None, Some(accessible)) => self.space.and_exists(accessible, &outside, &cube)?,
            (None, None) => unreachable!("an edge without groups has its pairs"),
        };
        self.labelled(world, edge, &some)
    }

    /// Returns the states from which only states of the child that satisfy a formula are accessible.
    pub(super) fn holds_in_accessible(&mut self, world: WorldId, edge: Edge, arg: FormulaId) -> Limited<Set> {
        let Some(child) = self.plan.child(world, edge) else { return Ok(self.space.all()) };
        let holds = self.sat(child, arg)?;
        let some = self.some_accessible_outside(world, edge, &holds)?;
        self.space.not(&some)
    }

    /// Returns the states from which no state is accessible.
    pub(super) fn nothing_accessible(&mut self, world: WorldId, edge: Edge) -> Limited<Set> {
        let some = self.some_accessible_outside(world, edge, &self.space.none())?;
        self.space.not(&some)
    }

    /// Returns, for each explicit attitude of an edge, the states that lack it although its argument holds
    /// in all accessible states. [BB04 Def. 3, Condition 2]
    pub(super) fn lacking(&mut self, world: WorldId, edge: Edge) -> Limited<Vec<(VarId, Set)>> {
        let Some(sets) = self.edge(world, edge)? else { return Ok(Vec::new()) };
        let args = sets.args.clone();
        let mut result = Vec::new();
        for (var, arg) in args {
            let some = self.some_accessible_outside(world, edge, &arg)?;
            let implied = self.space.not(&some)?;
            let label = self.label(world, var)?;
            result.push((var, self.space.minus(&implied, &label)?));
        }
        Ok(result)
    }

    /// Returns the states of the child that are accessible from one state of a world.
    pub(super) fn accessible_from(&mut self, world: WorldId, edge: Edge, state: &Set) -> Limited<Set> {
        let Some(sets) = self.edge(world, edge)? else { return Ok(self.space.none()) };
        let (child, args) = (sets.child, sets.args.clone());
        let mut accessible = self.world(child).kept.clone();
        for (var, arg) in args {
            let label = self.label(world, var)?;
            let has_label = self.space.is_subset(state, &label)?;
            if has_label {
                accessible = self.space.and(&accessible, &arg)?;
            }
            if child == world {
                accessible = match has_label {
                    true => self.space.and(&accessible, &label)?,
                    false => self.space.minus(&accessible, &label)?,
                };
            }
        }
        let alike = self.alike_in_own_part(world, edge, state)?;
        self.space.and(&accessible, &alike)
    }

    /// Returns the states that satisfy a kind of realism. [RG91 §4]
    ///
    /// ```text
    /// strong  Acc_B(s) ⊆ Acc_D(s) ⊆ Acc_I(s)      plain  the other way round
    /// weak    any two of the three have a state in common
    /// ```
    pub(super) fn realism(&mut self, world: WorldId, realism: Realism, agent: AgentId) -> Limited<Set> {
        let [b, d, i] = Op::ALL.map(|op| Edge { op, agent });
        let conditions = match realism {
            Realism::Strong => vec![self.is_included(world, b, d)?, self.is_included(world, d, i)?],
            Realism::Plain => vec![self.is_included(world, i, d)?, self.is_included(world, d, b)?],
            Realism::Weak => vec![self.meet(world, b, d)?, self.meet(world, d, i)?, self.meet(world, b, i)?],
        };
        conditions.iter().try_fold(self.space.all(), |all, condition| self.space.and(&all, condition))
    }

    /// Returns the states `s` with `Acc_d(s) ⊆ Acc_e(s)`.
    fn is_included(&mut self, world: WorldId, d: Edge, e: Edge) -> Limited<Set> {
        let (Some(first), Some(second)) = self.both(world, d, e)? else { return Ok(self.space.all()) };
        let outside = self.space.not(&second)?;
        let some = self.some_in_both(world, [d, e], &first, &outside)?;
        self.space.not(&some)
    }

    /// Returns the states `s` with `Acc_d(s) ∩ Acc_e(s) ≠ ∅`.
    fn meet(&mut self, world: WorldId, d: Edge, e: Edge) -> Limited<Set> {
        let (Some(first), Some(second)) = self.both(world, d, e)? else { return Ok(self.space.none()) };
        self.some_in_both(world, [d, e], &first, &second)
    }

    fn both(&mut self, world: WorldId, d: Edge, e: Edge) -> Limited<(Option<Set>, Option<Set>)> {
        Ok((self.accessible_pairs(world, d)?, self.accessible_pairs(world, e)?))
    }

    fn some_in_both(&mut self, world: WorldId, edges: [Edge; 2], a: &Set, b: &Set) -> Limited<Set> {
        let child = self.edges[&(world, edges[0])].child;
        let cube = self.cube_of(self.program_of(child))?;
        let mut some = self.space.and_exists(a, b, &cube)?;
        for edge in edges {
            some = self.labelled(world, edge, &some)?;
        }
        Ok(some)
    }
}
