//! Attitudes of an agent about a part of its own state, under `option self = paper`. [BB04 Fig. 1]
//!
//! Figure 1 reads an own variable as a belief of the agent and `do α` as its intention. On an edge that leads to the
//! world itself, with `s` the state from which `t` is accessible,
//!
//! ```text
//! belief      all variables and explicit attitudes have the same values in s and t
//! intention   if s has an action, t has the same action
//! ```
//!
//! The values in `s` are slots `x`, beside the bits `y` of `t`. So `C(x, y)` of [`super::edge`] also requires `x ↔ y`,
//! or `x = no action ∨ x ↔ y`, and afterwards the values of `s` replace the slots, as labels replace the slots of
//! attitudes. Slots and bits are neighbours in the order, so `x ↔ y` has linear size.
//!
//! Variables that do not keep all their values ([`super::values`]) need no more values for this: an accessible state
//! has the same values as `s`, and if `s` has only values that are kept, so has `t`.

use masque_symbolic::space::{Bit, Limited, Renaming, Set};

use super::Engine;
use crate::model::{Edge, VarId};
use crate::plan::{OwnPart, WorldId};

/// Slots for a part of an agent's own state.
pub(super) struct OwnSlots {
    part: OwnPart,
    /// Slots with the bits that they stand for.
    pairs: Vec<(Bit, Bit)>,
    /// Slots of defined attitudes and their labels.
    defined: Vec<(Bit, Set)>,
    /// Renaming from slots to the bits that they stand for.
    renaming: Renaming,
}

impl Engine<'_> {
    /// Returns the slots for the part of its own state that an agent has attitudes about on an edge, if there is one.
    pub(super) fn own_slots(&mut self, world: WorldId, edge: Edge) -> Limited<Option<OwnSlots>> {
        let Some(part) = self.plan.own_part(self.model, world, edge) else { return Ok(None) };
        let layout = self.layout_of(world);
        let fields: Vec<_> = match part {
            OwnPart::Variables => layout.vars.values().collect(),
            OwnPart::Action => vec![&layout.action],
        };
        let bits = fields.iter().flat_map(|field| field.slots.iter().zip(&field.current));
        let mut pairs: Vec<(Bit, Bit)> = bits.map(|(slot, bit)| (*slot, *bit)).collect();
        // From the lowest level of the order up, so that intermediate sets have few nodes.
        pairs.sort_by_key(|(slot, _)| std::cmp::Reverse(self.space.level(*slot)));
        let mut defined = Vec::new();
        for (var, slot) in self.own_defined(world, part) {
            defined.push((slot, self.label(world, var)?));
        }
        let renaming = self.space.renaming(pairs.iter().copied());
        Ok(Some(OwnSlots { part, pairs, defined, renaming }))
    }

    /// Returns the defined attitudes in a part of an agent's own state, with their slots.
    fn own_defined(&self, world: WorldId, part: OwnPart) -> Vec<(VarId, Bit)> {
        match part {
            OwnPart::Variables => {
                let slots = &self.layout_of(world).own_defined;
                slots.iter().map(|(var, slot)| (*var, *slot)).collect()
            }
            OwnPart::Action => Vec::new(),
        }
    }

    /// Returns the pairs of slots and states in which the state is as the slots require.
    pub(super) fn own_condition(&self, own: &OwnSlots) -> Limited<Set> {
        let mut same = self.space.all();
        for &(slot, bit) in &own.pairs {
            let iff = self.space.iff(&self.space.bit(slot, true)?, &self.space.bit(bit, true)?)?;
            same = self.space.and(&iff, &same)?;
        }
        for (slot, label) in &own.defined {
            let iff = self.space.iff(&self.space.bit(*slot, true)?, label)?;
            same = self.space.and(&same, &iff)?;
        }
        match own.part {
            OwnPart::Variables => Ok(same),
            OwnPart::Action => {
                let slots: Vec<Bit> = own.pairs.iter().map(|(slot, _)| *slot).collect();
                self.space.or(&same, &self.space.has_code(&slots, 0)?)
            }
        }
    }

    /// Replaces the slots of an agent's own state by its values.
    pub(super) fn own_labelled(&self, world: WorldId, edge: Edge, set: &Set) -> Limited<Set> {
        let Some(own) = self.edges.get(&(world, edge)).and_then(|sets| sets.own.as_ref()) else {
            return Ok(set.clone());
        };
        let mut set = self.space.rename(set, &own.renaming)?;
        for (slot, label) in &own.defined {
            let same = self.space.iff(&self.space.bit(*slot, true)?, label)?;
            set = self.space.and_exists(&set, &same, &self.space.cube([*slot])?)?;
        }
        Ok(set)
    }

    /// Returns the states whose part of the agent's own state is as an edge requires of those that are accessible from
    /// `state`; all states if it requires nothing.
    pub(super) fn alike_in_own_part(&mut self, world: WorldId, edge: Edge, state: &Set) -> Limited<Set> {
        let Some(part) = self.plan.own_part(self.model, world, edge) else { return Ok(self.space.all()) };
        let layout = self.layout_of(world);
        let mut others = layout.point.current.clone();
        match part {
            OwnPart::Variables => others.extend(&layout.action.current),
            OwnPart::Action => {
                let no_action = self.space.has_code(&layout.action.current, 0)?;
                if self.space.is_subset(state, &no_action)? {
                    return Ok(self.space.all());
                }
                others.extend(layout.vars.values().flat_map(|field| &field.current));
            }
        }
        let mut alike = self.space.exists(state, &self.space.cube(others)?)?;
        for (var, _) in self.own_defined(world, part) {
            let label = self.label(world, var)?;
            alike = match self.space.is_subset(state, &label)? {
                true => self.space.and(&alike, &label)?,
                false => self.space.minus(&alike, &label)?,
            };
        }
        Ok(alike)
    }
}
