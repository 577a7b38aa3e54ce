//! One step of a program on sets of states, forwards and backwards.
//!
//! Only what a step assigns is quantified: the rest of the state stays where it is, so there is no
//! frame condition. A variable that becomes a constant or anything at all needs no copy for its
//! next value.

use masque_symbolic::space::{Bit, Cube, Limited, Renaming, Set, Space};
use masque_text::Span;

use super::layout::ProgramLayout;
use crate::model::{ActionId, VarId};

/// What a step does to a variable.
pub(super) enum Effect {
    /// It may become anything.
    Any,
    /// It becomes this value, by code.
    Constant(u64),
    /// It becomes what these sets say, most significant bit first.
    Bits(Vec<Set>),
}

/// A step, ready to be taken.
pub(super) struct Arrow {
    /// Where it may be taken; says the point.
    pub(super) guard: Set,
    /// `next = f(current)` for what depends on the state.
    relation: Option<Set>,
    /// What is forgotten forwards: point, action, all assigned variables.
    forget: Cube,
    /// What is known afterwards: point, action, constants, valid codes.
    result: Set,
    /// What the result is about, forgotten backwards; variables of the relation are not.
    result_bits: Cube,
    next_bits: Cube,
    to_current: Renaming,
    to_next: Renaming,
    /// Where an assignment would leave its variable's range.
    pub(super) overflows: Vec<(VarId, Span, Set)>,
}

/// What a step makes of the action bits.
pub(super) fn action_code(layout_actions: &[ActionId], action: Option<ActionId>) -> u64 {
    let position = action.and_then(|action| layout_actions.iter().position(|a| *a == action));
    position.map_or(0, |position| position as u64 + 1)
}

/// A step before its sets are put together.
pub(super) struct Draft {
    pub(super) guard: Set,
    pub(super) to: u64,
    pub(super) action: u64,
    pub(super) effects: Vec<(VarId, u64, Effect)>,
    pub(super) overflows: Vec<(VarId, Span, Set)>,
}

impl Draft {
    /// Returns a step that assigns nothing yet; `to` and `action` are codes.
    pub(super) fn new(guard: Set, to: u64, action: u64) -> Draft {
        Draft { guard, to, action, effects: Vec::new(), overflows: Vec::new() }
    }
}

impl Arrow {
    pub(super) fn new(space: &Space, layout: &ProgramLayout, mut draft: Draft) -> Limited<Arrow> {
        // From the bottom of the order up: each conjunction then adds nodes on top of the last.
        draft.effects.sort_by_key(|(var, ..)| std::cmp::Reverse(layout.vars[var].current.first().copied()));
        let mut result = space.all();
        let mut result_bits: Vec<Bit> = Vec::new();
        result_bits.extend(&layout.point.current);
        result_bits.extend(&layout.action.current);
        let mut forget = result_bits.clone();
        let mut relation: Option<Set> = None;
        let mut pairs: Vec<(Bit, Bit)> = Vec::new();
        for (var, n_codes, effect) in &draft.effects {
            let field = &layout.vars[var];
            forget.extend(&field.current);
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
        Ok(Arrow {
            guard: draft.guard,
            relation,
            forget: space.cube(forget)?,
            result,
            result_bits: space.cube(result_bits)?,
            next_bits: space.cube(pairs.iter().map(|(next, _)| *next))?,
            to_current: space.renaming(pairs.iter().copied())?,
            to_next: space.renaming(pairs.iter().map(|&(next, current)| (current, next)))?,
            overflows: draft.overflows,
        })
    }

    /// The states after the step.
    pub(super) fn post(&self, space: &Space, from: &Set) -> Limited<Set> {
        let here = space.and(from, &self.guard)?;
        if here.is_empty() {
            return Ok(here);
        }
        let there = match &self.relation {
            None => space.exists(&here, &self.forget)?,
            Some(relation) => {
                let image = space.and_exists(&here, relation, &self.forget)?;
                space.rename(&image, &self.to_current)?
            }
        };
        space.and(&there, &self.result)
    }

    /// The states before the step.
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
