//! Formulas that need the transition relation, and shapes of formulas that do not.

use masque_model::{Formula, FormulaId, Formulas, Paths, Property, System};
use masque_verdict::outside_logic;

/// Returns `φ` if the formula is `AG φ`.
pub(crate) fn always(formulas: &Formulas, id: FormulaId) -> Option<FormulaId> {
    match formulas.get(id) {
        Formula::Forall(Paths::Ctl, path) => match formulas.get(path) {
            Formula::Globally(phi) => Some(phi),
            _ => None,
        },
        _ => None,
    }
}

/// Returns `φ` if the formula is `EF φ`.
pub(crate) fn possibly(formulas: &Formulas, id: FormulaId) -> Option<FormulaId> {
    match formulas.get(id) {
        Formula::Exists(Paths::Ctl, path) => match formulas.get(path) {
            Formula::Finally(phi) => Some(phi),
            _ => None,
        },
        _ => None,
    }
}

/// Whether deciding the system's properties needs transitions: a path quantifier stands elsewhere than on
/// top, where `AG φ` and often `EF φ` ask only about reachable states.
pub fn needs_transitions(system: &System) -> bool {
    let formulas = &system.formulas;
    if !system.fairness.is_empty() {
        return true;
    }
    let is_supported = |property: &&Property| outside_logic(formulas, property.formula).is_none();
    let mut stack: Vec<FormulaId> = Vec::new();
    for property in system.properties.iter().filter(is_supported) {
        let mut tops = vec![property.formula];
        while let Some(top) = tops.pop() {
            if let Formula::And(list) = formulas.get(top) {
                tops.extend(list);
            } else {
                stack.push(always(formulas, top).or_else(|| possibly(formulas, top)).unwrap_or(top));
            }
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if matches!(formulas.get(id), Formula::Exists(..) | Formula::Forall(..)) {
            return true;
        }
        formulas.each_operand(id, |operand| stack.push(operand));
    }
    false
}
