//! The methods with their parameters and results: schema `masque.broker/1`.
//!
//! Fields may be added to results, but are never renamed without a new schema name. An unknown parameter is an
//! error, because ignoring it might change the meaning of the call.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use masque_report::{
    BlameReport, DiagnosticReport, Entries, EventReport, FactReport, GoalReport, ObligationReport,
    TraceReport,
};
use schemars::JsonSchema;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::fault::{Move, brief};

/// The name and version of the protocol.
pub const BROKER_SCHEMA: &str = "masque.broker/1";

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Opens a session.
    Open,
    /// Decides properties at the current state of the interaction.
    Check,
    /// Changes rules and facts.
    Update,
    /// Lists the events that are possible now.
    Moves,
    /// Advances the session by an event that happened.
    Advance,
    /// Sets the state.
    Place,
    /// Returns the state.
    State,
    /// Finds teams for which the properties hold.
    Teams,
    /// Shows why a property holds or fails, or what a diagnostic means.
    Explain,
    /// Adds an event to the log of a session.
    Observe,
    /// Judges an event without adding it to the log.
    May,
    /// Returns what is owed, and the status of goals, after the log of a session.
    Obligations,
    /// Closes a session.
    Close,
    /// Cancels calls in progress.
    Cancel,
    /// Checks a model of any language in a child process.
    CheckModel,
    /// Stops the service.
    Shutdown,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 16] = [
        Method::Open,
        Method::Check,
        Method::Update,
        Method::Moves,
        Method::Advance,
        Method::Place,
        Method::State,
        Method::Teams,
        Method::Explain,
        Method::Observe,
        Method::May,
        Method::Obligations,
        Method::Close,
        Method::Cancel,
        Method::CheckModel,
        Method::Shutdown,
    ];

    /// The name in calls.
    pub fn name(self) -> &'static str {
        match self {
            Method::Open => "open",
            Method::Check => "check",
            Method::Update => "update",
            Method::Moves => "moves",
            Method::Advance => "advance",
            Method::Place => "place",
            Method::State => "state",
            Method::Teams => "teams",
            Method::Explain => "explain",
            Method::Observe => "observe",
            Method::May => "may",
            Method::Obligations => "obligations",
            Method::Close => "close",
            Method::Cancel => "cancel",
            Method::CheckModel => "check_model",
            Method::Shutdown => "shutdown",
        }
    }

    /// The method with a name.
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// A text with its name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Name of the file in diagnostics.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

/// The value of an option: a word or a number.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OptionValue {
    /// A word.
    Word(String),
    /// A number.
    Number(i64),
}

/// Reads an object in which no name occurs twice: otherwise one of two values would be ignored.
pub(crate) fn each_once<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct Names<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Names<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((name, value)) = members.next_entry::<String, V>()? {
                if map.contains_key(&name) {
                    return Err(A::Error::custom(format!("`{}` is given twice", brief(&name))));
                }
                map.insert(name, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Names(PhantomData))
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionValue::Word(word) => f.write_str(word),
            OptionValue::Number(number) => write!(f, "{number}"),
        }
    }
}

/// Limits of a call. A limit of the service that is lower takes precedence.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    /// Time limit in seconds, from the moment the work begins.
    pub seconds: Option<f64>,
    /// Maximum number of states that are explored.
    pub states: Option<u64>,
    /// Maximum bytes of the session or the child process.
    pub memory: Option<u64>,
}

/// Parameters of `open`: an instance.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OpenParams")]
pub(crate) struct Open {
    /// Protocol, team, knowledge, rules and properties, as in `.lcc` and `.pol` files.
    pub files: Vec<File>,
    /// Properties, as in `.mu` files.
    #[serde(default)]
    pub properties: Vec<File>,
    /// Options that override those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
}

/// Result of `open`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "OpenResult")]
pub(crate) struct Opened {
    /// The name by which other calls refer to the session.
    pub session: String,
    /// The ids of the team's agents.
    pub agents: Vec<String>,
    /// The properties of the instance.
    pub properties: Vec<PropertyName>,
    /// The options whose values are not the defaults.
    pub options: Entries<String>,
    /// Warnings and notes about the texts.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// A property of an instance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PropertyName {
    /// Name of the property.
    pub name: String,
    /// Formula of the property.
    pub formula: String,
}

/// Parameters of `check`. With neither `property` nor `formula`, all properties are decided.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CheckParams")]
pub(crate) struct Check {
    /// The session.
    pub session: String,
    /// A property of the instance, by name.
    pub property: Option<String>,
    /// A formula of the mu-calculus.
    pub formula: Option<String>,
    /// Whether traces that show the verdicts are returned; they cost additional time.
    #[serde(default)]
    pub evidence: bool,
    /// Limits of the call.
    #[serde(default)]
    pub limits: Allowed,
}

