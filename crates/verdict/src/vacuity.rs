//! Implications whose antecedent is never true.

use masque_model::{Formula, FormulaId, Property, System};
use serde::{Deserialize, Serialize};

use crate::{Budget, Encoded, Stop, Why};

/// An implication inside a property whose antecedent is true at no reachable state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Vacuous {
    /// Implication.
    pub implication: FormulaId,
    /// Left side of the implication.
    pub antecedent: FormulaId,
}

/// Returns the implications inside `property` whose antecedent is true at no reachable state (at no state
/// on a fair path, if there are fairness constraints), in the order of their ids. Meant for properties that
/// hold.
///
/// ```text
/// {φ → ψ inside the property | ⟦φ⟧ = ∅}
/// ```
///
/// Antecedents that are path formulas, or that the engine cannot evaluate, are skipped.
pub fn vacuous_antecedents(
    encoded: &mut dyn Encoded,
    system: &System,
    property: &Property,
    budget: &Budget,
) -> Result<Vec<Vacuous>, Stop> {
    let mut vacuous = Vec::new();
    for (implication, antecedent) in implications(system, property.formula) {
        match encoded.is_true_somewhere(antecedent, budget) {
            Ok(true) => {}
            Ok(false) => vacuous.push(Vacuous { implication, antecedent }),
            Err(stop) if stop.why == Why::Unsupported => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(vacuous)
}

/// The implications inside a formula whose left side is a state formula, with that side.
fn implications(system: &System, formula: FormulaId) -> Vec<(FormulaId, FormulaId)> {
    let formulas = &system.formulas;
    let is_path = formulas.path_formulas();
    let mut inside = vec![false; formulas.len()];
    inside[formula.index()] = true;
    let mut found = Vec::new();
    // Users have larger ids than operands, so one pass from the top reaches all of the formula.
    for id in formulas.ids().rev().filter(|id| *id <= formula) {
        if !inside[id.index()] {
            continue;
        }
        formulas.each_operand(id, |operand| inside[operand.index()] = true);
        if let Formula::Implies(antecedent, _) = formulas.get(id)
            && !is_path[antecedent.index()]
        {
            found.push((id, antecedent));
        }
    }
    found.reverse();
    found
}
