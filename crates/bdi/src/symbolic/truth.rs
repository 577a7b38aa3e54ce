//! MAS-Sat: the states of a world in which a formula is true. [BB04 §5, Algorithm 3]
//!
//! Differs from the printed algorithm where that is wrong: `EX` looks for predecessors in the whole
//! world, the arguments of `U` are not swapped, and an attitude that is not explicit is looked up
//! through its edge. Complements are taken inside the world.

use masque_symbolic::space::{Limited, Set};

use super::Engine;
use super::step::has_code;
use crate::model::{Formula, FormulaId};
use crate::plan::WorldId;

impl Engine<'_> {
    /// The states, reachable or not, in which a formula without temporal operators is true.
    pub(super) fn now(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        if let Some(known) = self.now.get(&(world, formula)) {
            return Ok(known.clone());
        }
        let model = self.model;
        let result = match model.formula(formula) {
            Formula::Constant(value) => self.space.constant(*value),
            Formula::Var(var) => self.space.bit(self.layout_of(world).vars[var].current[0], true)?,
            Formula::Compare(rel, a, b) => {
                let (a, b) = (self.number(world, *a)?, self.number(world, *b)?);
                a.compare(&self.space, *rel, &b)?
            }
            Formula::Do(action) => {
                let actions = &model.program(self.program_of(world)).actions;
                match actions.iter().position(|a| a == action) {
                    Some(position) => {
                        let bits = &self.layout_of(world).action.current;
                        has_code(&self.space, bits, position as u64 + 1)?
                    }
                    None => self.space.none(),
                }
            }
            Formula::Not(f) => {
                let f = self.now(world, *f)?;
                self.space.not(&f)?
            }
            Formula::And(parts) => {
                let mut all = self.space.all();
                for &part in parts {
                    let part = self.now(world, part)?;
                    all = self.space.and(&all, &part)?;
                }
                all
            }
            Formula::Or(parts) => {
                let mut any = self.space.none();
                for &part in parts {
                    let part = self.now(world, part)?;
                    any = self.space.or(&any, &part)?;
                }
                any
            }
            Formula::Iff(f, g) => {
                let (f, g) = (self.now(world, *f)?, self.now(world, *g)?);
                self.space.iff(&f, &g)?
            }
            Formula::Attitude { edge, arg, explicit } => match explicit {
                Some(var) if self.plan.is_label(model, world, true) => self.label(world, *var)?,
                _ => self.holds_in_accessible(world, *edge, *arg)?,
            },
            temporal => unreachable!("the checker admits no {temporal:?} in a program"),
        };
        self.now.insert((world, formula), result.clone());
        Ok(result)
    }

    /// The kept states of a world in which a formula is true.
    pub(super) fn sat(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        if let Some(known) = self.sat.get(&(world, formula)) {
            return Ok(known.clone());
        }
        let result = self.evaluate(world, formula)?;
        self.sat.insert((world, formula), result.clone());
        Ok(result)
    }

    fn evaluate(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        let kept = self.world(world).kept.clone();
        match self.model.formula(formula) {
            Formula::Constant(_) | Formula::Var(_) | Formula::Compare(..) => {
                let now = self.now(world, formula)?;
                self.space.and(&now, &kept)
            }
            Formula::Do(_) | Formula::Attitude { .. } => {
                let now = self.now(world, formula)?;
                self.space.and(&now, &kept)
            }
            Formula::Not(f) => self.not(world, *f),
            Formula::And(parts) => {
                let mut all = kept;
                for &part in parts {
                    let part = self.sat(world, part)?;
                    all = self.space.and(&all, &part)?;
                }
                Ok(all)
            }
            Formula::Or(parts) => {
                let mut any = self.space.none();
                for &part in parts {
                    let part = self.sat(world, part)?;
                    any = self.space.or(&any, &part)?;
                }
                Ok(any)
            }
            Formula::Iff(f, g) => {
                let (f, g) = (self.sat(world, *f)?, self.sat(world, *g)?);
                self.space.minus(&kept, &self.space.xor(&f, &g)?)
            }
            Formula::Ex(f) => {
                let f = self.sat(world, *f)?;
                self.some_next(world, &f)
            }
            Formula::Eg(f) => {
                let f = self.sat(world, *f)?;
                self.some_always(world, &f)
            }
            Formula::Ef(f) => {
                let f = self.sat(world, *f)?;
                self.some_until(world, &kept, &f)
            }
            Formula::Eu(f, g) => {
                let (f, g) = (self.sat(world, *f)?, self.sat(world, *g)?);
                self.some_until(world, &f, &g)
            }
            Formula::Ax(f) => {
                let f = self.not(world, *f)?;
                let some = self.some_next(world, &f)?;
                self.space.minus(&kept, &some)
            }
            Formula::Af(f) => {
                let f = self.not(world, *f)?;
                let some = self.some_always(world, &f)?;
                self.space.minus(&kept, &some)
            }
            Formula::Ag(f) => {
                let f = self.not(world, *f)?;
                let some = self.some_until(world, &kept, &f)?;
                self.space.minus(&kept, &some)
            }
            Formula::Au(f, g) => {
                let (f, g) = (self.not(world, *f)?, self.not(world, *g)?);
                let some = self.some_release(world, &f, &g)?;
                self.space.minus(&kept, &some)
            }
            Formula::Er(f, g) => {
                let (f, g) = (self.sat(world, *f)?, self.sat(world, *g)?);
                self.some_release(world, &f, &g)
            }
            Formula::Ar(f, g) => {
                let (f, g) = (self.not(world, *f)?, self.not(world, *g)?);
                let some = self.some_until(world, &f, &g)?;
                self.space.minus(&kept, &some)
            }
        }
    }

    pub(super) fn not(&mut self, world: WorldId, formula: FormulaId) -> Limited<Set> {
        let holds = self.sat(world, formula)?;
        self.space.minus(&self.world(world).kept, &holds)
    }

    /// The kept states with a successor in a set of kept states.
    pub(super) fn before(&self, world: WorldId, target: &Set) -> Limited<Set> {
        let world = self.world(world);
        self.space.and(&self.pre(&world.arrows, target)?, &world.kept)
    }

    /// `EX f`, on fair paths.
    fn some_next(&mut self, world: WorldId, f: &Set) -> Limited<Set> {
        let fair = self.fair(world)?;
        let target = self.space.and(f, &fair)?;
        self.before(world, &target)
    }

    /// `E[f U g] = μZ. g ∨ (f ∧ EX Z)`, on fair paths.
    fn some_until(&mut self, world: WorldId, f: &Set, g: &Set) -> Limited<Set> {
        let fair = self.fair(world)?;
        let goal = self.space.and(g, &fair)?;
        self.until(world, f, &goal)
    }

    /// `μZ. g ∨ (f ∧ EX Z)`
    fn until(&self, world: WorldId, f: &Set, g: &Set) -> Limited<Set> {
        let mut reached = g.clone();
        let mut frontier = g.clone();
        while !frontier.is_empty() {
            let before = self.space.and(f, &self.before(world, &frontier)?)?;
            frontier = self.space.minus(&before, &reached)?;
            reached = self.space.or(&reached, &frontier)?;
        }
        Ok(reached)
    }

    /// `E[f R g] = E[g U (f ∧ g)] ∨ EG g`
    fn some_release(&mut self, world: WorldId, f: &Set, g: &Set) -> Limited<Set> {
        let both = self.space.and(f, g)?;
        let until = self.some_until(world, g, &both)?;
        let always = self.some_always(world, g)?;
        self.space.or(&until, &always)
    }

    /// `EG f`, on fair paths. [EL86; CGP99 §6.3]
    ///
    /// ```text
    /// EG f = νZ. f ∧ ⋀_k EX E[f U (f ∧ Z ∧ F_k)]          without fairness  νZ. f ∧ EX Z
    /// ```
    pub(super) fn some_always(&mut self, world: WorldId, f: &Set) -> Limited<Set> {
        let fair = &self.model.program(self.program_of(world)).fair;
        let mut conditions = Vec::new();
        for &condition in fair {
            conditions.push(self.sat(world, condition)?);
        }
        let mut set = f.clone();
        loop {
            let mut smaller = set.clone();
            if conditions.is_empty() {
                smaller = self.space.and(&smaller, &self.before(world, &set)?)?;
            }
            for condition in &conditions {
                let goal = self.space.and(&set, condition)?;
                let until = self.until(world, f, &goal)?;
                smaller = self.space.and(&smaller, &self.before(world, &until)?)?;
            }
            if smaller == set {
                return Ok(set);
            }
            set = smaller;
        }
    }

    /// The states that start a fair path.
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
