//! States, joint actions, and the canonical order of states.

use std::cmp::Ordering;

use crate::{ActionId, Domain, System};

/// A state: one value per variable of the system, in the order of [`System::variables`]. Booleans are 0
/// and 1, an enumeration value is the number of its symbol.
pub type State = Vec<i64>;

/// A joint action: one action per agent of the system.
pub type JointAction = Vec<ActionId>;

/// Compares two states in the canonical order: variable by variable, by the values' index in their domain.
///
/// A value outside its domain, which no state has, comes first.
pub fn compare_states(system: &System, left: &[i64], right: &[i64]) -> Ordering {
    let differing = (system.variables.iter().zip(left).zip(right)).find(|((_, l), r)| l != r);
    match differing {
        None => left.len().cmp(&right.len()),
        Some(((variable, l), r)) => match variable.domain {
            Domain::Boolean | Domain::Integers(..) => l.cmp(r),
            Domain::Values(_) => variable.domain.code(*l).cmp(&variable.domain.code(*r)),
        },
    }
}
