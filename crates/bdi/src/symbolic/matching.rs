//! Identity of states in the comparison of two worlds. [BB04 Def. 2]
//!
//! The states of two worlds of one program are the states of the program. Worlds of different programs have
//! no points in common, so there two states are the same if they have the same label: the same true
//! variables and attitudes, the same values, the same last action. A boolean variable or an attitude that one
//! program lacks is false there.

use std::collections::BTreeMap;

use masque_symbolic::space::{Bit, Limited, Set};

use super::Engine;
use super::layout::Field;
use super::number::Number;
use super::step::action_code;
use crate::model::{Domain, VarId};
use crate::plan::WorldId;
use crate::tree::Rel;

/// Number of values up to which variables of two programs are compared value by value.
const MAX_LISTED_VALUES: u64 = 256;

/// Bits that describe a state: those of the current state, or those of the next in a pair of states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Current,
    Next,
}

impl Moment {
    pub(super) fn bits(self, field: &Field) -> &[Bit] {
        match self {
            Moment::Current => &field.current,
            Moment::Next => &field.next,
        }
    }
}

/// Variables of two programs with the same name; `None` if a program has no such variable.
type NamesakeVars = BTreeMap<String, (Option<VarId>, Option<VarId>)>;

impl Engine<'_> {
    /// Returns the states of the program of `to` that are the same as some state in `set`, a set of states of
    /// `from`. Conditions of the set on bits outside that program, or of another moment, stay.
    pub(super) fn matching(&mut self, from: WorldId, to: WorldId, set: &Set, moment: Moment) -> Limited<Set> {
        let programs = [self.program_of(from), self.program_of(to)];
        if programs[0] == programs[1] {
            return Ok(set.clone());
        }
        let mut left = set.clone();
        let mut absent = self.space.all();
        let (mut stored, mut unmatched) = (Vec::new(), Vec::new());
        for (first, second) in self.namesakes(from, to).into_values() {
            let is_boolean = |var: Option<VarId>| var.is_none_or(|var| self.is_boolean(var));
            if is_boolean(first) != is_boolean(second) {
                return Ok(self.space.none());
            }
            match (first, second) {
                (Some(first), Some(second)) if self.is_stored(first) && self.is_stored(second) => {
                    stored.push((first, second));
                }
                (Some(first), Some(second)) => {
                    let here = self.value_set(from, first, moment)?;
                    let there = self.value_set(to, second, moment)?;
                    left = self.space.and(&left, &self.space.iff(&here, &there)?)?;
                }
                (Some(first), None) => {
                    let here = self.value_set(from, first, moment)?;
                    left = self.space.minus(&left, &here)?;
                    unmatched.extend(Some(first).filter(|&var| self.is_stored(var)));
                }
                (None, Some(second)) => {
                    let there = self.value_set(to, second, moment)?;
                    absent = self.space.minus(&absent, &there)?;
                }
                (None, None) => {}
            }
        }
        let layout = &self.layout.programs[&programs[0]];
        let fields = unmatched.iter().map(|var| &layout.vars[var]).chain([&layout.point]);
        let bits: Vec<Bit> = fields.flat_map(|field| moment.bits(field).to_vec()).collect();
        left = self.space.exists(&left, &self.space.cube(bits)?)?;
        for (first, second) in stored {
            let same = self.same_value(from, to, (first, second), moment)?;
            let bits = moment.bits(&self.layout_of(from).vars[&first]).to_vec();
            left = self.space.and_exists(&left, &same, &self.space.cube(bits)?)?;
        }
        let same = self.same_action(from, to, moment)?;
        let bits = moment.bits(&self.layout_of(from).action).to_vec();
        left = self.space.and_exists(&left, &same, &self.space.cube(bits)?)?;
        self.space.and(&left, &absent)
    }

    /// Returns the variables of two worlds by name.
    fn namesakes(&self, from: WorldId, to: WorldId) -> NamesakeVars {
        let mut namesakes = NamesakeVars::new();
        for &var in &self.model.program(self.program_of(from)).vars {
            namesakes.entry(self.model.var(var).name.clone()).or_default().0 = Some(var);
        }
        for &var in &self.model.program(self.program_of(to)).vars {
            namesakes.entry(self.model.var(var).name.clone()).or_default().1 = Some(var);
        }
        namesakes
    }

    fn is_boolean(&self, var: VarId) -> bool {
        self.model.var(var).domain == Domain::Bool
    }

    /// Whether a variable has bits: all except defined attitudes.
    fn is_stored(&self, var: VarId) -> bool {
        self.model.var(var).definition.is_none()
    }

    /// Returns the states of a moment in which a boolean variable or an attitude is true.
    fn value_set(&mut self, world: WorldId, var: VarId, moment: Moment) -> Limited<Set> {
        let now = self.label(world, var)?;
        match moment {
            Moment::Current => Ok(now),
            Moment::Next => self.to_next(world, &now),
        }
    }

    /// Returns a set of states of a world as a condition on the next state of a pair.
    pub(super) fn to_next(&self, world: WorldId, set: &Set) -> Limited<Set> {
        self.space.rename(set, &self.space.renaming(self.layout_of(world).moments()))
    }

    /// Returns a condition on the next state of a pair as a set of states.
    pub(super) fn to_current(&self, world: WorldId, set: &Set) -> Limited<Set> {
        let pairs = self.layout_of(world).moments().map(|(current, next)| (next, current));
        self.space.rename(set, &self.space.renaming(pairs))
    }

    /// Returns where two stored variables of the same kind have the same value.
    fn same_value(
        &self,
        from: WorldId,
        to: WorldId,
        (first, second): (VarId, VarId),
        moment: Moment,
    ) -> Limited<Set> {
        let here = moment.bits(&self.layout_of(from).vars[&first]);
        let there = moment.bits(&self.layout_of(to).vars[&second]);
        let (a, b) = (&self.model.var(first).domain, &self.model.var(second).domain);
        if self.layout.n_codes(self.model, first) > MAX_LISTED_VALUES
            && !self.layout.merged.vars.contains_key(&first)
            && matches!((a, b), (Domain::Range(..), Domain::Range(..)))
        {
            let bits = |bits: &[Bit]| bits.iter().map(|&bit| self.space.bit(bit, true)).collect();
            let (here, there): (Limited<Vec<_>>, Limited<Vec<_>>) = (bits(here), bits(there));
            let shift = Number::constant(&self.space, a.bounds().0 - b.bounds().0);
            let here = Number::code(&self.space, &here?).plus(&self.space, &shift)?;
            return here.compare(&self.space, Rel::Eq, &Number::code(&self.space, &there?));
        }
        let mut same = self.space.none();
        for code in 0..self.layout.n_codes(self.model, first) {
            let text = a.text(self.layout.value(self.model, first, code));
            let codes = 0..self.layout.n_codes(self.model, second);
            let is_same = |&other: &u64| b.text(self.layout.value(self.model, second, other)) == text;
            if let Some(other) = codes.into_iter().find(is_same) {
                let both =
                    self.space.and(&self.space.has_code(here, code)?, &self.space.has_code(there, other)?)?;
                same = self.space.or(&same, &both)?;
            }
        }
        Ok(same)
    }

    /// Returns where the last actions of two worlds have the same name, or neither has one.
    fn same_action(&self, from: WorldId, to: WorldId, moment: Moment) -> Limited<Set> {
        let [first, second] = [from, to].map(|world| &self.model.program(self.program_of(world)).actions);
        let here = moment.bits(&self.layout_of(from).action);
        let there = moment.bits(&self.layout_of(to).action);
        let name = |action: &crate::model::ActionId| &self.model.actions[action.index()].name;
        let namesakes = first.iter().filter_map(|a| {
            let other = second.iter().find(|b| name(a) == name(b))?;
            Some((action_code(first, Some(*a)), action_code(second, Some(*other))))
        });
        let mut same = self.space.none();
        for (a, b) in namesakes.chain([(0, 0)]) {
            let both = self.space.and(&self.space.has_code(here, a)?, &self.space.has_code(there, b)?)?;
            same = self.space.or(&same, &both)?;
        }
        Ok(same)
    }
}
