//! MAS-Sat: computes the states of a world in which a formula is true. [BB04 §5, Algorithm 3]
//!
//! Differs from the printed algorithm where that is wrong: `EX` takes predecessors in the whole world, the
//! arguments of `U` are not swapped, and an attitude that is not explicit is evaluated in the accessible
//! states of its edge. Complements are taken within the world.

use masque_symbolic::fixpoint::{globally, reach};
use masque_symbolic::space::{Limited, Set};

use super::Engine;
use super::step::action_code;
use crate::model::{Formula, FormulaId};
use crate::plan::WorldId;

/// States of a world in which formulas are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// All states, reachable or not. Only for formulas without temporal operators.
    All,
    /// The states that are kept.
    Kept,
}

impl Engine<'_> {
    /// Returns the states, reachable or not, in which a formula without temporal operators is true.
    pub(super) fn now(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        self.truth(Scope::All, world, formula)
    }

    /// Returns the kept states of a world in which a formula is true.
    pub(super) fn sat(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        self.truth(Scope::Kept, world, formula)
    }

    fn truth(&mut self, scope: Scope, world: WorldId, formula: FormulaId) -> Limited<Set> {
        if let Some(known) = self.truth.get(&(scope, world, formula)) {
            return Ok(known.clone());
        }
        let result = self.evaluate(scope, world, formula)?;
        self.truth.insert((scope, world, formula), result.clone());
        Ok(result)
    }

    fn evaluate(&mut self, scope: Scope, world: WorldId, formula: FormulaId) -> Limited<Set> {
        let model = self.model;
        let states = match scope {
            Scope::All => self.space.all(),
            Scope::Kept => self.world(world).kept.clone(),
        };
        match model.formula(formula) {
            Formula::Not(f) => {
                let f = self.truth(scope, world, *f)?;
                self.space.minus(&states, &f)
            }
            Formula::And(parts) => {
                let mut all = states;
                for &part in parts {
                    let part = self.truth(scope, world, part)?;
                    all = self.space.and(&all, &part)?;
                }
                Ok(all)
            }
            Formula::Or(parts) => {
                let mut any = self.space.none();
                for &part in parts {
                    let part = self.truth(scope, world, part)?;
                    any = self.space.or(&any, &part)?;
                }
                Ok(any)
            }
            Formula::Iff(f, g) => {
                let (f, g) = (self.truth(scope, world, *f)?, self.truth(scope, world, *g)?);
                self.space.and(&states, &self.space.iff(&f, &g)?)
            }
            _ if scope == Scope::All => self.atom(world, formula),
            Formula::Ex(_) | Formula::Ef(_) | Formula::Eg(_) | Formula::Eu(..) | Formula::Er(..) => {
                self.on_some_path(world, formula, true)
            }
            Formula::Ax(_) | Formula::Af(_) | Formula::Ag(_) | Formula::Au(..) | Formula::Ar(..) => {
                let violated = self.on_some_path(world, formula, false)?;
                self.space.minus(&states, &violated)
            }
            Formula::Constant(_)
            | Formula::Var(_)
            | Formula::Compare(..)
            | Formula::Do(_)
            | Formula::Attitude { .. } => {
                let now = self.now(world, formula)?;
                self.space.and(&now, &states)
            }
        }
    }

    /// Returns the states, reachable or not, in which a formula without parts in its world is true.
    fn atom(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        let model = self.model;
        match model.formula(formula) {
            Formula::Constant(value) => Ok(self.space.constant(*value)),
            Formula::Var(var) => self.space.bit(self.layout_of(world).vars[var].current[0], true),
            Formula::Compare(rel, a, b) => {
                let (a, b) = (self.number(world, *a)?, self.number(world, *b)?);
                a.compare(&self.space, *rel, &b)
            }
            Formula::Do(action) => {
                let actions = &model.program(self.program_of(world)).actions;
                match action_code(actions, Some(*action)) {
                    0 => Ok(self.space.none()),
                    code => self.space.has_code(&self.layout_of(world).action.current, code),
                }
            }
            Formula::Attitude { edge, arg, explicit } => match explicit {
                Some(var) if self.plan.is_label(model, world, true) => self.label(world, *var),
                _ => self.holds_in_accessible(world, *edge, *arg),
            },
            temporal => unreachable!("the checker admits no {temporal:?} in a program"),
        }
    }

    /// Returns the states with a fair path that shows that a temporal formula is true (`holds`) or false. `A`
    /// is the negation of the dual `E` of the negated operands.
    ///
    /// ```text
    /// AX f = ¬EX ¬f   AF f = ¬EG ¬f   AG f = ¬EF ¬f   A[f U g] = ¬E[¬f R ¬g]   A[f R g] = ¬E[¬f U ¬g]
    /// ```
    fn on_some_path(&mut self, world: WorldId, formula: FormulaId, holds: bool) -> Limited<Set> {
        let model = self.model;
        match model.formula(formula) {
            Formula::Ex(f) | Formula::Ax(f) => {
                let (f, fair) = (self.valued(world, *f, holds)?, self.fair(world)?);
                self.before(world, &self.space.and(&f, &fair)?)
            }
            Formula::Ef(f) | Formula::Ag(f) => {
                let f = self.valued(world, *f, holds)?;
                let kept = self.world(world).kept.clone();
                self.some_until(world, &kept, &f)
            }
            Formula::Eg(f) | Formula::Af(f) => {
                let f = self.valued(world, *f, holds)?;
                self.some_always(world, &f)
            }
            Formula::Eu(f, g) | Formula::Ar(f, g) => {
                let (f, g) = (self.valued(world, *f, holds)?, self.valued(world, *g, holds)?);
                self.some_until(world, &f, &g)
            }
            // E[f R g] = E[g U (f ∧ g)] ∨ EG g
            Formula::Er(f, g) | Formula::Au(f, g) => {
                let (f, g) = (self.valued(world, *f, holds)?, self.valued(world, *g, holds)?);
                let both = self.space.and(&f, &g)?;
                let until = self.some_until(world, &g, &both)?;
                let always = self.some_always(world, &g)?;
                self.space.or(&until, &always)
            }
            other => unreachable!("{other:?} is not temporal"),
        }
    }

    /// Returns the kept states of a world in which a formula has a value.
    pub(super) fn valued(&mut self, world: WorldId, formula: FormulaId, holds: bool) -> Limited<Set> {
        if holds { self.sat(world, formula) } else { self.not(world, formula) }
    }

    /// Returns the kept states of a world in which a formula is false.
    pub(super) fn not(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        let holds = self.sat(world, formula)?;
        self.space.minus(&self.world(world).kept, &holds)
    }

    /// Returns the kept states with a successor in a set of kept states.
    pub(super) fn before(&self, world: WorldId, target: &Set) -> Limited<Set> {
        let world = self.world(world);
        self.space.and(&self.pre(&world.transitions, target)?, &world.kept)
    }

    /// Returns `E[f U g] = μZ. g ∨ (f ∧ EX Z)` on fair paths.
    fn some_until(&mut self, world: WorldId, f: &Set, g: &Set) -> Limited<Set> {
        let fair = self.fair(world)?;
        let goal = self.space.and(g, &fair)?;
        reach(&self.space, &goal, f, |z| self.before(world, z))
    }

    /// Returns `EG f` on fair paths.
    pub(super) fn some_always(&mut self, world: WorldId, f: &Set) -> Limited<Set> {
        let conditions = self.fairness(world)?;
        let before = |z: &Set| self.before(world, z);
        globally(&self.space, f, &conditions, before, |_, goal| reach(&self.space, goal, f, before))
    }

    /// Returns the states that satisfy each fairness condition of a world.
    pub(super) fn fairness(&mut self, world: WorldId) -> Limited<Vec<Set>> {
        let conditions = &self.model.program(self.program_of(world)).fair;
        conditions.iter().map(|&condition| self.sat(world, condition)).collect()
    }

    /// Returns the states that start a fair path.
    pub(super) fn fair(&mut self, world: WorldId) -> Limited<Set> {
        let kept = self.world(world).kept.clone();
        if self.model.program(self.program_of(world)).fair.is_empty() {
            return Ok(kept);
        }
        if let Some(known) = self.fair.get(&world) {
            return Ok(known.clone());
        }
        let fair = self.some_always(world, &kept)?;
        self.fair.insert(world, fair.clone());
        Ok(fair)
    }
}
