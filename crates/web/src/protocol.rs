//! Messages between the server and the process that holds the model: lines of JSON. Both are the same program.

use std::path::PathBuf;

use masque_driver::trace::TraceAction;
use masque_driver::warm::{
    Asked, Listed, PageRange, PartTruth, Statement, SwitchedVerdict, WarmGraph, WarmSteps, WarmWalk,
};
use serde::{Deserialize, Serialize};

/// Named values, such as those of a state.
pub(crate) type Values = Vec<(String, String)>;

/// A request to the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Load the model with these values of parameters, in the form `NAME=VALUE`; others are as on the command line.
    Load { defines: Vec<String> },
    /// Decide all properties. Progress is reported meanwhile.
    Check,
    /// The evidence of the property with this index.
    Evidence { property: usize },
    /// Initial states.
    Initial { page: PageRange },
    /// A state with its steps.
    State { state: usize, fixed: Values, page: PageRange },
    /// The truth of formulas at a state.
    Truths { state: usize, formulas: Vec<Asked>, max_parts: usize },
    /// The number of a state of an interpreted system or a BDI world that has these values.
    Find { values: Values },
    /// The states that agents cannot distinguish from a state.
    Alike { state: usize, agents: Vec<String>, page: PageRange },
    /// A shortest walk to a state at which a formula is true.
    PathTo { formula: Asked, from: Option<usize> },
    /// Why a formula is true or false at the end of a walk.
    Why { formula: Asked, walk: WarmWalk },
    /// Random steps from a state.
    Random { state: usize, n_steps: usize, seed: u64 },
    /// A walk along a run, as far as the model has it.
    Follow { run: NamedRun },
    /// A walk as a run with names.
    Named { walk: WarmWalk },
    /// The message chart of a walk through a protocol.
    Chart { walk: WarmWalk },
    /// A walk as a file for `masque replay`.
    Trace { walk: WarmWalk },
    /// What each agent of a protocol is doing in a state.
    Standings { state: usize },
    /// The rules and facts of a protocol, and the verdicts without those with these texts.
    Switch { off: Vec<String> },
    /// The worlds of a BDI file with their states, kept and removed.
    Worlds { max_states: usize },
    /// The state graph, with the truth of a formula and what an agent sees.
    Graph { max_states: usize, formula: Option<Asked>, agent: Option<String> },
}

/// A line from the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Line {
    /// How far a check has come; the reply follows.
    Progress(ProgressInfo),
    /// The reply to the request.
    Reply(Box<Reply>),
}

/// The reply to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Loaded(ModelInfo),
    Checked(CheckInfo),
    Evidence(Option<EvidenceInfo>),
    Initial(Listed<StateInfo>),
    State(StateSteps),
    Truths(Vec<FormulaTruth>),
    Found(Option<usize>),
    Alike(Listed<StateInfo>),
    Path(Option<WalkInfo>),
    Why(String),
    Walk(WalkInfo),
    Followed {
        walk: Option<WalkInfo>,
        stopped: Option<String>,
    },
    Named(NamedRun),
    Trace(String),
    /// A drawing in SVG that `report` has written, if the model has messages.
    Chart(Option<String>),
    Graph(GraphInfo),
    Worlds(WorldsInfo),
    Standings(Vec<StandingInfo>),
    Switched(SwitchInfo),
    /// The request could not be answered: a message for the user.
    Refused(String),
}

/// How far a check has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgressInfo {
    /// Number of properties that are decided.
    pub(crate) decided: usize,
    /// Number of all properties.
    pub(crate) total: usize,
    /// Whether all reachable states are known.
    pub(crate) is_explored: bool,
    /// How far the engine has come, in words.
    pub(crate) reached: Option<String>,
}

/// A loaded model, or the errors in its files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ModelInfo {
    pub(crate) name: String,
    /// `ispl`, `bdi`, `lcc` or `aut`; empty if it is not known.
    pub(crate) language: String,
    /// Whether there is a model, so that it can be checked.
    pub(crate) has_model: bool,
    /// Size of the model in words.
    pub(crate) size: String,
    pub(crate) sources: Vec<SourceInfo>,
    /// Files whose change may change the model.
    pub(crate) watched: Vec<PathBuf>,
    pub(crate) diagnostics: Vec<DiagnosticInfo>,
    pub(crate) parameters: Vec<(String, i64)>,
    pub(crate) options: Values,
    pub(crate) agents: Vec<AgentInfo>,
    pub(crate) properties: Vec<PropertyInfo>,
}

/// A file of the model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SourceInfo {
    pub(crate) name: String,
    /// First part of the text.
    pub(crate) text: String,
    /// Whether the text is longer.
    pub(crate) is_cut: bool,
}

/// An error, warning or note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DiagnosticInfo {
    pub(crate) severity: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// File and line, from 1, of its primary place.
    pub(crate) place: Option<(String, u32)>,
    /// For a message about the behaviour: a shortest path to it, as a run.
    pub(crate) run: Option<NamedRun>,
}

