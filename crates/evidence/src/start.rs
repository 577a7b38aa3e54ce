//! Where evidence begins: the state at which the property is looked at.

use masque_model::At;
use masque_verdict::claims::{Needs, RunGoal};
use masque_verdict::{Literal, Part, State, Stop};

use crate::explain::Explainer;

impl Explainer<'_> {
    /// The states from an initial one to the one where the property is looked at.
    pub(crate) fn start(&mut self, literal: Literal, at: At) -> Result<Option<Vec<State>>, Stop> {
        if let Some(initial) = self.initial(literal, &[Part::Initial])? {
            return Ok(Some(vec![initial]));
        }
        match at {
            At::Initial => Ok(None),
            At::Reachable => self.path_to(&[Part::Literal(literal)]),
        }
    }

    /// The state of a region of initial states from which a literal is shown best: where a finite
    /// run shows it the one where that is shortest, else the least.
    ///
    /// What the run shows need not be known beforehand, so that an `AG φ` that fails costs no set of
    /// states where it does: a run to a state without `φ` is enough.
    fn initial(&mut self, literal: Literal, region: &[Part]) -> Result<Option<State>, Stop> {
        let with = |literals: &[Literal]| {
            let literals = literals.iter().map(|&literal| Part::Literal(literal));
            region.iter().cloned().chain(literals).collect::<Vec<Part>>()
        };
        match Needs::of(&self.system.formulas, literal) {
            _ if self.ranks.is_local(literal.formula) => {}
            Some(Needs::One(list)) => {
                for literal in self.by_rank(&list) {
                    if let Some(state) = self.initial(literal, region)? {
                        return Ok(Some(state));
                    }
                }
                return Ok(None);
            }
            Some(Needs::All(list)) => {
                // The last of those of which most can be shown: of an implication its right side.
                let inner = list.iter().rev().filter(|literal| !self.ranks.is_local(literal.formula));
                let most = inner.min_by_key(|literal| self.ranks.of(**literal));
                if let Some(&most) = most {
                    let others: Vec<Literal> = list.into_iter().filter(|literal| *literal != most).collect();
                    return self.initial(most, &with(&others));
                }
            }
            Some(Needs::Same(..)) | None => {
                let goal = RunGoal::of(&self.system.formulas, literal.formula);
                if let Some(goal) = goal.filter(|g| g.holds == literal.holds && g.forever.is_none()) {
                    let run = self.finite(&goal, region)?;
                    let first = run.as_ref().and_then(|run| run.first().cloned());
                    self.first_run = run.map(|run| (literal, run));
                    return Ok(first);
                }
            }
        }
        self.oracle.least(&with(&[literal]), self.budget)
    }
}
