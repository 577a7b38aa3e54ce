//! The fragments that engines decide: CTL with knowledge and norms, and the whole logic.

use masque_model::{Formula, FormulaId, Formulas, Paths, Property, System};

use crate::Unsupported;

/// Finds the first part of a formula, from the top, that is not a state formula of CTL with
/// knowledge and norms.
pub fn outside_ctl(formulas: &Formulas, root: FormulaId) -> Option<Unsupported> {
    first(formulas, root, |id| match formulas.get(id) {
        Formula::Exists(Paths::Infinite, _) | Formula::Forall(Paths::Infinite, _) => {
            Some("LTL and CTL* path formulas")
        }
        Formula::Enforces(..) => Some("strategic operators"),
        Formula::ExistsStep(..) | Formula::ForallStep(..) => Some("steps by what agents do"),
        Formula::Least(..) | Formula::Greatest(..) | Formula::Bound(_) => Some("fixpoints"),
        _ => misplaced(formulas, id),
    })
}

/// Finds the first part of a formula, from the top, that has no meaning in the logic: a path formula where
/// a state formula is required, a fixpoint that may not exist, or a variable that is not bound.
pub fn outside_logic(formulas: &Formulas, root: FormulaId) -> Option<Unsupported> {
    let fixpoints = formulas.fixpoints();
    if fixpoints.is_open(root) {
        return Some(Unsupported { formula: root, what: "variables that no fixpoint binds" });
    }
    first(formulas, root, |id| match formulas.get(id) {
        Formula::Least(..) | Formula::Greatest(..) if !fixpoints.is_sound(id) => {
            Some("fixpoints over negated variables")
        }
        _ => misplaced(formulas, id),
    })
}

/// Returns an error with a part of the property or of a fairness constraint that has no meaning, if there
/// is one.
pub fn inside_logic(system: &System, property: &Property) -> Result<(), Unsupported> {
    let mut formulas = system.fairness.iter().copied().chain([property.formula]);
    match formulas.find_map(|formula| outside_logic(&system.formulas, formula)) {
        None => Ok(()),
        Some(unsupported) => Err(unsupported),
    }
}

/// Finds the first part of a state formula, from the top, for which `objection` returns a description.
/// Temporal operators and connectives of path formulas are skipped.
fn first(
    formulas: &Formulas,
    root: FormulaId,
    objection: impl Fn(FormulaId) -> Option<&'static str>,
) -> Option<Unsupported> {
    let is_path = formulas.path_formulas();
    // Each part with whether a path formula is allowed there.
    let mut stack = vec![(root, false)];
    let mut seen = vec![[false; 2]; formulas.len()];
    while let Some((id, in_path)) = stack.pop() {
        if std::mem::replace(&mut seen[id.index()][usize::from(in_path)], true) {
            continue;
        }
        if in_path && is_path[id.index()] {
            formulas.each_operand(id, |operand| stack.push((operand, true)));
            continue;
        }
        if let Some(what) = objection(id) {
            return Some(Unsupported { formula: id, what });
        }
        match formulas.get(id) {
            Formula::Exists(Paths::Infinite, path) | Formula::Forall(Paths::Infinite, path) => {
                stack.push((path, true));
            }
            Formula::Exists(Paths::Ctl, path)
            | Formula::Forall(Paths::Ctl, path)
            | Formula::Enforces(_, _, path) => {
                formulas.each_operand(path, |operand| stack.push((operand, false)));
            }
            _ => formulas.each_operand(id, |operand| stack.push((operand, false))),
        }
    }
    None
}

/// Describes what is wrong with a formula in a place that requires a state formula.
fn misplaced(formulas: &Formulas, id: FormulaId) -> Option<&'static str> {
    match formulas.get(id) {
        Formula::Exists(Paths::Ctl, path)
        | Formula::Forall(Paths::Ctl, path)
        | Formula::Enforces(_, _, path)
            if !is_temporal(formulas, path) =>
        {
            Some("path formulas other than one temporal operator")
        }
        _ if is_temporal(formulas, id) => Some("path formulas outside path quantifiers"),
        _ => None,
    }
}

/// Whether a formula is a temporal operator on its operands.
fn is_temporal(formulas: &Formulas, id: FormulaId) -> bool {
    formulas.get(id).is_temporal()
}
