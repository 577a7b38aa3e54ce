//! Truth as far as one state decides it: Kleene's three values, with `None` for what only the whole
//! world, or the one below, decides. [K52 §64]

use rustc_hash::FxHashMap;

use super::Replay;
use super::steps::Place;
use crate::model::{Expr, ExprId, Formula, FormulaId, Program, VarId};
use crate::plan::WorldId;

/// Values of formulas in a state that were shown otherwise.
pub(super) type Facts = FxHashMap<FormulaId, bool>;

impl<'m> Replay<'m> {
    /// The program of a world.
    pub(super) fn program(&self, world: WorldId) -> &'m Program {
        self.model.program(self.plan.program(world))
    }

    /// The value of a formula in a state, if the state and the facts decide it.
    pub(super) fn value(
        &self,
        world: WorldId,
        place: Place<'_>,
        facts: &Facts,
        formula: FormulaId,
    ) -> Option<bool> {
        let known = FxHashMap::default();
        Local { replay: self, world, place, facts, known }.value(formula)
    }

    /// Whether an explicit attitude is true in a state; `None` for one whose definition is not
    /// decided there and whose value was not shown.
    pub(super) fn label(&self, world: WorldId, place: Place<'_>, var: VarId) -> Option<bool> {
        match self.model.var(var).definition {
            Some(definition) if !place.is_shown => self.value(world, place, &Facts::default(), definition),
            _ => Some(self.stored(world, place, var)? != 0),
        }
    }

    /// The value of a variable.
    pub(super) fn stored(&self, world: WorldId, place: Place<'_>, var: VarId) -> Option<i64> {
        let slot = self.program(world).vars.iter().position(|v| *v == var)?;
        place.state.values.get(slot).copied()
    }

    /// The value of an arithmetic expression; `None` if it is out of all ranges.
    pub(super) fn number(&self, world: WorldId, place: Place<'_>, expr: ExprId) -> Option<i64> {
        match &self.model.exprs[expr.index()] {
            Expr::Number(value) => Some(*value),
            Expr::Var(var) => self.stored(world, place, *var),
            Expr::Sum(items) => items.iter().try_fold(0i64, |sum, (is_negative, item)| {
                let item = self.number(world, place, *item)?;
                if *is_negative { sum.checked_sub(item) } else { sum.checked_add(item) }
            }),
        }
    }
}

/// One state, asked for many formulas.
struct Local<'r, 'm> {
    replay: &'r Replay<'m>,
    world: WorldId,
    place: Place<'r>,
    facts: &'r Facts,
    /// Formulas share parts.
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
        let (world, place) = (self.world, self.place);
        match model.formula(formula) {
            Formula::Constant(value) => Some(*value),
            Formula::Var(var) => Some(self.replay.stored(world, place, *var)? != 0),
            Formula::Compare(rel, a, b) => {
                let number = |expr| self.replay.number(world, place, expr);
                Some(rel.holds(number(*a)?, number(*b)?))
            }
            Formula::Do(action) => Some(place.state.action == Some(*action)),
            Formula::Not(f) => self.value(*f).map(|value| !value),
            Formula::And(parts) => self.junction(parts, false),
            Formula::Or(parts) => self.junction(parts, true),
            Formula::Iff(f, g) => Some(self.value(*f)? == self.value(*g)?),
            Formula::Attitude { edge, explicit, .. } => {
                let label = explicit.and_then(|var| self.replay.label(world, place, var));
                if plan.is_label(model, world, explicit.is_some()) {
                    return label;
                }
                // Of no picture all is true; and what is asserted is true in what is accessible.
                let has_picture = plan.child(world, *edge).is_some();
                (!has_picture || label == Some(true)).then_some(true)
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

    /// `strong` if one part has this value, the other value if all have that.
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

    /// `holds`, if all the formulas have that value at once: any path is then a witness. With
    /// fairness it would have to be a fair one, and only the world decides whether there is any.
    fn some_path(&mut self, at_once: &[FormulaId], holds: bool) -> Option<bool> {
        let is_fair = self.replay.program(self.world).fair.is_empty();
        (is_fair && at_once.iter().all(|&f| self.value(f) == Some(holds))).then_some(holds)
    }

    /// `holds`, if all the formulas have that value at once: no path is then a witness against it.
    fn no_path(&mut self, at_once: &[FormulaId], holds: bool) -> Option<bool> {
        at_once.iter().all(|&f| self.value(f) == Some(holds)).then_some(holds)
    }
}
