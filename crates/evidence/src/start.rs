//! Chooses the state at which the property is evaluated.

use masque_model::At;
use masque_verdict::claims::{Needs, PathGoal};
use masque_verdict::{Literal, RegionPart, State, Stop};

use crate::explain::Explainer;

impl Explainer<'_> {
    /// Returns a path from an initial state to the state at which the property is evaluated.
    pub(crate) fn start(&mut self, literal: Literal, at: At) -> Result<Option<Vec<State>>, Stop> {
        if let Some(initial) = self.initial(literal, &[RegionPart::Initial])? {
            return Ok(Some(vec![initial]));
        }
        match at {
            At::Initial => Ok(None),
            At::Reachable => self.path_to(&[RegionPart::Literal(literal)]),
        }
    }

    /// Returns the state of a region of initial states at which a literal is shown best: if a finite path
    /// shows it, the one with the shortest path, otherwise the least.
    ///
    /// For a finite path the set of states where the literal is true is not computed: if `AG φ` fails, a
    /// path to a state without `φ` is enough.
    fn initial(&mut self, literal: Literal, region: &[RegionPart]) -> Result<Option<State>, Stop> {
        let with = |literals: &[Literal]| {
            let literals = literals.iter().map(|&literal| RegionPart::Literal(literal));
            region.iter().cloned().chain(literals).collect::<Vec<RegionPart>>()
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
                // The last one among those of which most can be shown, such as the right side of an implication.
                let inner = list.iter().rev().filter(|literal| !self.ranks.is_local(literal.formula));
                let most = inner.min_by_key(|literal| self.ranks.of(**literal));
                if let Some(&most) = most {
                    let others: Vec<Literal> = list.into_iter().filter(|literal| *literal != most).collect();
                    return self.initial(most, &with(&others));
                }
            }
            Some(Needs::Same(..)) | None => {
                let goal = PathGoal::of(&self.system.formulas, literal.formula);
                if let Some(goal) = goal
                    && goal.holds == literal.holds
                    && goal.forever.is_none()
                {
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