/// Result of `check`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "CheckResult")]
pub(crate) struct Checked {
    /// One answer per property.
    pub answers: Vec<Answer>,
    /// Actions that are both permitted and forbidden, in the explored states.
    pub conflicts: Vec<String>,
    /// Constraints about which an agent has no facts, in the explored states.
    pub unknown_constraints: Vec<String>,
    /// Warnings about a formula that was given.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// The answer to one property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The property's name, or the formula as it was given.
    pub name: String,
    /// `holds`, `fails` or `unknown`.
    #[schemars(extend("enum" = ["holds", "fails", "unknown"]))]
    pub verdict: String,
    /// Why it is unknown: `timeout`, `memory`, `states`, `bound:cap`, ..
    pub reason: Option<String>,
    /// Remarks on the verdict, for example that a pattern matches nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// A trace that shows the verdict, if it was requested and exists.
    pub evidence: Option<TraceReport>,
    /// Why the trace is withheld: the replay error. This is a bug in Masque; the verdict stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_withheld: Option<String>,
    /// Number of explored states.
    pub states: u64,
    /// Number of explored pairs of a state and a subformula.
    pub positions: u64,
    /// Whether an earlier answer is still valid, so that nothing was computed.
    pub kept: bool,
    /// Number of states whose successors were computed for this answer.
    pub lists: u64,
}

/// Parameters of `update`. Either all changes are made, or none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UpdateParams")]
pub(crate) struct Update {
    /// The session.
    pub session: String,
    /// Statements that are true from now on: `common`, `know`, `rule`, `choice`, `agent`, `server`, and clauses.
    #[serde(default)]
    pub add: Vec<String>,
    /// Statements that are no longer true.
    #[serde(default)]
    pub remove: Vec<String>,
}

/// Result of `update`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "UpdateResult")]
pub(crate) struct Updated {
    /// Number of added statements that were new.
    pub added: usize,
    /// Number of removed statements.
    pub removed: usize,
    /// Number of known situations of single agents that may have changed.
    pub situations: usize,
    /// Warnings about the added statements.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// Parameters of methods whose only parameter is a session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionParams {
    /// The session.
    pub session: String,
}

/// Result of `moves`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "MovesResult")]
pub(crate) struct Moves {
    /// The events that are possible now, in a fixed order.
    pub moves: Vec<Move>,
    /// Name of the bound that was reached, if there may be more.
    pub cut: Option<String>,
}

/// Parameters of `advance`: the event that happened, given in exactly one of four ways.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdvanceParams")]
pub(crate) struct Advance {
    /// The session.
    pub session: String,
    /// The number of a move, as `moves` lists them.
    pub number: Option<usize>,
    /// The label of a move.
    pub label: Option<String>,
    /// An action pattern of formulas, such as `in(offer(_))@c1`.
    pub pattern: Option<String>,
    /// A description of the event.
    pub event: Option<EventLike>,
}

/// A description of an event. Members that are omitted match anything.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventLike {
    /// The kind of event.
    pub kind: Option<EventKind>,
    /// The message, as a term; `_` matches anything.
    pub message: Option<String>,
    /// The sender, or the agent of an internal step.
    pub from: Option<String>,
    /// The receiver.
    pub to: Option<String>,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventKind {
    /// An agent makes an internal step.
    Internal,
    /// A message is sent.
    Sent,
    /// A message in transit is received.
    Taken,
    /// A message is sent and received in one step.
    Exchanged,
}

/// Result of `advance`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AdvanceResult")]
pub(crate) struct Advanced {
    /// The event that happened.
    pub event: EventReport,
    /// Whether every agent has finished.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// Parameters of `place`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PlaceParams")]
pub(crate) struct Place {
    /// The session.
    pub session: String,
    /// `now` and `mail` statements. An agent that none of them names is in its initial state.
    pub statements: Option<Vec<String>>,
    /// The state as a tuple, instead of `statements`.
    pub tuple: Option<String>,
}

/// Parameters of `state`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StateParams")]
pub(crate) struct GetState {
    /// The session.
    pub session: String,
    /// How the state is written besides its statements.
    #[serde(default)]
    pub format: StateFormat,
}

/// How a state is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StateFormat {
    /// As statements only.
    #[default]
    Statements,
    /// Also as a tuple.
    Tuple,
}

/// Result of `place` and `state`: the state of the interaction.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "StateResult")]
pub(crate) struct State {
    /// `now` and `mail` statements, which `place` accepts.
    pub statements: Vec<String>,
    /// Whether every agent has finished.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Why no event is possible, agent by agent; empty if one is, or if every agent has finished.
    pub blame: Vec<String>,
    /// The state as a tuple, if it was requested or placed as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuple: Option<String>,
}

/// Parameters of `explain`: a property or formula of a session, or the code of a diagnostic.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExplainParams")]
pub(crate) struct Explain {
    /// The session.
    pub session: Option<String>,
    /// A property of the instance, by name.
    pub property: Option<String>,
    /// A formula of the mu-calculus.
    pub formula: Option<String>,
    /// The code of a diagnostic, such as `lcc/unknown-option`.
    pub code: Option<String>,
    /// Limits of the call.
    #[serde(default)]
    pub limits: Allowed,
}

