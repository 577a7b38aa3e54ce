//! One step of a program on sets of states, forwards and backwards.
//!
//! Only the bits that a step assigns are quantified. The other bits stay the same, so no frame condition
//! is needed. A variable that becomes a constant or any value needs no bits for its next value.

use masque_symbolic::space::{Bit, Cube, Limited, Renaming, Set, Space};
use masque_text::Span;

use super::layout::ProgramLayout;
use crate::model::{ActionId, VarId};

/// Effect of a step on a variable.
pub(super) enum Effect {
    /// It gets any value.
    Any,
    /// It gets the value with this code.
    Constant(u64),
    /// It gets the value with these bits, most significant first: each is the set of states in which it is one.
    Bits(Vec<Set>),
}

/// A step as decision diagrams.
pub(super) struct Transition {
    /// States in which it may be taken, point included.
    pub(super) guard: Set,
    /// `next = f(current)` for the variables whose new value depends on the state.
    relation: Option<Set>,
    /// Bits quantified in [`Transition::post`]: point, action, all assigned variables.
    quantified: Cube,
    /// The same bits as a list.
    changed_bits: Vec<Bit>,
    /// Condition on the state afterwards: point, action, constants, valid codes.
    result: Set,
    /// Bits of `result`, quantified in [`Transition::pre`]; variables of the relation are not among them.
    result_bits: Cube,
    next_bits: Cube,
    to_current: Renaming,
    to_next: Renaming,
    /// Assignments with the states in which they would leave the range of their variable.
    pub(super) overflows: Vec<(VarId, Span, Set)>,
}

/// Returns the code of an action in the action bits.
pub(super) fn action_code(actions: &[ActionId], action: Option<ActionId>) -> u64 {
    let position = action.and_then(|action| actions.iter().position(|a| *a == action));
    position.map_or(0, |position| position as u64 + 1)
}

/// A step whose diagrams are not combined yet.
pub(super) struct TransitionDraft {
    pub(super) guard: Set,
    /// Code of the point after the step.
    pub(super) to: u64,
    /// Code of the action.
    pub(super) action: u64,
    /// Assigned variables, each with its number of values.
    pub(super) effects: Vec<(VarId, u64, Effect)>,
    pub(super) overflows: Vec<(VarId, Span, Set)>,
}

impl TransitionDraft {
    /// Returns a step that assigns nothing yet; `to` and `action` are codes.
    pub(super) fn new(guard: Set, to: u64, action: u64) -> TransitionDraft {
        TransitionDraft { guard, to, action, effects: Vec::new(), overflows: Vec::new() }
    }
}

impl Transition {
    pub(super) fn new(
        space: &Space,
        layout: &ProgramLayout,
        mut draft: TransitionDraft,
    ) -> Limited<Transition> {
        // From the lowest level of the order up: each conjunction adds nodes above the previous ones.
        draft.effects.sort_by_key(|(var, ..)| std::cmp::Reverse(layout.vars[var].current.first().copied()));
        let mut result = space.all();
        let mut result_bits: Vec<Bit> = Vec::new();
        result_bits.extend(&layout.point.current);
        result_bits.extend(&layout.action.current);
        let mut quantified = result_bits.clone();
        let mut relation: Option<Set> = None;
        let mut pairs: Vec<(Bit, Bit)> = Vec::new();
        for (var, n_codes, effect) in &draft.effects {
            let field = &layout.vars[var];
            quantified.extend(&field.current);
            match effect {
                Effect::Any => {
                    result = space.and(&result, &space.has_code_below(&field.current, (*n_codes).into())?)?;
                    result_bits.extend(&field.current);
                }
                Effect::Constant(code) => {
                    result = space.and(&result, &space.has_code(&field.current, *code)?)?;
                    result_bits.extend(&field.current);
                }
                Effect::Bits(bits) => {
                    let mut all = relation.take().unwrap_or_else(|| space.all());
                    for (&next, bit) in field.next.iter().zip(bits) {
                        all = space.and(&all, &space.iff(&space.bit(next, true)?, bit)?)?;
                    }
                    relation = Some(all);
                    pairs.extend(field.next.iter().copied().zip(field.current.iter().copied()));
                }
            }
        }
        result = space.and(&space.has_code(&layout.action.current, draft.action)?, &result)?;
        result = space.and(&space.has_code(&layout.point.current, draft.to)?, &result)?;
        Ok(Transition {
            guard: draft.guard,
            relation,
            quantified: space.cube(quantified.iter().copied())?,
            changed_bits: quantified,
            result,
            result_bits: space.cube(result_bits)?,
            next_bits: space.cube(pairs.iter().map(|(next, _)| *next))?,
            to_current: space.renaming(pairs.iter().copied()),
            to_next: space.renaming(pairs.iter().map(|&(next, current)| (current, next))),
            overflows: draft.overflows,
        })
    }

    /// Returns the states after the step.
    pub(super) fn post(&self, space: &Space, from: &Set) -> Limited<Set> {
        let here = space.and(from, &self.guard)?;
        if here.is_empty() {
            return Ok(here);
        }
        let there = match &self.relation {
            None => space.exists(&here, &self.quantified)?,
            Some(relation) => {
                let image = space.and_exists(&here, relation, &self.quantified)?;
                space.rename(&image, &self.to_current)?
            }
        };
        space.and(&there, &self.result)
    }

    /// Returns the step from states of a set as pairs of states: current bits before it, next bits after it. All
    /// parts of a state of the program must have next bits.
    pub(super) fn pairs(&self, space: &Space, layout: &ProgramLayout, from: &Set) -> Limited<Set> {
        let moments: Vec<(Bit, Bit)> = layout.moments().collect();
        let mut kept: Vec<(Bit, Bit)> = moments.clone();
        kept.retain(|(current, _)| !self.changed_bits.contains(current));
        kept.sort_by_key(|&(current, _)| std::cmp::Reverse(space.level(current)));
        let mut pairs = space.all();
        for (current, next) in kept {
            pairs = space.and(&space.iff(&space.bit(current, true)?, &space.bit(next, true)?)?, &pairs)?;
        }
        let result = space.rename(&self.result, &space.renaming(moments))?;
        for condition in [&result, &self.guard, from].into_iter().chain(&self.relation) {
            pairs = space.and(&pairs, condition)?;
        }
        Ok(pairs)
    }

    /// Returns the states before the step.
    pub(super) fn pre(&self, space: &Space, to: &Set) -> Limited<Set> {
        let there = space.and_exists(to, &self.result, &self.result_bits)?;
        if there.is_empty() {
            return Ok(there);
        }
        let here = match &self.relation {
            None => there,
            Some(relation) => {
                let renamed = space.rename(&there, &self.to_next)?;
                space.and_exists(&renamed, relation, &self.next_bits)?
            }
        };
        space.and(&here, &self.guard)
    }
}
