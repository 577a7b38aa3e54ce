//! The fragment that engines decide today: state formulas of CTL with knowledge and norms.

use masque_model::{Formula, FormulaId, Formulas, Paths, Property, System};

use crate::Unsupported;

/// Finds the first part of a formula, from the top, that is not a state formula of CTL with
/// knowledge and norms.
pub fn outside_ctl(formulas: &Formulas, root: FormulaId) -> Option<Unsupported> {
    let mut stack = vec![root];
    let mut seen = vec![false; formulas.len()];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let unsupported = |what| Some(Unsupported { formula: id, what });
        match formulas.get(id) {
            Formula::Exists(Paths::Infinite, _) | Formula::Forall(Paths::Infinite, _) => {
                return unsupported("LTL and CTL* path formulas");
            }
            Formula::Enforces(..) => return unsupported("strategic operators"),
            Formula::Exists(Paths::Ctl, path) | Formula::Forall(Paths::Ctl, path) => {
                if !is_temporal(formulas, path) {
                    return unsupported("path formulas other than one temporal operator");
                }
                formulas.each_operand(path, |operand| stack.push(operand));
            }
            _ if is_temporal(formulas, id) => return unsupported("path formulas outside path quantifiers"),
            _ => formulas.each_operand(id, |operand| stack.push(operand)),
        }
    }
    None
}

/// Says which part of a property, or of a fairness constraint, lies outside the fragment, if any does.
pub fn inside_ctl(system: &System, property: &Property) -> Result<(), Unsupported> {
    let mut formulas = system.fairness.iter().copied().chain([property.formula]);
    match formulas.find_map(|formula| outside_ctl(&system.formulas, formula)) {
        None => Ok(()),
        Some(unsupported) => Err(unsupported),
    }
}

/// Whether a formula is a temporal operator on its operands.
fn is_temporal(formulas: &Formulas, id: FormulaId) -> bool {
    use Formula::{Finally, Globally, Next, Release, Until, WeakUntil};
    matches!(formulas.get(id), Next(_) | Finally(_) | Globally(_) | Until(..) | WeakUntil(..) | Release(..))
}
