//! Why a property fails: a tree of paths through worlds.
//!
//! A temporal operator that fails is shown by a path or a lasso. An attitude that fails is shown by
//! a *jump*: a state of the picture that is accessible and does not satisfy the argument, with the
//! attitudes that made it accessible and a path by which the picture gets there; then the argument
//! is explained in that state. What holds on all paths, or in all accessible states, has no short
//! witness and ends a branch.

use masque_symbolic::fixpoint::PathSearch;
use masque_symbolic::space::{Limited, Set};

use super::Engine;
use super::paths::Path;
use super::world::{Reason, Removal};
use crate::model::{Edge, Formula, FormulaId, Question, VarId};
use crate::outcome::Status;
use crate::plan::WorldId;

/// What a part of an explanation shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A finite path.
    Path,
    /// A path that comes back to one of its states.
    Lasso,
    /// A state of the world below, accessible from here: the last of a path in that world.
    Jump,
}

/// A state, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StateText {
    /// The point of the program.
    pub point: u32,
    /// The action just performed.
    pub action: Option<String>,
    /// Variables and their values, in the order of the program.
    pub values: Vec<(String, String)>,
}

/// A part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Explanation {
    /// The world, by the way to it.
    pub world: String,
    /// What is shown.
    pub kind: Shape,
    /// The formula that the path shows to be true or false in its first state; of a jump, in its
    /// last.
    pub formula: String,
    /// Which of the two.
    pub holds: bool,
    /// The states.
    pub states: Vec<StateText>,
    /// Of a lasso: the state that follows the last.
    pub back_to: Option<usize>,
    /// Of a jump: the edge.
    pub edge: Option<String>,
    /// Of a jump: the explicit attitudes that were true where it began.
    pub asserted: Vec<String>,
    /// What explains the last state; of a lasso, the first.
    pub next: Vec<Explanation>,
}

/// A formula in a state of a world.
#[derive(Clone)]
struct Claim {
    world: WorldId,
    /// The way to the world.
    path: String,
    state: Set,
    formula: FormulaId,
    holds: bool,
}

impl Claim {
    /// A part of the formula, in the same state.
    fn part(&self, formula: FormulaId, holds: bool) -> Claim {
        Claim { formula, holds, ..self.clone() }
    }

    /// A formula in another state of the same world.
    fn at(&self, state: Set, formula: FormulaId, holds: bool) -> Claim {
        Claim { state, formula, holds, ..self.clone() }
    }
}

/// An explanation has at most so many parts.
const LARGEST: usize = 24;

