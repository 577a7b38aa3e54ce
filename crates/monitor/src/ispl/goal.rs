//! Goals: formulas that say that something can be reached, or will be.
//!
//! | formula | goal |
//! |---|---|
//! | `EF f`, `E(true U f)`, `!AG g` | a state with `f` (or without `g`) can be reached |
//! | `AF f`, `A(true U f)`, `!EG g` | such a state will be reached |
//!
//! The same with the quantifiers of CTL\* and LTL if `f` is a state formula, and with two negations around them.

use masque_model::{Formula, FormulaId, Formulas};

/// What a goal wants to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// State formula.
    pub formula: FormulaId,
    /// Truth value that it has in the states to be reached.
    pub holds: bool,
    /// Whether such a state has to be reached on all paths, and not only on some.
    pub on_all_paths: bool,
}

/// Returns what a formula wants to reach, if it is a goal.
pub fn goal_of(formulas: &Formulas, formula: FormulaId) -> Option<Goal> {
    let (quantified, is_negated) = match formulas.get(formula) {
        Formula::Not(inner) => match formulas.get(inner) {
            Formula::Not(twice) => return goal_of(formulas, twice),
            _ => (inner, true),
        },
        _ => (formula, false),
    };
    let (path, is_universal) = match formulas.get(quantified) {
        Formula::Exists(_, path) => (path, false),
        Formula::Forall(_, path) => (path, true),
        _ => return None,
    };
    let target = match (formulas.get(path), is_negated) {
        (Formula::Finally(target), false) => target,
        (Formula::Until(before, target), false) if formulas.get(before) == Formula::Bool(true) => target,
        (Formula::Globally(kept), true) => kept,
        _ => return None,
    };
    if formulas.path_formulas()[target.index()] {
        return None;
    }
    let (formula, holds) = without_negation(formulas, target, !is_negated);
    // `!AG g = EF !g` and `!EG g = AF !g`.
    Some(Goal { formula, holds, on_all_paths: is_universal != is_negated })
}

/// Removes negations from a formula that is to have a truth value.
fn without_negation(formulas: &Formulas, mut formula: FormulaId, mut holds: bool) -> (FormulaId, bool) {
    while let Formula::Not(inner) = formulas.get(formula) {
        (formula, holds) = (inner, !holds);
    }
    (formula, holds)
}
