//! Comparisons that differential tests of engines share. Each returns a description of the difference.

use masque_model::{At, FormulaId, Property, System};
use masque_text::Span;
use masque_verdict::{Budget, Encoded, Engine, Outcome, outside_logic, remarks};

/// Returns the formulas of a system that can be asked at a state by themselves: no path formulas, and no
/// formulas with a fixpoint variable that is bound outside.
pub fn state_formulas(system: &System) -> Vec<FormulaId> {
    let is_path = system.formulas.path_formulas();
    let can_be_asked = |f: &FormulaId| !is_path[f.index()] && outside_logic(&system.formulas, *f).is_none();
    system.formulas.ids().filter(can_be_asked).collect()
}

/// Returns the properties that ask a formula at the initial states and at all reachable states.
pub fn at_initial_and_reachable(formula: FormulaId) -> [Property; 2] {
    [At::Initial, At::Reachable].map(|at| Property::new("", formula, at, Span::default()))
}

/// Encodes a system without a limit.
pub fn encode<'s>(engine: &dyn Engine, system: &'s System) -> Result<Box<dyn Encoded + 's>, String> {
    engine.encode(system, &Budget::unlimited()).map_err(|stop| stop.to_string())
}

/// Compares the facts that two engines report.
pub fn compare_facts(found: &mut dyn Encoded, expected: &mut dyn Encoded) -> Result<(), String> {
    let budget = Budget::unlimited();
    let (found, expected) = (found.facts(&budget), expected.facts(&budget));
    if found != expected {
        return Err(format!("facts: {found:?}, should be {expected:?}"));
    }
    Ok(())
}

/// Compares the verdicts and the evidence of two engines for a property; returns the common outcome.
pub fn compare_outcomes(
    system: &System,
    property: &Property,
    found: &mut dyn Encoded,
    expected: &mut dyn Encoded,
) -> Result<Outcome, String> {
    let budget = Budget::unlimited();
    let (found, expected) = (found.decide(property, &budget), expected.decide(property, &budget));
    if found != expected {
        let text = system.formula_text(property.formula);
        return Err(format!("{text}: {found:?}, should be {expected:?}"));
    }
    Ok(found)
}

/// Compares the remarks of two engines on a property that holds; returns the common remarks.
pub fn compare_remarks(
    system: &System,
    property: &Property,
    found: &mut dyn Encoded,
    expected: &mut dyn Encoded,
) -> Result<Vec<String>, String> {
    let remarks = |encoded: &mut dyn Encoded| {
        remarks(encoded, system, property, &Budget::unlimited()).map_err(|stop| stop.to_string())
    };
    let (found, expected) = (remarks(found)?, remarks(expected)?);
    if found != expected {
        let text = system.formula_text(property.formula);
        return Err(format!("remarks on {text}: {found:?}, should be {expected:?}"));
    }
    Ok(found)
}
