//! Results of a checker besides truth: facts, evidence, extents.

use masque_evidence::explain;
use masque_model::{FormulaId, Property};
use masque_verdict::{Budget, Evidence, Extent, Facts, Why, least_overflow, outside_logic};

use crate::check::Checker;
use crate::reach;
use crate::space::{Limited, Set, exact};

impl Checker<'_> {
    /// Computes the facts that are reported besides the properties.
    pub(crate) fn facts(&mut self, budget: &Budget) -> Limited<Facts> {
        let states = self.encoder.space.count(&self.reachable, self.encoder.layout.n_current());
        let (dead, overflowing) = (self.dead_ends()?, self.overflowing()?);
        let path = |targets: &Set| {
            if targets.is_empty() {
                return Ok(None);
            }
            reach::path_to(&self.encoder, &self.relation, &self.initial, targets, budget)
        };
        let deadlock = path(&dead)?;
        let overflow = match path(&overflowing)? {
            Some(path) => least_overflow(self.system, path, budget)?,
            None => None,
        };
        Ok(Facts {
            states: exact(&states),
            no_initial_state: self.initial.is_empty(),
            deadlock,
            overflow,
            fair_initial: self.fair_initial,
        })
    }

    /// Computes the reachable states without successors.
    pub(crate) fn dead_ends(&self) -> Limited<Set> {
        self.encoder.space.minus(&self.reachable, &self.live)
    }

    /// Computes the reachable states in which a value may leave its domain.
    pub(crate) fn overflowing(&mut self) -> Limited<Set> {
        let states = self.encoder.space.and(&self.reachable, &self.relation.alive)?;
        self.encoder.overflowing(&states)
    }

    /// Returns evidence that a property holds or fails; `None` also if the budget ends.
    pub(crate) fn evidence(&mut self, property: &Property, holds: bool, budget: &Budget) -> Option<Evidence> {
        let system = self.system;
        explain(self, system, property, holds, budget).ok().flatten()
    }

    /// Returns whether a formula is true in some state of the domain.
    pub(crate) fn is_true_somewhere(&mut self, formula: FormulaId) -> Limited<bool> {
        if outside_logic(&self.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        if let Some(&occurs) = self.world.occurs.get(&formula) {
            return Ok(occurs);
        }
        let phi = self.truth(formula)?;
        self.encoder.space.intersects(self.domain(), &phi)
    }

    /// Counts the states in which a formula is true.
    pub(crate) fn extent(&mut self, formula: FormulaId) -> Limited<Extent> {
        let phi = self.truth(formula)?;
        let (space, domain) = (&self.encoder.space, self.domain());
        let count = |set: &Set| exact(&space.count(set, self.encoder.layout.n_current()));
        let phi = space.and(domain, &phi)?;
        let initial = space.and(domain, &self.initial)?;
        Ok(Extent {
            states: count(&phi),
            of_states: count(domain),
            initial: count(&space.and(&initial, &phi)?),
            of_initial: count(&initial),
        })
    }
}
