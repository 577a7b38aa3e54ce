//! Warnings about properties that hold vacuously.

use masque_model::{At, FormulaId, Property, Reading, Suspect, System};

use crate::{Budget, Encoded, Stop, Why};

/// Returns warnings about a property that holds, as sentences; usually none.
///
/// If some part of the property is vacuously true somewhere, the property is decided again in its
/// [strict readings](masque_model::Readings). An aggregate that ranges over nothing is reported without
/// that.
///
/// Formulas that the engine cannot evaluate are skipped.
pub fn remarks(
    encoded: &mut dyn Encoded,
    system: &System,
    property: &Property,
    budget: &Budget,
) -> Result<Vec<String>, Stop> {
    let reading = system.readings.of(property.formula);
    let reasons = reading.map(|reading| VacuityCheck { encoded, system, property, budget }.reasons(reading));
    let mut found = match reasons {
        Some(Err(stop)) if stop.why != Why::Unsupported => return Err(stop),
        Some(Ok(reasons)) => reasons.iter().map(|reason| format!("holds only because {reason}")).collect(),
        Some(Err(_)) | None => Vec::new(),
    };
    for word in &property.empty_aggregates {
        found.push(format!("a `{word}` in it ranges over nothing"));
    }
    Ok(found)
}

/// A property that holds, and the engine that decides its strict readings.
struct VacuityCheck<'a> {
    encoded: &'a mut dyn Encoded,
    system: &'a System,
    property: &'a Property,
    budget: &'a Budget,
}

impl VacuityCheck<'_> {
    /// Returns each kind of vacuity without which the property would fail. If there is none, but the
    /// property would fail without all of them together, returns these as one reason.
    fn reasons(&mut self, reading: &Reading) -> Result<Vec<String>, Stop> {
        let mut present: Vec<Suspect> = Vec::new();
        for &(suspect, when) in &reading.suspects {
            if self.encoded.is_true_somewhere(when, self.budget)? {
                present.push(suspect);
            }
        }
        let by = reading.by.iter().map(|&(vacuity, strict)| {
            let suspects = present.iter().copied().filter(|suspect| suspect.vacuity() == vacuity);
            (suspects.collect::<Vec<_>>(), strict)
        });
        let by: Vec<(Vec<Suspect>, FormulaId)> = by.filter(|(suspects, _)| !suspects.is_empty()).collect();
        let mut alone = Vec::new();
        for (suspects, strict) in &by {
            if !self.holds(*strict)? {
                alone.push(self.reason(suspects));
            }
        }
        match reading.all {
            Some(strict) if alone.is_empty() && by.len() > 1 && !self.holds(strict)? => {
                let reasons: Vec<String> = by.iter().map(|(suspects, _)| self.reason(suspects)).collect();
                Ok(vec![reasons.join(", or because ")])
            }
            _ => Ok(alone),
        }
    }

    /// Whether a formula is true at all states at which the property must be true.
    fn holds(&mut self, formula: FormulaId) -> Result<bool, Stop> {
        let extent = self.encoded.extent(formula, self.budget)?;
        Ok(match self.property.at {
            At::Initial => extent.initial == extent.of_initial,
            At::Reachable => extent.states == extent.of_states,
        })
    }

    /// The reason that suspects of one kind give.
    fn reason(&self, suspects: &[Suspect]) -> String {
        let reasons: Vec<String> = suspects.iter().map(|&suspect| self.one_reason(suspect)).collect();
        reasons.join(", or because ")
    }

    fn one_reason(&self, suspect: Suspect) -> String {
        let system = self.system;
        let fair = if system.fairness.is_empty() { "" } else { " with a fair path" };
        match suspect {
            Suspect::Correct(agent) => {
                format!("no reachable state{fair} is green for `{}`", system.agent(agent).name)
            }
            Suspect::KnowsUnder(agent, group) => format!(
                "at some states `{}` considers no state possible that is green for `{}`",
                system.agent(agent).name,
                system.groups[group.index()].name
            ),
            Suspect::Promise => "some paths end: at a state without successors, AX, AF, A(.. U ..) and LTL \
                                 formulas are vacuously true"
                .to_string(),
            Suspect::Coalition(group) => format!(
                "`{}` can leave no fair path, and then wins for any goal",
                system.groups[group.index()].name
            ),
        }
    }
}