/// Result of `explain`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ExplainResult")]
pub(crate) enum Explained {
    /// Why a property holds or fails.
    Verdict(Box<Shown>),
    /// What a diagnostic means.
    Page(Page),
}

/// Why a property holds or fails.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    /// The verdict, and the trace that shows it.
    pub answer: Answer,
    /// The trace as a message sequence chart in plain text.
    pub chart: Option<String>,
    /// If the trace ends in a deadlock: the agents and rules that cause it.
    pub blame: Vec<String>,
}

/// What a diagnostic means.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Page {
    /// The code.
    pub code: String,
    /// Meaning of the diagnostic, an example, and how to resolve it.
    pub page: String,
}

/// Parameters of `observe` and `may`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ObserveParams")]
pub(crate) struct Observe {
    /// The session.
    pub session: String,
    /// The event, as far as it was observed.
    pub event: ObservedLike,
    /// Patterns of the steps that are observable, such as `out(_)` and `#(pay(_))`; the log has all of them. They are
    /// fixed by the first event of the log. The default is all messages sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observable: Option<Vec<String>>,
}

/// An observed event. Members that are omitted may be anything. Texts are terms; `masque monitor` has maps for records
/// of other programs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObservedLike {
    /// The kind of event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKind>,
    /// The sender, or the agent of an internal step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The agent that acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The message; `_` matches anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A constraint that allowed the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
}

/// Result of `observe` and `may`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ObserveResult")]
pub(crate) struct Observed {
    /// `possible`; `violated`: no run continues with the event, and it is not added to the log; or `unknown`.
    #[schemars(extend("enum" = ["possible", "violated", "unknown"]))]
    pub verdict: &'static str,
    /// Why it is unknown.
    pub reason: Option<String>,
    /// What was possible instead.
    pub instead: Vec<String>,
    /// Why the event is not possible, and whose rule forbids it.
    pub because: Vec<BlameReport>,
    /// `observe`: goals whose status changes. `may`: all goals, with their status after the event.
    pub goals: Vec<GoalReport>,
    /// Other properties whose truth changes.
    pub facts: Vec<FactReport>,
    /// Obligations whose status changes.
    pub obligations: Vec<ObligationReport>,
    /// Number of possible states.
    pub states: u64,
}

/// Result of `obligations`: what is known after the log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ObligationsResult")]
pub(crate) struct Owed {
    /// Obligations that are owed or perhaps owed.
    pub obligations: Vec<ObligationReport>,
    /// All goals.
    pub goals: Vec<GoalReport>,
    /// All other properties.
    pub facts: Vec<FactReport>,
    /// Number of possible states.
    pub states: u64,
    /// Number of events in the log.
    pub events: u64,
    /// Why there may be more possible states.
    pub unknown: Option<String>,
}

/// Result of `close`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "CloseResult")]
pub(crate) struct Closed {
    /// Always true.
    pub closed: bool,
}

/// Parameters of `cancel`: calls of a session, or, over standard input, the call with an id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CancelParams")]
pub(crate) struct Cancel {
    /// Cancels all calls in progress on this session.
    pub session: Option<String>,
    /// Cancels the call with this id.
    #[schemars(with = "Option<CallId>")]
    pub id: Option<Box<serde_json::value::RawValue>>,
}

/// The id of a call.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used: ids are kept as they are written")]
pub(crate) enum CallId {
    /// A string.
    Text(String),
    /// A number.
    Number(f64),
}

/// Result of `cancel`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "CancelResult")]
pub(crate) struct Cancelled {
    /// Number of cancelled calls. The response to each of them is an error.
    pub cancelled: usize,
}

/// Parameters of `check_model`: files and options of `masque check`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CheckModelParams")]
pub(crate) struct CheckModel {
    /// Files in any of the languages; their names end in `.ispl`, `.bdi`, `.lcc`, `.pol` or `.mu`.
    pub files: Vec<File>,
    /// Values for the parameters of ISPL files.
    #[serde(default, deserialize_with = "each_once")]
    pub define: BTreeMap<String, i64>,
    /// Additional formulas.
    #[serde(default)]
    pub properties: Vec<String>,
    /// Options of BDI and LCC files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
    /// As `--engine`.
    pub engine: Option<String>,
    /// As `--at`.
    pub at: Option<String>,
    /// As `--strategies`.
    pub strategies: Option<String>,
    /// As `--deadlock`.
    pub deadlock: Option<String>,
    /// As `--overflow`.
    pub overflow: Option<String>,
    /// As `--evidence`.
    pub evidence: Option<String>,
    /// Limits of the call; `states` is ignored.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of methods without parameters.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// Result of `shutdown`: nothing.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ShutdownResult")]
pub(crate) struct Stopping {}
