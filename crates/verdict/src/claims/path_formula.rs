//! The path formulas of LTL and CTL*, and the state formulas inside them.

use std::collections::BTreeSet;

use masque_model::{Formula, FormulaId, Formulas, Paths};

/// Returns the path formula of `E` or `A` over infinite paths, and the truth value that one path can show:
/// true for `E`, false for `A`. `None` for any other formula.
pub fn path_of(formulas: &Formulas, formula: FormulaId) -> Option<(FormulaId, bool)> {
    match formulas.get(formula) {
        Formula::Exists(Paths::Infinite, path) => Some((path, true)),
        Formula::Forall(Paths::Infinite, path) => Some((path, false)),
        _ => None,
    }
}

/// Returns the largest state formulas inside a path formula, in increasing order, without constants.
pub fn state_parts(formulas: &Formulas, path: FormulaId) -> Vec<FormulaId> {
    let is_path = formulas.path_formulas();
    let mut parts = BTreeSet::new();
    let mut open = vec![path];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match formulas.get(id) {
            Formula::Bool(_) => {}
            _ if is_path[id.index()] => formulas.each_operand(id, |operand| open.push(operand)),
            _ => _ = parts.insert(id),
        }
    }
    parts.into_iter().collect()
}
