//! The path formulas of LTL and CTL*, and the state formulas inside them.

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
    let mut parts = Vec::new();
    formulas.each_part(path, |part| {
        let is_constant = matches!(formulas.get(part), Formula::Bool(_));
        if !is_constant && !is_path[part.index()] {
            parts.push(part);
        }
        !is_constant && is_path[part.index()]
    });
    parts.sort_unstable();
    parts
}
