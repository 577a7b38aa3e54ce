//! Explains why a property fails, by a tree of paths through worlds.
//!
//! A path or a lasso shows that a temporal operator fails. A *jump* shows that an attitude fails: an
//! accessible state of the world below that does not satisfy the argument, with the attitudes that make
//! it accessible and a path to it in that world; then the argument is explained in that state. A formula
//! that holds on all paths or in all accessible states has no short witness, so the branch ends there.

use std::ops::RangeInclusive;

use masque_symbolic::fixpoint::PathSearch;
use masque_symbolic::space::{Limited, Set};

use super::Engine;
use super::paths::Path;
use crate::explanation::{Explanation, Removal, Shape, Statement};
use crate::model::{Edge, Formula, FormulaId, Question, State, VarId, WorldPath};
use crate::outcome::Status;
use crate::plan::WorldId;

/// The value of a formula in a state of a world.
#[derive(Clone)]
struct Claim {
    world: WorldId,
    /// Root and edges that lead to the world.
    path: WorldPath,
    state: Set,
    formula: FormulaId,
    holds: bool,
}

impl Claim {
    /// Returns the claim about a part of the formula in the same state.
    fn part(&self, formula: FormulaId, holds: bool) -> Claim {
        Claim { formula, holds, ..self.clone() }
    }
}

/// Maximum number of parts of an explanation, besides the path to the state that is explained.
const MAX_PARTS: usize = 24;

impl<'m> Engine<'m> {
    /// Explains why a property fails; `None` if it does not.
    pub fn explain(&mut self, index: usize) -> Limited<Option<Explanation>> {
        let world = self.plan.properties[index];
        let property = &self.model.properties[index];
        if self.world(world).status != Status::Ok {
            return Ok(None);
        }
        let wrong = self.violations(index)?;
        let Some(found) = self.path_from_start(world, &wrong)? else { return Ok(None) };
        if matches!(property.question, Question::Subworld(_)) {
            return self.explain_subworld(index, found);
        }
        let mut next = Vec::new();
        if let (&Question::Formula(formula), Some((_, state))) = (&property.question, found.last()) {
            let (path, state) = (property.path.clone(), state.clone());
            let claim = Claim { world, path, state, formula, holds: false };
            next = Explainer { engine: self, parts_left: MAX_PARTS }.explain(claim)?;
        }
        Ok(Some(Explanation {
            world,
            path: property.path.clone(),
            shape: Shape::Path,
            statement: Statement::Property(index),
            holds: false,
            states: self.with_definitions(world, found)?,
            difference: None,
            next,
        }))
    }

    /// Returns a shortest path through kept states from an initial state to `to`.
    fn path_from_start(&self, id: WorldId, to: &Set) -> Limited<Option<Path>> {
        let world = self.world(id);
        let from = self.space.and(&world.initial, &world.kept)?;
        self.path(id, &PathSearch { from: &from, through: &world.kept, to, n_steps: 0..=usize::MAX })
    }

    /// Whether an explicit attitude is true in a single state.
    fn has(&mut self, world: WorldId, state: &Set, var: VarId) -> Limited<bool> {
        let label = self.label(world, var)?;
        self.space.is_subset(state, &label)
    }

    /// Returns the states of a path with the values of defined attitudes.
    pub(super) fn with_definitions(&mut self, world: WorldId, path: Path) -> Limited<Vec<State>> {
        let vars = &self.model.program(self.program_of(world)).vars;
        let mut states = Vec::new();
        for (mut state, alone) in path {
            for (&var, value) in vars.iter().zip(&mut state.values) {
                if self.model.var(var).definition.is_some() {
                    *value = i64::from(self.has(world, &alone, var)?);
                }
            }
            states.push(state);
        }
        Ok(states)
    }

    /// Returns why states of a world were removed, each reason with a path to the nearest such state.
    pub fn removals(&mut self, id: WorldId) -> Limited<Vec<Removal>> {
        let reasons = self.world(id).reasons.clone();
        let mut removals = Vec::new();
        for (reason, to) in reasons {
            let world = self.world(id);
            let (from, through) = (&world.initial, &world.built);
            let path = self.path(id, &PathSearch { from, through, to: &to, n_steps: 0..=usize::MAX })?;
            let example = self.with_definitions(id, path.unwrap_or_default())?;
            removals.push(Removal { reason, n_states: self.count(id, &to)?, example });
        }
        Ok(removals)
    }

