//! Evidence from a path found during exploration.

use masque_model::{Count, FormulaId, Property, System};
use masque_verdict::{Budget, Evidence, Oracle, RegionPart, Route, State, Stop, Why, is_decided_by_one_path};

use crate::explain::explain;

/// Builds the evidence for a property that one path decides. `path` leads from an initial state to the
/// deciding state.
pub fn explain_found(
    system: &System,
    property: &Property,
    holds: bool,
    path: Vec<State>,
    budget: &Budget,
) -> Result<Option<Evidence>, Stop> {
    if !is_decided_by_one_path(&system.formulas, property.formula) {
        return Ok(None);
    }
    explain(&mut FoundPath(path), system, property, holds, budget)
}

/// Oracle that knows one path only.
struct FoundPath(Vec<State>);

impl Oracle for FoundPath {
    fn is_true(&mut self, _: FormulaId, _: &State, _: &Budget) -> Result<bool, Stop> {
        Err(Why::Unsupported.into())
    }

    fn is_dead_end(&mut self, _: &State, _: &Budget) -> Result<bool, Stop> {
        Err(Why::Unsupported.into())
    }

    fn least(&mut self, _: &[RegionPart], _: &Budget) -> Result<Option<State>, Stop> {
        Err(Why::Unsupported.into())
    }

    fn first(&mut self, _: &[RegionPart], _: usize, _: &Budget) -> Result<(Vec<State>, Count), Stop> {
        Err(Why::Unsupported.into())
    }

    fn path(&mut self, _: &Route, _: &Budget) -> Result<Option<Vec<State>>, Stop> {
        Ok(Some(self.0.clone()))
    }
}
