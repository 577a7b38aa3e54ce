//! What the supervising process asks of its workers, and what they answer.
//!
//! Every command goes to all workers, which carry it out together. All give the same answer, each
//! with what it has cost. States are sent as the model writes them, and ids as they are: all workers have
//! read the model from the same text.

use masque_model::{AgentId, At, FormulaId, System};
use masque_verdict::{By, Hunt, Literal, Part, Route, State, Stop, Why};
use serde::{Deserialize, Serialize};

use crate::net;

/// What all workers are to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Find the reachable states, or go on from what is stored.
    Explore {
        /// Whether transitions are to be stored.
        transitions: bool,
        /// The most states there may be.
        most_states: Option<u64>,
        /// States that decide a property: as soon as one is found, exploring pauses.
        hunted: Vec<Hunt>,
    },
    /// Tell the nearest deadlock and the nearest overflow.
    Facts,
    /// Tell how many initial states there are.
    Initial,
    /// Decide a formula.
    Verdict {
        formula: FormulaId,
        at: At,
    },
    /// Is a formula true at some state?
    Somewhere(FormulaId),
    /// In how many states is it true?
    Extent(FormulaId),
    /// The questions of an oracle.
    IsTrue(FormulaId, State),
    IsDeadEnd(State),
    Least(Vec<Part>),
    First(Vec<Part>, usize),
    Path(Route),
    /// Store what is known, if storing was asked for.
    Store,
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Explored {
        states: u64,
    },
    /// Exploring pauses: a state was found that the hunt at this position is for, and the path to it.
    Found {
        hunt: usize,
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

/// What a worker has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Costs {
    pub(crate) states: u64,
    pub(crate) transitions: Option<u64>,
    pub(crate) bytes: u64,
    /// Words sent to other workers.
    pub(crate) words: u64,
    /// The most memory that the process has had, if the worker is one.
    pub(crate) resident: u64,
    /// The milliseconds that its threads have worked, if the worker is one.
    pub(crate) busy: u64,
}

/// A worker's answer, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    Answer(Answer, Costs),
    /// A limit was hit.
    Stopped {
        code: u64,
        states: Option<u64>,
    },
    /// Something is wrong with this worker's surroundings.
    Failed(String),
}

impl Reply {
    pub(crate) fn stopped(stop: Stop) -> Reply {
        Reply::Stopped { code: net::code(stop), states: stop.states }
    }

    /// The limit that a code stands for.
    pub(crate) fn stop(code: u64, states: Option<u64>) -> Stop {
        Stop { why: net::why(code).unwrap_or(Why::Workers), states, bytes: None }
    }
}

impl Command {
    /// Whether a system has all that this speaks of. A worker and its supervisor read the same text, so
    /// anything else comes from another program.
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
                    By::Steps => true,
                    By::Confusion(group) => group.index() < system.groups.len(),
                };
                has_group && [&route.from, &route.through, &route.to].iter().all(|r| is_region(system, r))
            }
            Command::Facts | Command::Initial | Command::Store => true,
        }
    }
}

fn is_region(system: &System, region: &[Part]) -> bool {
    let is_literal = |literal: &Literal| literal.formula.index() < system.formulas.len();
    let is_agent = |agent: &AgentId| agent.index() < system.agents.len();
    let is_state = |state: &State| state.len() == system.variables.len();
    region.iter().all(|part| match part {
        Part::Initial => true,
        Part::Is(state) => is_state(state),
        Part::Literal(literal) => is_literal(literal),
        Part::Green(agent) => is_agent(agent),
        Part::Alike(agents, state) => agents.iter().all(is_agent) && is_state(state),
        Part::Constraint(number) => *number < system.fairness.len(),
        Part::Forever(literals) => literals.iter().all(is_literal),
        Part::Recurrent(inside) => is_region(system, inside),
    })
}
