//! Traces: runs of a model in files that other programs write and read, and their replay on the model.
//!
//! ```text
//! text ─ read ─▶ TraceFile: the runs of a report or of an ITF file ─ replay ─▶ confirmed, or where it leaves the model
//!                  ▲ evidence_runs: the runs that evidence contains
//! ```
//!
//! | file | does |
//! |---|---|
//! | `json_node` | parts of a JSON text, with their places |
//! | `read` | reports of `masque check` and ITF files as runs |
//! | `evidence_runs` | the runs that evidence contains |
//! | `track` | follows a run through a model, with every state that fits what the run gives |
//! | `system_walk`, `world_walk`, `label_walk` | the steps of each language |
//! | `replay` | the replay of a run on a loaded model |

mod evidence_runs;
mod json_node;
mod label_walk;
mod read;
mod replay;
mod system_walk;
mod track;
mod world_walk;

use serde::{Deserialize, Serialize};

pub use evidence_runs::{EvidenceRuns, LeftOut, evidence_runs};
pub use json_node::Place;
pub use read::{MAX_TRACE_BYTES, PropertyRuns, TraceFile, TracedModel, UnreadTrace, read_traces};
pub use replay::{TraceVariable, VariableKind, replay_run, trace_variables};
pub use track::{Alternative, Departure, Difference, Replayed};

/// Name of the variable that holds the program point of a BDI state. No identifier contains a blank.
pub const POINT_VARIABLE: &str = "program point";
/// Name of the variable that holds the action of the step to a BDI state, empty if there is none.
pub const ACTION_VARIABLE: &str = "last action";
/// Name of the variable that holds the messages under way in an LCC state.
pub const MAIL_VARIABLE: &str = "under way";
/// Name of the variable that holds the number of an AUT state.
pub const STATE_VARIABLE: &str = "state";

/// A run of a model, as a file gives it. Parts of states and of steps may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRun {
    /// For BDI: the world of the run; the top world if it is not given.
    pub world: Option<String>,
    /// The states in order, at least one.
    pub states: Vec<TraceState>,
    /// The steps: one from each state but the last; if the run has a loop, one from the last state too.
    pub steps: Vec<TraceStep>,
    /// For an infinite run: index of the state that follows the last.
    pub back_to: Option<usize>,
}

/// A state of a run: the variables that the file gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceState {
    /// Place of the state in the file.
    pub place: Place,
    /// Variables with their values.
    pub values: Vec<(String, TraceValue)>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Place of the step in the file.
    pub place: Place,
    /// What happens in the step.
    pub action: TraceAction,
}

/// What happens in a step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceAction {
    /// The file does not say.
    NotGiven,
    /// The step of a dead end to itself, which `--deadlock stutter` adds.
    Stutter,
    /// The actions of some or all agents.
    Joint(Vec<(String, String)>),
    /// The label of a step of a protocol or transition system.
    Label(String),
}

/// A value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceValue {
    /// A boolean.
    Boolean(bool),
    /// An integer in decimal.
    Integer(String),
    /// A string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
    /// A value of any type as the language writes it.
    Written(String),
}

impl TraceValue {
    /// The value as the language writes it.
    pub fn text(&self) -> String {
        match self {
            TraceValue::Boolean(value) => value.to_string(),
            TraceValue::Integer(text) | TraceValue::Text(text) | TraceValue::Written(text) => text.clone(),
            TraceValue::List(items) => items.join("; "),
        }
    }
}
