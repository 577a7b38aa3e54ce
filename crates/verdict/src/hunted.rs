//! Evidence from a path that was found while states were still being explored.

use masque_model::{FormulaId, Property, System};

use crate::sight::is_hunt;
use crate::{Budget, Evidence, Oracle, Part, Route, State, Stop, Why, explain};

/// The evidence that one path gives, if the property is such that one path decides it: the states from
/// an initial one to the one that was looked for.
pub fn explain_found(
    system: &System,
    property: &Property,
    holds: bool,
    path: Vec<State>,
    budget: &Budget,
) -> Result<Option<Evidence>, Stop> {
    match is_hunt(&system.formulas, property.formula) {
        true => explain(&mut Found(path), system, property, holds, budget),
        false => Ok(None),
    }
}

/// Knows one path, and answers with it.
struct Found(Vec<State>);

impl Oracle for Found {
    fn is_true(&mut self, _: FormulaId, _: &State, _: &Budget) -> Result<bool, Stop> {
        Err(Why::Unsupported.into())
    }

    fn is_dead_end(&mut self, _: &State, _: &Budget) -> Result<bool, Stop> {
        Err(Why::Unsupported.into())
    }

    fn least(&mut self, _: &[Part], _: &Budget) -> Result<Option<State>, Stop> {
        Err(Why::Unsupported.into())
    }

    fn first(&mut self, _: &[Part], _: usize, _: &Budget) -> Result<(Vec<State>, String), Stop> {
        Err(Why::Unsupported.into())
    }

    fn path(&mut self, _: &Route<'_>, _: &Budget) -> Result<Option<Vec<State>>, Stop> {
        Ok(Some(self.0.clone()))
    }
}