/// An agent of the model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AgentInfo {
    pub(crate) name: String,
    /// Its variables with their values, in words.
    pub(crate) variables: Values,
    pub(crate) actions: Vec<String>,
    /// Variables of other agents that it sees.
    pub(crate) sees: Vec<String>,
}

/// A property of the model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PropertyInfo {
    pub(crate) title: String,
    pub(crate) text: String,
    /// File and line, from 1.
    pub(crate) place: Option<(String, u32)>,
    /// For BDI: the world in which it is decided.
    pub(crate) world: Option<String>,
}

/// The results of a check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CheckInfo {
    pub(crate) summary: String,
    pub(crate) states: Option<String>,
    pub(crate) verdicts: Vec<VerdictInfo>,
    /// Findings about the behaviour: deadlocks, overflows.
    pub(crate) findings: Vec<DiagnosticInfo>,
    /// Time of the check in milliseconds.
    pub(crate) milliseconds: u64,
    /// Errors of Masque that the check has found.
    pub(crate) bugs: Vec<String>,
}

/// The result of one property.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct VerdictInfo {
    /// `holds`, `fails` or `unknown`.
    pub(crate) word: String,
    /// Reason for `unknown`.
    pub(crate) reason: Option<String>,
    pub(crate) milliseconds: u64,
    pub(crate) has_evidence: bool,
    pub(crate) remarks: Vec<String>,
}

/// The evidence of a property.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EvidenceInfo {
    /// Drawings, tables and words as HTML that `report` has written.
    pub(crate) html: String,
    pub(crate) legend: Vec<String>,
    pub(crate) states: Vec<Values>,
    pub(crate) runs: Vec<RunInfo>,
}

impl EvidenceInfo {
    /// The first run with a state, and the position of the state in it.
    pub(crate) fn run_with(&self, state: usize) -> Option<(usize, usize)> {
        self.runs.iter().enumerate().find_map(|(nth, run)| {
            let position = run.states.iter().position(|&other| other == state)?;
            Some((nth, position))
        })
    }
}

/// A run of the evidence.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunInfo {
    pub(crate) name: String,
    /// Indices of its states in the list of states.
    pub(crate) states: Vec<usize>,
    pub(crate) steps: Vec<String>,
    pub(crate) back_to: Option<usize>,
    pub(crate) run: NamedRun,
}

/// A run that names values and actions, so that it can be followed in another process or in a changed model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedRun {
    pub(crate) states: Vec<Values>,
    pub(crate) steps: Vec<TraceAction>,
}

/// A state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StateInfo {
    pub(crate) number: usize,
    pub(crate) values: Values,
}

/// A state with its steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StateSteps {
    pub(crate) values: Values,
    pub(crate) steps: WarmSteps,
    /// For each step the values that it changes.
    pub(crate) changes: Vec<Values>,
}

/// The truth of a formula and its parts at a state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FormulaTruth {
    pub(crate) parts: Vec<PartTruth>,
    /// Why nothing is known.
    pub(crate) error: Option<String>,
}

/// A walk with the values of its states.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WalkInfo {
    pub(crate) walk: WarmWalk,
}

/// The state graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GraphInfo {
    pub(crate) graph: WarmGraph,
    /// Values of each state.
    pub(crate) values: Vec<Values>,
    /// Truth of the formula, per state.
    pub(crate) truths: Vec<Option<bool>>,
    /// What the agent sees, as a number per state: states with equal numbers look alike.
    pub(crate) classes: Vec<usize>,
    /// Why there are no truths, if the formula could not be decided.
    pub(crate) error: Option<String>,
}

/// What an agent of a protocol is doing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StandingInfo {
    pub(crate) id: String,
    /// What remains of its clause.
    pub(crate) process: String,
    pub(crate) is_done: bool,
    pub(crate) is_idle: bool,
    /// What each step needs that the agent cannot make now.
    pub(crate) obstacles: Vec<String>,
}

/// The rules and facts of a protocol.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SwitchInfo {
    pub(crate) statements: Vec<Statement>,
    /// Verdicts of the properties.
    pub(crate) verdicts: Vec<SwitchedVerdict>,
    /// Why there are no verdicts.
    pub(crate) error: Option<String>,
}

/// The worlds of a BDI file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorldsInfo {
    /// States of all worlds, kept ones first.
    pub(crate) states: Vec<WorldState>,
    /// Steps inside worlds: the indices of two states, and the labels.
    pub(crate) steps: Vec<(usize, usize, Vec<String>)>,
    /// Accessibility: the indices of two states, and the attitude.
    pub(crate) access: Vec<(usize, usize, String)>,
    /// What synthesis removed, in sentences.
    pub(crate) summary: Vec<String>,
    /// What is left out, if anything is.
    pub(crate) cut: Option<String>,
}

/// A state of a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorldState {
    pub(crate) world: String,
    /// Values, without the name of the world.
    pub(crate) values: Values,
    pub(crate) is_initial: bool,
    /// Why synthesis removed the state; nothing if it was kept.
    pub(crate) removed: Option<Vec<String>>,
}
