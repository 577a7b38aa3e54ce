//! Evidence against the truth definition: it must replay, and every claim in it must be true, even one that
//! is not shown.

use masque_model::semantics::{Structure, domain, truth_set};
use masque_model::{Formula, FormulaId, Property, Strategies, System};
use masque_replay::replay;
use masque_verdict::{Evidence, Verdict};

/// The truth of all formulas at all states, by the definition, each computed on first use.
pub struct Reference<'a> {
    /// The reachable states.
    pub structure: &'a Structure,
    /// The system.
    pub system: &'a System,
    domain: Option<Vec<bool>>,
    known: Vec<Option<Option<Vec<bool>>>>,
}

impl<'a> Reference<'a> {
    /// Creates the reference for a system and its reachable states.
    pub fn new(structure: &'a Structure, system: &'a System) -> Reference<'a> {
        let known = vec![None; system.formulas.len()];
        Reference { structure, system, domain: domain(structure, system), known }
    }

    /// Returns the states where a formula is true; `None` if that is not defined.
    pub fn truth(&mut self, formula: FormulaId) -> Option<&[bool]> {
        let (structure, system) = (self.structure, self.system);
        let known = self.known[formula.index()].get_or_insert_with(|| truth_set(structure, system, formula));
        known.as_deref()
    }

    /// Checks the evidence of an outcome; returns whether there is any. An error says that it is missing,
    /// does not replay, or contains a false claim.
    pub fn check(
        &mut self,
        property: &Property,
        verdict: Verdict,
        evidence: Option<&Evidence>,
    ) -> Result<bool, String> {
        let text = self.system.formula_text(property.formula);
        let holds = verdict == Verdict::Holds;
        let Some(evidence) = evidence else {
            let is_missing = match verdict {
                Verdict::Fails => true,
                Verdict::Holds => self.is_existential(property.formula, true),
                Verdict::Unknown(_) => false,
            };
            return if is_missing { Err(format!("{text}: no evidence")) } else { Ok(false) };
        };
        let trusted =
            replay(self.system, property, holds, evidence).map_err(|error| format!("{text}: {error}"))?;
        for reason in &evidence.reasons {
            let part = self.system.formula_text(reason.formula);
            let state = self.structure.index_of(evidence.state(reason.state));
            let state = state.ok_or_else(|| format!("{text}: an unreachable state"))?;
            let truth = self.truth(reason.formula).ok_or_else(|| format!("{text}: {part} is undefined"))?;
            if truth[state] != reason.holds {
                return Err(format!("{text}: {part} is claimed to be {} at {state}", reason.holds));
            }
        }
        let domain = self.domain.as_ref().ok_or("no domain")?;
        let is_fair = |state: &Vec<i64>| self.structure.index_of(state).is_some_and(|s| domain[s]);
        if !trusted.fair.iter().all(|&state| is_fair(evidence.state(state))) {
            return Err(format!("{text}: a trace ends at a state where no fair path starts"));
        }
        Ok(true)
    }

    /// Whether a single trace or state shows that a formula has this truth value, so that evidence is due.
    fn is_existential(&self, formula: FormulaId, holds: bool) -> bool {
        match self.system.formulas.get(formula) {
            Formula::Not(f) => self.is_existential(f, !holds),
            Formula::And(list) if holds => list.iter().any(|&f| self.is_existential(f, true)),
            Formula::Or(list) if holds => list.iter().all(|&f| self.is_existential(f, true)),
            Formula::And(list) => list.iter().all(|&f| self.is_existential(f, false)),
            Formula::Or(list) => list.iter().any(|&f| self.is_existential(f, false)),
            Formula::Exists(..) | Formula::ExistsStep(..) => holds,
            Formula::Enforces(_, strategies, _) => {
                self.system.fairness.is_empty() && (holds || strategies == Strategies::Perfect)
            }
            Formula::Forall(..)
            | Formula::ForallStep(..)
            | Formula::Knows(..)
            | Formula::EveryoneKnows(..)
            | Formula::DistributedKnowledge(..)
            | Formula::CommonKnowledge(..)
            | Formula::Correct(..)
            | Formula::KnowsUnder(..) => !holds,
            _ => false,
        }
    }
}
