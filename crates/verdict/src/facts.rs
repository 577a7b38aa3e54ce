//! Facts about a system that do not depend on its properties.

use masque_model::steps::{OverflowingStep, least_overflowing_step};
use masque_model::{AgentId, Count, System, VarId};
use serde::{Deserialize, Serialize};

use crate::{Budget, JointAction, Path, Stop};

/// Facts about a system that do not depend on its properties.
///
/// All engines give the same facts: paths are canonical (see [`Path`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Number of reachable states, fair or not.
    pub states: Count,
    /// Whether no valuation satisfies InitStates.
    pub no_initial_state: bool,
    /// Least shortest path to a state without successors, for every deadlock mode of the system: under
    /// `stutter` these are the states that get a loop.
    pub deadlock: Option<Path>,
    /// Least shortest path to a state at which some enabled joint action overflows, with that action.
    pub overflow: Option<OverflowAt>,
    /// Which initial states start a fair path.
    pub fair_initial: FairInitial,
}

/// Which initial states start a path that meets every fairness constraint infinitely often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FairInitial {
    /// All of them, or there are no constraints.
    All,
    /// Some but not all.
    Some,
    /// No initial state: no property can be decided.
    None,
    /// The engine cannot evaluate the constraints.
    Unsupported,
}

/// An assignment whose value lies outside its variable's domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverflowAt {
    /// Path to the state at which the assignment overflows.
    pub path: Path,
    /// Joint action whose assignment overflows there.
    pub joint_action: JointAction,
    /// Agent of the evolution line.
    pub agent: AgentId,
    /// Index of the line among the agent's evolution lines.
    pub line: usize,
    /// Variable that would leave its domain.
    pub variable: VarId,
}

/// Finds the least joint action enabled at the last state of `path` that makes an assignment overflow,
/// with the first such assignment. Returns `None` if no joint action does.
pub fn least_overflow(system: &System, path: Path, budget: &Budget) -> Result<Option<OverflowAt>, Stop> {
    let Some(state) = path.states.last() else { return Ok(None) };
    let least = least_overflowing_step(system, state, budget)?;
    Ok(least.map(|OverflowingStep { joint_action, agent, line, variable }| OverflowAt {
        path,
        joint_action,
        agent,
        line,
        variable,
    }))
}