    /// Returns the explicit attitudes of a world that cannot be false or never change.
    pub fn fixed_attitudes(&mut self, id: WorldId) -> Limited<Vec<(VarId, FixedAttitude)>> {
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
                    found.push((var, FixedAttitude::Forced));
                } else if self.space.is_subset(&kept, &label)? {
                    found.push((var, FixedAttitude::Always));
                } else if !self.space.intersects(&kept, &label)? {
                    found.push((var, FixedAttitude::Never));
                }
            }
        }
        Ok(found)
    }
}

/// Builds one explanation.
struct Explainer<'e, 'm> {
    engine: &'e mut Engine<'m>,
    parts_left: usize,
}

impl Explainer<'_, '_> {
    /// Explains a claim, as far as paths and jumps can.
    fn explain(&mut self, claim: Claim) -> Limited<Vec<Explanation>> {
        if self.parts_left == 0 {
            return Ok(Vec::new());
        }
        let model = self.engine.model;
        match (model.formula(claim.formula), claim.holds) {
            (Formula::Not(f), holds) => self.explain(claim.part(*f, !holds)),
            (Formula::And(parts), false) | (Formula::Or(parts), true) => {
                for &part in parts {
                    if self.is_true(&claim, part)? == claim.holds {
                        return self.explain(claim.part(part, claim.holds));
                    }
                }
                Ok(Vec::new())
            }
            (Formula::And(parts), true) | (Formula::Or(parts), false) => {
                let mut explained = Vec::new();
                for &part in parts {
                    explained.extend(self.explain(claim.part(part, claim.holds))?);
                }
                Ok(explained)
            }
            (Formula::Iff(f, g), _) => {
                let mut explained = Vec::new();
                for part in [*f, *g] {
                    let holds = self.is_true(&claim, part)?;
                    explained.extend(self.explain(claim.part(part, holds))?);
                }
                Ok(explained)
            }
            (Formula::Ex(f), true) | (Formula::Ax(f), false) => self.path(&claim, None, *f, 1..=1),
            (Formula::Ef(f), true) | (Formula::Ag(f), false) => self.path(&claim, None, *f, 0..=usize::MAX),
            (Formula::Eg(f), true) | (Formula::Af(f), false) => self.lasso(&claim, *f),
            (Formula::Eu(f, g), true) | (Formula::Ar(f, g), false) => {
                self.path(&claim, Some(*f), *g, 0..=usize::MAX)
            }
            (Formula::Er(f, g), true) | (Formula::Au(f, g), false) => self.release(&claim, *f, *g),
            (Formula::Attitude { edge, arg, .. }, false) => self.jump(&claim, *edge, *arg),
            _ => Ok(Vec::new()),
        }
    }

    fn is_true(&mut self, claim: &Claim, formula: FormulaId) -> Limited<bool> {
        let holds = self.engine.sat(claim.world, formula)?;
        self.engine.space.is_subset(&claim.state, &holds)
    }

    /// Returns the states of the claim's world in which a formula has the claimed value.
    fn valued(&mut self, claim: &Claim, formula: FormulaId) -> Limited<Set> {
        self.engine.valued(claim.world, formula, claim.holds)
    }

    /// Returns the shortest path from the state of a claim, through `through`, to a state of `to` that starts
    /// a fair path.
    fn search(
        &mut self,
        claim: &Claim,
        through: &Set,
        to: &Set,
        n_steps: RangeInclusive<usize>,
    ) -> Limited<Option<Path>> {
        let fair = self.engine.fair(claim.world)?;
        let to = self.engine.space.and(to, &fair)?;
        let search = PathSearch { from: &claim.state, through, to: &to, n_steps };
        self.engine.path(claim.world, &search)
    }