impl Engine<'_> {
    /// Why a property fails; `None` if it does not.
    pub fn explain(&mut self, index: usize) -> Limited<Option<Explanation>> {
        let world = self.plan.properties[index];
        let property = &self.model.properties[index];
        if self.world(world).status != Status::Ok {
            return Ok(None);
        }
        let wrong = self.violations(index)?;
        let path = self.model.path_text(&property.path);
        let Some(states) = self.path_from_start(world, &wrong)? else { return Ok(None) };
        let mut next = Vec::new();
        if let (Question::Formula(formula), Some(state)) = (&property.question, states.last()) {
            let claim =
                Claim { world, path: path.clone(), state: state.clone(), formula: *formula, holds: false };
            let mut left = LARGEST;
            self.show(claim, &mut left, &mut next)?;
        }
        Ok(Some(Explanation {
            world: path,
            kind: Shape::Path,
            formula: property.text.clone(),
            holds: false,
            states: self.texts(world, &states)?,
            back_to: None,
            edge: None,
            asserted: Vec::new(),
            next,
        }))
    }

    /// A shortest path inside a world from an initial state.
    fn path_from_start(&self, id: WorldId, to: &Set) -> Limited<Option<Vec<Set>>> {
        let world = self.world(id);
        let from = self.space.and(&world.initial, &world.kept)?;
        self.sets(id, &from, &world.kept, to)
    }

    /// A shortest path, each state as a set of one.
    fn sets(&self, world: WorldId, from: &Set, through: &Set, to: &Set) -> Limited<Option<Vec<Set>>> {
        let path = self.path(world, &PathSearch { from, through, to, n_steps: 0..=usize::MAX })?;
        Ok(path.map(sets))
    }

    fn is_true(&mut self, claim: &Claim, formula: FormulaId) -> Limited<bool> {
        let holds = self.sat(claim.world, formula)?;
        self.space.is_subset(&claim.state, &holds)
    }

    /// Shows why a claim is so, as far as paths and jumps can show it.
    fn show(&mut self, claim: Claim, left: &mut usize, out: &mut Vec<Explanation>) -> Limited<()> {
        if *left == 0 {
            return Ok(());
        }
        match (self.model.formula(claim.formula).clone(), claim.holds) {
            (Formula::Not(f), holds) => self.show(claim.part(f, !holds), left, out),
            (Formula::And(parts), false) | (Formula::Or(parts), true) => {
                for part in parts {
                    if self.is_true(&claim, part)? == claim.holds {
                        return self.show(claim.part(part, claim.holds), left, out);
                    }
                }
                Ok(())
            }
            (Formula::And(parts), true) | (Formula::Or(parts), false) => {
                for part in parts {
                    self.show(claim.part(part, claim.holds), left, out)?;
                }
                Ok(())
            }
            (Formula::Iff(f, g), _) => {
                for part in [f, g] {
                    let holds = self.is_true(&claim, part)?;
                    self.show(claim.part(part, holds), left, out)?;
                }
                Ok(())
            }
            (Formula::Ex(f), true) => self.show_step(&claim, f, true, left, out),
            (Formula::Ax(f), false) => self.show_step(&claim, f, false, left, out),
            (Formula::Ef(f), true) => self.show_path(&claim, None, (f, true), left, out),
            (Formula::Ag(f), false) => self.show_path(&claim, None, (f, false), left, out),
            (Formula::Eg(f), true) => self.show_lasso(&claim, (f, true), left, out),
            (Formula::Af(f), false) => self.show_lasso(&claim, (f, false), left, out),
            (Formula::Eu(f, g), true) => self.show_path(&claim, Some((f, true)), (g, true), left, out),
            (Formula::Ar(f, g), false) => self.show_path(&claim, Some((f, false)), (g, false), left, out),
            (Formula::Er(f, g), true) => self.show_release(&claim, (f, true), (g, true), left, out),
            (Formula::Au(f, g), false) => self.show_release(&claim, (f, false), (g, false), left, out),
            (Formula::Attitude { edge, arg, .. }, false) => self.show_jump(&claim, edge, arg, left, out),
            _ => Ok(()),
        }
    }

    fn show_step(
        &mut self,
        claim: &Claim,
        f: FormulaId,
        holds: bool,
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        let (target, fair) = (self.valued(claim.world, f, holds)?, self.fair(claim.world)?);
        let next = self.post(&self.world(claim.world).arrows, &claim.state)?;
        let next = self.space.and(&self.space.and(&next, &target)?, &fair)?;
        if next.is_empty() {
            return Ok(());
        }
        let (_, next) = self.least(claim.world, &next)?;
        let after = claim.at(next.clone(), f, holds);
        self.push(claim, Shape::Path, (vec![claim.state.clone(), next], None), vec![after], left, out)
    }

    /// A path through states where one formula has a value to one where another has.
    fn show_path(
        &mut self,
        claim: &Claim,
        through: Option<(FormulaId, bool)>,
        to: (FormulaId, bool),
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        let world = claim.world;
        let through = match through {
            Some((through, holds)) => self.valued(world, through, holds)?,
            None => self.world(world).kept.clone(),
        };
        let (target, fair) = (self.valued(world, to.0, to.1)?, self.fair(world)?);
        let target = self.space.and(&target, &fair)?;
        self.show_found(claim, &through, &target, to, left, out)
    }

    fn show_found(
        &mut self,
        claim: &Claim,
        through: &Set,
        target: &Set,
        (formula, holds): (FormulaId, bool),
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        let through = &self.space.and(through, &self.world(claim.world).kept)?;
        let Some(states) = self.sets(claim.world, &claim.state, through, target)? else { return Ok(()) };
        let after = states.last().map(|state| claim.at(state.clone(), formula, holds));
        if states.len() == 1 {
            // The state at hand is the one: nothing to walk.
            return after.map_or(Ok(()), |after| self.show(after, left, out));
        }
        self.push(claim, Shape::Path, (states, None), after.into_iter().collect(), left, out)
    }

    fn show_lasso(
        &mut self,
        claim: &Claim,
        (formula, holds): (FormulaId, bool),
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        let stay = self.valued(claim.world, formula, holds)?;
        let within = self.some_always(claim.world, &stay)?;
        let Some((states, back_to)) = self.lasso(claim.world, &claim.state, &within)? else { return Ok(()) };
        let here = claim.part(formula, holds);
        self.push(claim, Shape::Lasso, (sets(states), Some(back_to)), vec![here], left, out)
    }

    /// `E[f R g]`: along `g` to where both hold, or along `g` for ever.
    fn show_release(
        &mut self,
        claim: &Claim,
        f: (FormulaId, bool),
        g: (FormulaId, bool),
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        let (first, second) = (self.valued(claim.world, f.0, f.1)?, self.valued(claim.world, g.0, g.1)?);
        let fair = self.fair(claim.world)?;
        let both = self.space.and(&self.space.and(&first, &second)?, &fair)?;
        let before = out.len();
        self.show_found(claim, &second, &both, g, left, out)?;
        if out.len() == before && self.sets(claim.world, &claim.state, &second, &both)?.is_none() {
            self.show_lasso(claim, g, left, out)?;
        }
        Ok(())
    }

    fn show_jump(
        &mut self,
        claim: &Claim,
        edge: Edge,
        arg: FormulaId,
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        let Some(&child) = self.plan.worlds[claim.world.index()].children.get(&edge) else { return Ok(()) };
        let accessible = self.accessible_from(claim.world, edge, &claim.state)?;
        let wrong = self.not(child, arg)?;
        let witnesses = self.space.and(&accessible, &wrong)?;
        let Some(states) = self.path_from_start(child, &witnesses)? else { return Ok(()) };
        let mut asserted = Vec::new();
        for var in self.explicit(claim.world, edge) {
            if self.has(claim.world, &claim.state, var)? {
                asserted.push(self.model.var(var).name.clone());
            }
        }
        let Some(last) = states.last().cloned() else { return Ok(()) };
        let path = format!("{}.{}", claim.path, self.model.edge_text(edge));
        let below = Claim { world: child, path, state: last, formula: arg, holds: false };
        *left = left.saturating_sub(1);
        let mut part = self.part(&below, Shape::Jump, &states, None)?;
        (part.edge, part.asserted) = (Some(self.model.edge_text(edge)), asserted);
        self.show(below, left, &mut part.next)?;
        out.push(part);
        Ok(())
    }

    /// Adds a part, and below it what explains the claims that follow.
    fn push(
        &mut self,
        claim: &Claim,
        kind: Shape,
        (states, back_to): (Vec<Set>, Option<usize>),
        next: Vec<Claim>,
        left: &mut usize,
        out: &mut Vec<Explanation>,
    ) -> Limited<()> {
        *left = left.saturating_sub(1);
        let mut part = self.part(claim, kind, &states, back_to)?;
        for claim in next {
            self.show(claim, left, &mut part.next)?;
        }
        out.push(part);
        Ok(())
    }

    fn part(
        &mut self,
        claim: &Claim,
        kind: Shape,
        states: &[Set],
        back_to: Option<usize>,
    ) -> Limited<Explanation> {
        Ok(Explanation {
            world: claim.path.clone(),
            kind,
            formula: self.model.formula_text(claim.formula),
            holds: claim.holds,
            states: self.texts(claim.world, states)?,
            back_to,
            edge: None,
            asserted: Vec::new(),
            next: Vec::new(),
        })
    }

    /// Whether an explicit attitude is true in a single state.
    fn has(&mut self, world: WorldId, state: &Set, var: VarId) -> Limited<bool> {
        let label = self.label(world, var)?;
        self.space.is_subset(state, &label)
    }

    fn texts(&mut self, world: WorldId, states: &[Set]) -> Limited<Vec<StateText>> {
        states.iter().map(|state| self.text(world, state)).collect()
    }

    /// A single state as a person reads it.
    fn text(&mut self, world: WorldId, state: &Set) -> Limited<StateText> {
        let model = self.model;
        let (values, _) = self.least(world, state)?;
        let mut texts = Vec::new();
        for (&var, value) in model.program(self.program_of(world)).vars.iter().zip(&values.values) {
            let variable = model.var(var);
            let value = match variable.definition {
                Some(_) => i64::from(self.has(world, state, var)?),
                None => *value,
            };
            texts.push((variable.name.clone(), variable.domain.text(value)));
        }
        let action = values.action.map(|action| model.actions[action.index()].name.clone());
        Ok(StateText { point: values.point.0, action, values: texts })
    }

    /// Why states of a world were removed, each reason with the way to the nearest such state.
    pub fn removals(&mut self, id: WorldId) -> Limited<Vec<Removal>> {
        let reasons = self.world(id).reasons.clone();
        let mut removals = Vec::new();
        for (reason, set) in reasons {
            let world = self.world(id);
            let states = self.sets(id, &world.initial, &world.built, &set)?.unwrap_or_default();
            let (attitude, why) = match reason {
                Reason::Lacks(var) => (self.model.var(var).name.clone(), "implied"),
                Reason::Nothing(edge) => (self.model.edge_text(edge), "nothing accessible"),
            };
            let example = self.texts(id, &states)?;
            removals.push(Removal { attitude, why, states: self.count(id, &set), example });
        }
        Ok(removals)
    }

    /// Explicit attitudes of a world that its states cannot lack, and those that never change.
    pub fn fixed_attitudes(&mut self, id: WorldId) -> Limited<Vec<(VarId, Fixed)>> {
        let planned = &self.plan.worlds[id.index()];
        let mut found = Vec::new();
        if self.world(id).status != Status::Ok || planned.is_leaf {
            return Ok(found);
        }
        for (edge, vars) in self.model.edges(planned.program) {
            for var in vars {
                let (Some(attitude), Some(&child)) =
                    (self.model.var(var).attitude, planned.children.get(&edge))
                else {
                    continue;
                };
                let lacking = self.not(child, attitude.arg)?;
                let label = self.label(id, var)?;
                let kept = self.world(id).kept.clone();
                if lacking.is_empty() {
                    found.push((var, Fixed::Forced));
                } else if self.space.is_subset(&kept, &label)? {
                    found.push((var, Fixed::Always));
                } else if !self.space.intersects(&kept, &label)? {
                    found.push((var, Fixed::Never));
                }
            }
        }
        Ok(found)
    }
}

fn sets(path: Path) -> Vec<Set> {
    path.into_iter().map(|(_, set)| set).collect()
}

/// How an explicit attitude fails to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// Its argument holds in all states of the picture, so it cannot be lacking.
    Forced,
    /// It is true in all states.
    Always,
    /// It is true in no state.
    Never,
}
