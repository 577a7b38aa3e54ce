//! The methods, what they take and what they give: schema `masque.broker/1`.
//!
//! Fields may be added to results, never renamed without a new schema name. A parameter that is not
//! known is an error: it may have been meant to change the answer.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use masque_report::{DiagnosticReport, Entries, EventReport, TraceReport};
use schemars::JsonSchema;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::fault::{Move, brief};

/// The name and version of the protocol.
pub const BROKER_SCHEMA: &str = "masque.broker/1";

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Opens a session.
    Open,
    /// Decides properties where the interaction is now.
    Check,
    /// Changes rules and facts.
    Update,
    /// Lists what can happen now.
    Moves,
    /// Follows what happened.
    Advance,
    /// Goes to a given state.
    Place,
    /// Tells the state.
    State,
    /// Finds teams that work.
    Teams,
    /// Shows why a property holds or fails, or what a diagnostic means.
    Explain,
    /// Closes a session.
    Close,
    /// Cancels calls under way.
    Cancel,
    /// Checks a model of any language in a process of its own.
    CheckModel,
    /// Ends the service.
    Shutdown,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 13] = [
        Method::Open,
        Method::Check,
        Method::Update,
        Method::Moves,
        Method::Advance,
        Method::Place,
        Method::State,
        Method::Teams,
        Method::Explain,
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
            Method::Close => "close",
            Method::Cancel => "cancel",
            Method::CheckModel => "check_model",
            Method::Shutdown => "shutdown",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// A text with its name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// What diagnostics call it.
    pub name: String,
    /// What it says.
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

/// What a call may use; less than what the service grants, or else that.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    /// Seconds from the moment the work is begun.
    pub seconds: Option<f64>,
    /// States that are looked at.
    pub states: Option<u64>,
    /// Bytes that the session, or the child process, may hold.
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
    /// Options that take the place of those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
}

/// Result of `open`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "OpenResult")]
pub(crate) struct Opened {
    /// The name by which other calls refer to the session.
    pub session: String,
    /// The ids of the team.
    pub agents: Vec<String>,
    /// The properties of the instance.
    pub properties: Vec<PropertyName>,
    /// The options in force that are not at their default.
    pub options: Entries<String>,
    /// Warnings and notes about the texts.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// A property of an instance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PropertyName {
    /// Its name.
    pub name: String,
    /// Its formula.
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
    /// Whether runs that show the verdicts are wanted; they cost more than verdicts.
    #[serde(default)]
    pub evidence: bool,
    /// What may be used.
    #[serde(default)]
    pub limits: Allowed,
}

/// Result of `check`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "CheckResult")]
pub(crate) struct Checked {
    /// One for each property.
    pub answers: Vec<Answer>,
    /// What is both permitted and forbidden, in what was looked at.
    pub conflicts: Vec<String>,
    /// Constraints of which an agent knows nothing, in what was looked at.
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
    /// What is to be said beside the verdict, such as a pattern that matches nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// A run that shows the verdict, if one was asked for and there is one to show.
    pub evidence: Option<TraceReport>,
    /// Why a run is withheld: it does not replay. That is a bug of masque; the verdict stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_withheld: Option<String>,
    /// States that were looked at.
    pub states: u64,
    /// Pairs of a state and a part of the formula that were looked at.
    pub positions: u64,
    /// Whether an earlier answer still stands, so that nothing was done.
    pub kept: bool,
    /// States whose successors were computed for this answer.
    pub lists: u64,
}

/// Parameters of `update`. All of it happens, or nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UpdateParams")]
pub(crate) struct Update {
    /// The session.
    pub session: String,
    /// Statements that are true from now on: `common`, `know`, `rule`, `choice`.
    #[serde(default)]
    pub add: Vec<String>,
    /// Statements that no longer are.
    #[serde(default)]
    pub remove: Vec<String>,
}

/// Result of `update`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "UpdateResult")]
pub(crate) struct Updated {
    /// Statements that were not there before.
    pub added: usize,
    /// Statements that are gone.
    pub removed: usize,
    /// Situations of single agents, among those known, that may have changed by it.
    pub situations: usize,
    /// Warnings about the added statements.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// Parameters of methods that take a session and nothing else.
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
    /// What can happen now, in a fixed order.
    pub moves: Vec<Move>,
    /// The bound beyond which there may be more.
    pub cut: Option<String>,
}

/// Parameters of `advance`: what happened, in one of four ways.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
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
    /// What the event is like.
    pub event: Option<EventLike>,
}

/// What an event is like; what is left out may be anything.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventLike {
    /// What kind of event it is.
    pub kind: Option<EventKind>,
    /// The message, as a term; `_` stands for anything.
    pub message: Option<String>,
    /// The sender, or who makes an internal step.
    pub from: Option<String>,
    /// The receiver.
    pub to: Option<String>,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventKind {
    /// An agent makes an internal step.
    Internal,
    /// A message is sent.
    Sent,
    /// A message is taken from those under way.
    Taken,
    /// A message is sent and taken in one step.
    Exchanged,
}

/// Result of `advance`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AdvanceResult")]
pub(crate) struct Advanced {
    /// What happened.
    pub event: EventReport,
    /// Whether everybody has finished.
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
    /// `now` and `mail` statements. An agent that none of them names is where it begins.
    pub statements: Vec<String>,
}

/// Result of `place` and `state`: where the interaction is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "StateResult")]
pub(crate) struct State {
    /// `now` and `mail` statements, which `place` takes.
    pub statements: Vec<String>,
    /// Whether everybody has finished.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Why nothing can happen, agent by agent; empty if something can, or everybody has finished.
    pub blame: Vec<String>,
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
    /// What may be used.
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
    /// The verdict, and the run that shows it.
    pub answer: Answer,
    /// The run as a chart of who sends what to whom, in plain characters.
    pub chart: Option<String>,
    /// If the run ends in a dead end: which agent, which rule.
    pub blame: Vec<String>,
}

/// What a diagnostic means.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Page {
    /// The code.
    pub code: String,
    /// What it means, an example, and what to do.
    pub page: String,
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
    /// All calls under way that are about this session.
    pub session: Option<String>,
    /// The call with this id.
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
    /// How many calls were cancelled. Each of them is answered with an error.
    pub cancelled: usize,
}

/// Parameters of `check_model`: what `masque check` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CheckModelParams")]
pub(crate) struct CheckModel {
    /// Files in any of the languages; their names end in `.ispl`, `.bdi`, `.lcc`, `.pol` or `.mu`.
    pub files: Vec<File>,
    /// Values for the parameters of ISPL files.
    #[serde(default, deserialize_with = "each_once")]
    pub define: BTreeMap<String, i64>,
    /// More formulas.
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
    /// What may be used; `states` is not for models.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of methods that take none.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// Result of `shutdown`: nothing.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ShutdownResult")]
pub(crate) struct Stopping {}