    /// Shows a path through states in which one formula has the claimed value to one in which another has it.
    fn path(
        &mut self,
        claim: &Claim,
        through: Option<FormulaId>,
        to: FormulaId,
        n_steps: RangeInclusive<usize>,
    ) -> Limited<Vec<Explanation>> {
        let through = match through {
            Some(through) => self.valued(claim, through)?,
            None => self.engine.world(claim.world).kept.clone(),
        };
        let target = self.valued(claim, to)?;
        match self.search(claim, &through, &target, n_steps)? {
            Some(path) => self.show_path(claim, path, to),
            None => Ok(Vec::new()),
        }
    }

    /// Shows a path, and explains a formula in its last state.
    fn show_path(&mut self, claim: &Claim, path: Path, formula: FormulaId) -> Limited<Vec<Explanation>> {
        let Some((_, last)) = path.last() else { return Ok(Vec::new()) };
        let after = Claim { state: last.clone(), ..claim.part(formula, claim.holds) };
        match path.len() {
            // The path has no steps.
            1 => self.explain(after),
            _ => self.part(claim, Shape::Path, path, after),
        }
    }

    /// Shows a fair lasso along which a formula always has the claimed value.
    fn lasso(&mut self, claim: &Claim, f: FormulaId) -> Limited<Vec<Explanation>> {
        let stay = self.valued(claim, f)?;
        let within = self.engine.some_always(claim.world, &stay)?;
        match self.engine.lasso(claim.world, &claim.state, &within)? {
            Some((path, back_to)) => {
                self.part(claim, Shape::Lasso { back_to }, path, claim.part(f, claim.holds))
            }
            None => Ok(Vec::new()),
        }
    }

    /// Shows `E[f R g]`: a path along `g` to a state with both, or a lasso along `g`.
    fn release(&mut self, claim: &Claim, f: FormulaId, g: FormulaId) -> Limited<Vec<Explanation>> {
        let (first, second) = (self.valued(claim, f)?, self.valued(claim, g)?);
        let both = self.engine.space.and(&first, &second)?;
        match self.search(claim, &second, &both, 0..=usize::MAX)? {
            Some(path) => self.show_path(claim, path, g),
            None => self.lasso(claim, g),
        }
    }

    /// Shows an accessible state of the world below that violates the argument of an attitude.
    fn jump(&mut self, claim: &Claim, edge: Edge, arg: FormulaId) -> Limited<Vec<Explanation>> {
        let engine = &mut *self.engine;
        let Some(child) = engine.plan.child(claim.world, edge) else { return Ok(Vec::new()) };
        let accessible = engine.accessible_from(claim.world, edge, &claim.state)?;
        let wrong = engine.not(child, arg)?;
        let witnesses = engine.space.and(&accessible, &wrong)?;
        let Some(found) = engine.path_from_start(child, &witnesses)? else { return Ok(Vec::new()) };
        let Some((_, state)) = found.last().cloned() else { return Ok(Vec::new()) };
        let mut asserted = Vec::new();
        for var in engine.explicit(claim.world, edge) {
            if engine.has(claim.world, &claim.state, var)? {
                asserted.push(var);
            }
        }
        let mut path = claim.path.clone();
        path.edges.push(edge);
        let below = Claim { world: child, path, state, formula: arg, holds: false };
        self.part(&below.clone(), Shape::Jump { edge, asserted }, found, below)
    }

    /// Returns a part, with the explanation of the claim `next` below it.
    fn part(&mut self, claim: &Claim, shape: Shape, states: Path, next: Claim) -> Limited<Vec<Explanation>> {
        self.parts_left = self.parts_left.saturating_sub(1);
        Ok(vec![Explanation {
            world: claim.world,
            path: claim.path.clone(),
            shape,
            statement: Statement::Formula(claim.formula),
            holds: claim.holds,
            states: self.engine.with_definitions(claim.world, states)?,
            difference: None,
            next: self.explain(next)?,
        }])
    }
}

/// Reason why an explicit attitude never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedAttitude {
    /// Its argument holds in all states of the world below, so it cannot be false.
    Forced,
    /// It is true in all states.
    Always,
    /// It is true in no state.
    Never,
}
