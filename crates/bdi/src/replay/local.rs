//! Truth as far as one state decides it: Kleene's three values, with `None` for what depends on the whole
//! world or on the world below. [K52 §64]

use rustc_hash::FxHashMap;

use super::Replay;
use super::steps::ReplayState;
use crate::model::{Expr, ExprId, Formula, FormulaId, Program, VarId};
use crate::plan::WorldId;

/// Values of formulas in a state that parts have shown.
pub(super) type Facts = FxHashMap<FormulaId, bool>;

impl<'m> Replay<'m> {
    /// Returns the program of a world.
    pub(super) fn program(&self, world: WorldId) -> &'m Program {
        self.model.program(self.plan.program(world))
    }

    /// Returns the value of a formula in a state, if the state and the facts decide it.
    pub(super) fn value(
        &self,
        world: WorldId,
        at: ReplayState<'_>,
        facts: &Facts,
        formula: FormulaId,
    ) -> Option<bool> {
        let known = FxHashMap::default();
        Local { replay: self, world, at, facts, known }.value(formula)
    }

    /// Whether an explicit attitude is true in a state; `None` if it has a definition that the state does
    /// not decide and its value was not shown.
    pub(super) fn label(&self, world: WorldId, at: ReplayState<'_>, var: VarId) -> Option<bool> {
        match self.model.var(var).definition {
            Some(definition) if !at.is_shown => self.value(world, at, &Facts::default(), definition),
            _ => Some(self.stored(world, at, var)? != 0),
        }
    }

    /// Returns the value of a variable.
    pub(super) fn stored(&self, world: WorldId, at: ReplayState<'_>, var: VarId) -> Option<i64> {
        let slot = self.program(world).vars.iter().position(|v| *v == var)?;
        at.state.values.get(slot).copied()
    }

    /// Returns the value of an arithmetic expression; `None` on overflow.
    pub(super) fn number(&self, world: WorldId, at: ReplayState<'_>, expr: ExprId) -> Option<i64> {
        match &self.model.exprs[expr.index()] {
            Expr::Number(value) => Some(*value),
            Expr::Var(var) => self.stored(world, at, *var),
            Expr::Sum(items) => items.iter().try_fold(0i64, |sum, (is_negative, item)| {
                let item = self.number(world, at, *item)?;
                if *is_negative { sum.checked_sub(item) } else { sum.checked_add(item) }
            }),
        }
    }
}

/// Evaluates formulas in one state.
struct Local<'r, 'm> {
    replay: &'r Replay<'m>,
    world: WorldId,
    at: ReplayState<'r>,
    facts: &'r Facts,
    /// Values computed so far: formulas share parts.
    known: FxHashMap<FormulaId, Option<bool>>,
}

impl Local<'_, '_> {
    fn value(&mut self, formula: FormulaId) -> Option<bool> {
        if let Some(fact) = self.facts.get(&formula) {
            return Some(*fact);
        }
        if let Some(known) = self.known.get(&formula) {
            return *known;
        }
        let value = self.evaluate(formula);
        self.known.insert(formula, value);
        value
    }

    fn evaluate(&mut self, formula: FormulaId) -> Option<bool> {
        let Replay { model, plan } = *self.replay;
        let (world, at) = (self.world, self.at);
        match model.formula(formula) {
            Formula::Constant(value) => Some(*value),
            Formula::Var(var) => Some(self.replay.stored(world, at, *var)? != 0),
            Formula::Compare(rel, a, b) => {
                let number = |expr| self.replay.number(world, at, expr);
                Some(rel.holds(number(*a)?, number(*b)?))
            }
            Formula::Do(action) => Some(at.state.action == Some(*action)),
            Formula::Not(f) => self.value(*f).map(|value| !value),
            Formula::And(parts) => self.junction(parts, false),
            Formula::Or(parts) => self.junction(parts, true),
            Formula::Iff(f, g) => Some(self.value(*f)? == self.value(*g)?),
            Formula::Attitude { edge, explicit, .. } => {
                let label = explicit.and_then(|var| self.replay.label(world, at, var));
                if plan.is_label(model, world, explicit.is_some()) {
                    return label;
                }
                // Without a world below every attitude is true, and so is an attitude whose label is true.
                let has_child = plan.child(world, *edge).is_some();
                (!has_child || label == Some(true)).then_some(true)
            }
            Formula::Ex(_) | Formula::Ax(_) => None,
            Formula::Ef(f) => self.some_path(&[*f], true),
            Formula::Ag(f) => self.some_path(&[*f], false),
            Formula::Eg(f) => self.no_path(&[*f], false),
            Formula::Af(f) => self.no_path(&[*f], true),
            Formula::Eu(f, g) => self.some_path(&[*g], true).or_else(|| self.no_path(&[*f, *g], false)),
            Formula::Ar(f, g) => self.some_path(&[*g], false).or_else(|| self.no_path(&[*f, *g], true)),
            Formula::Er(f, g) => self.some_path(&[*f, *g], true).or_else(|| self.no_path(&[*g], false)),
            Formula::Au(f, g) => self.some_path(&[*f, *g], false).or_else(|| self.no_path(&[*g], true)),
        }
    }

    /// Returns `strong` if one part has this value, and the other value if all parts have it.
    fn junction(&mut self, parts: &[FormulaId], strong: bool) -> Option<bool> {
        let mut value = Some(!strong);
        for &part in parts {
            match self.value(part) {
                Some(v) if v == strong => return Some(strong),
                Some(_) => {}
                None => value = None,
            }
        }
        value
    }

    /// Returns `holds` if all formulas have that value in this state: then any path is a witness. With
    /// fairness conditions only a fair path is, and only the whole world decides whether there is one.
    fn some_path(&mut self, at_once: &[FormulaId], holds: bool) -> Option<bool> {
        let is_unconstrained = self.replay.program(self.world).fair.is_empty();
        (is_unconstrained && at_once.iter().all(|&f| self.value(f) == Some(holds))).then_some(holds)
    }

    /// Returns `holds` if all formulas have that value in this state: then no path is a witness against it.
    fn no_path(&mut self, at_once: &[FormulaId], holds: bool) -> Option<bool> {
        at_once.iter().all(|&f| self.value(f) == Some(holds)).then_some(holds)
    }
}
