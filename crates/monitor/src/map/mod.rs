//! Maps: how a JSON record becomes observations.
//!
//! A map is a TOML file. Each `[[event]]` whose condition a record satisfies makes one observation, or one for each
//! item of a list; a record that makes none is ignored, and counted.
//!
//! | file | does |
//! |---|---|
//! | `reader` | reads paths and templates from left to right |
//! | `path` | paths into records |
//! | `values` | the values that paths find, and named values |
//! | `condition` | conditions on records |
//! | `template` | texts and terms with places for values |
//! | `table` | TOML tables with the places of their keys |
//! | `read` | a map from its text |
//! | `apply` | the observations of a record |
//! | `plain` | records that need no map |
//! | `ready` | the maps that are part of the program |

mod apply;
mod condition;
mod path;
mod plain;
mod read;
mod reader;
mod ready;
mod table;
mod template;
mod values;

pub use apply::{BadRecord, MappedRecord};
pub use plain::{RecordForm, plain_record};
pub use read::read_map;
pub use ready::{READY_MAPS, ReadyMap, no_map};

use condition::Condition;
use path::Path;
use template::{TermTemplate, TextTemplate};
use values::NamedValue;

use masque_text::Span;

use crate::record::{Time, TimeUnit};

/// How records become observations.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Lists of records inside a line; a line without this path is one record.
    records: Option<Path>,
    session: Option<TextTemplate>,
    time: Option<Path>,
    time_unit: TimeUnit,
    /// In which order observations are used.
    pub order: Order,
    named: Vec<NamedValue>,
    /// Patterns of observable steps, in the syntax of properties; none if the map does not say which steps are.
    pub observable: Vec<Span>,
    /// Steps of an interpreted system that may happen without a record: a condition on the state before the step and
    /// on the joint action.
    pub unseen: Option<String>,
    /// Conditions on the states of an interpreted system, which records use as columns, by name.
    pub conditions: Vec<(String, String)>,
    events: Vec<EventRule>,
}

/// The order in which observations are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they arrive.
    #[default]
    Arrival,
    /// By their times.
    Time {
        /// Time in nanoseconds for which an observation waits for earlier ones; none: until the end of the input.
        window: Option<i128>,
    },
}

/// An `[[event]]` of a map.
#[derive(Clone, Debug, Default)]
struct EventRule {
    when: Condition,
    /// A list for each item of which there is an observation.
    each: Option<Path>,
    time: Option<Path>,
    /// Whether it ends its session instead of being an observation.
    is_end: bool,
    kind: Option<ObservedKind>,
    by: Option<TextTemplate>,
    from: Option<TextTemplate>,
    to: Option<TextTemplate>,
    message: Option<TermTemplate>,
    constraint: Option<TermTemplate>,
    /// Actions of a step, and values of the state after it, by column.
    columns: Vec<(String, TextTemplate)>,
}

/// The kind of an observed event of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedKind {
    /// An internal step.
    Internal,
    /// A message is sent.
    Sent,
    /// A message is received.
    Taken,
    /// A message is sent and received in one step.
    Exchanged,
}

impl ObservedKind {
    /// The kinds by the words of records and maps.
    pub const WORDS: [(&'static str, ObservedKind); 4] = [
        ("internal", ObservedKind::Internal),
        ("sent", ObservedKind::Sent),
        ("taken", ObservedKind::Taken),
        ("exchanged", ObservedKind::Exchanged),
    ];
}

/// An observation, as a record describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Key of the session; none if there is only one.
    pub session: Option<String>,
    /// Time of the event.
    pub time: Option<Time>,
    /// What was observed; none if the session ends.
    pub event: Option<ObservedEvent>,
}

/// The parts of an event that a record gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedEvent {
    /// Kind of the event.
    pub kind: Option<ObservedKind>,
    /// Id of the agent that makes a step.
    pub by: Option<String>,
    /// Id of the sender.
    pub from: Option<String>,
    /// Id of the receiver.
    pub to: Option<String>,
    /// The message, as a term of LCC in which variables match any term.
    pub message: Option<String>,
    /// A literal of the constraint of the step, as text of LCC.
    pub constraint: Option<String>,
    /// For interpreted systems: actions of the step, and values of the state after it, by column.
    pub columns: Vec<(String, String)>,
}

impl ObservedEvent {
    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let parts = [&self.by, &self.from, &self.to, &self.message, &self.constraint];
        let texts: usize = parts.into_iter().flatten().map(String::len).sum();
        let column =
            |(name, value): &(String, String)| name.len() + value.len() + size_of::<(String, String)>();
        size_of::<ObservedEvent>() + texts + self.columns.iter().map(column).sum::<usize>()
    }
}
