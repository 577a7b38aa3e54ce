//! The commands of the supervising process to its workers, and their replies.
//!
//! Every command goes to all workers, which carry it out together. All give the same answer, each with
//! its own costs. States are sent as rows of the model's values, and ids unchanged: all workers have read
//! the model from the same text.

use masque_model::{AgentId, At, FormulaId, System};
use masque_verdict::{DecidingState, Literal, RegionPart, Route, State, StepKind, Stop, Why};
use serde::{Deserialize, Serialize};

use crate::net;

/// A command to all workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Find the reachable states, or resume from a checkpoint.
    Explore {
        /// Whether to store transitions.
        transitions: bool,
        /// Maximum number of states.
        max_states: Option<u64>,
        /// States that decide a property: exploration pauses when one is found.
        hunted: Vec<DecidingState>,
    },
    /// Report the nearest deadlock and the nearest overflow.
    Facts,
    /// Count the initial states.
    Initial,
    /// Decide a formula.
    Verdict {
        formula: FormulaId,
        at: At,
    },
    /// Report whether a formula is true at some state.
    Somewhere(FormulaId),
    /// Count the states at which a formula is true.
    Extent(FormulaId),
    /// A question of [`Oracle`](masque_verdict::Oracle), as are the following ones.
    IsTrue(FormulaId, State),
    IsDeadEnd(State),
    Least(Vec<RegionPart>),
    First(Vec<RegionPart>, usize),
    Path(Route),
    /// Write the labels to the checkpoint, if the run keeps checkpoints.
    Store,
}

/// The answer of a worker to a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Explored {
        states: u64,
    },
    /// Exploration pauses: a state that decides a property was found.
    Found {
        /// Index of the hunt that the state matches.
        hunt: usize,
        /// Path to the state.
        path: Vec<State>,
    },
    Facts {
        deadlock: Option<Vec<State>>,
        overflow: Option<Vec<State>>,
    },
    Initial {
        all: u64,
        fair: u64,
    },
    Truth(bool),
    NoFairPath,
    Extent {
        states: u64,
        of_states: u64,
        initial: u64,
        of_initial: u64,
    },
    State(Option<State>),
    States(Vec<State>, u64),
    Path(Option<Vec<State>>),
}

/// The costs of a worker so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Costs {
    pub(crate) states: u64,
    pub(crate) transitions: Option<u64>,
    /// Peak memory of the stored data, in bytes.
    pub(crate) bytes: u64,
    /// Number of words sent to other workers.
    pub(crate) words: u64,
    /// Peak resident memory of the process, in bytes; 0 for a worker thread.
    pub(crate) resident: u64,
    /// CPU time of the process, in milliseconds; 0 for a worker thread.
    pub(crate) busy: u64,
}

/// A worker's answer, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    Answer(Answer, Costs),
    /// A limit was hit.
    Stopped {
        code: u64,
        states: Option<u64>,
    },
    /// The worker cannot continue, for example because it cannot write a checkpoint.
    Failed(String),
}

impl Reply {
    pub(crate) fn stopped(stop: Stop) -> Reply {
        Reply::Stopped { code: net::stop_code(stop), states: stop.states }
    }

    /// Decodes the limit of [`Reply::Stopped`].
    pub(crate) fn stop(code: u64, states: Option<u64>) -> Stop {
        Stop { why: net::why_of_code(code).unwrap_or(Why::Workers), states, bytes: None }
    }
}

impl Command {
    /// Whether all ids and states of the command exist in the system. A worker and its supervisor read the
    /// same text, so any other command comes from another program.
    pub(crate) fn is_about(&self, system: &System) -> bool {
        let is_formula = |formula: &FormulaId| formula.index() < system.formulas.len();
        let is_state = |state: &State| state.len() == system.variables.len();
        match self {
            Command::Explore { hunted, .. } => hunted.iter().all(|hunt| is_formula(&hunt.formula)),
            Command::Verdict { formula, .. } | Command::Somewhere(formula) | Command::Extent(formula) => {
                is_formula(formula)
            }
            Command::IsTrue(formula, state) => is_formula(formula) && is_state(state),
            Command::IsDeadEnd(state) => is_state(state),
            Command::Least(region) | Command::First(region, _) => is_region(system, region),
            Command::Path(route) => {
                let has_group = match route.by {
                    StepKind::Steps => true,
                    StepKind::Confusion(group) => group.index() < system.groups.len(),
                };
                has_group && [&route.from, &route.through, &route.to].iter().all(|r| is_region(system, r))
            }
            Command::Facts | Command::Initial | Command::Store => true,
        }
    }
}

fn is_region(system: &System, region: &[RegionPart]) -> bool {
    let is_literal = |literal: &Literal| literal.formula.index() < system.formulas.len();
    let is_agent = |agent: &AgentId| agent.index() < system.agents.len();
    let is_state = |state: &State| state.len() == system.variables.len();
    region.iter().all(|part| match part {
        RegionPart::Initial => true,
        RegionPart::Is(state) => is_state(state),
        RegionPart::Literal(literal) => is_literal(literal),
        RegionPart::Green(agent) => is_agent(agent),
        RegionPart::Alike(agents, state) => agents.iter().all(is_agent) && is_state(state),
        RegionPart::Constraint(index) => *index < system.fairness.len(),
        RegionPart::Forever(literals) => literals.iter().all(is_literal),
        RegionPart::Recurrent(inside) => is_region(system, inside),
    })
}
