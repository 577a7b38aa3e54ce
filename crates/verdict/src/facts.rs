//! What is known of a system besides verdicts.

use masque_model::steps::{OverflowingStep, least_overflowing_step};
use masque_model::{AgentId, Count, System, VarId};
use serde::{Deserialize, Serialize};

use crate::{Budget, JointAction, Path, Stop};

/// What there is to know of a system besides its properties.
///
/// All engines agree on every field: paths are canonical (see [`Path`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The number of reachable states, fair or not.
    pub states: Count,
    /// Whether no valuation satisfies InitStates.
    pub no_initial_state: bool,
    /// The least shortest path to a state without successors, whatever deadlock means in this
    /// system: under `stutter` these are the states that get a loop.
    pub deadlock: Option<Path>,
    /// The least shortest path to a state where some enabled joint action overflows, and that
    /// action.
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
    /// None: no property can be decided.
    None,
    /// The engine cannot evaluate the constraints.
    Unsupported,
}

/// An assignment whose value lies outside its variable's domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverflowAt {
    /// A path to the state where it happens.
    pub path: Path,
    /// The joint action that makes it happen there.
    pub joint_action: JointAction,
    /// Whose evolution line it is.
    pub agent: AgentId,
    /// Which of the agent's lines, from 0.
    pub line: usize,
    /// The variable that would leave its domain.
    pub variable: VarId,
}

/// The least joint action enabled in the last state of `path` that makes an assignment overflow
/// there, with the first assignment that does; none if no joint action does.
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
