//! The records of the journal, one line of JSON each, and the session that they describe.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use masque_lcc::{CannotAdvance, Refused, Session, Setup, Snapshot, Text, Update};
use masque_monitor::EventVerdict;
use masque_text::Diagnostic;
use masque_verdict::{Budget, Stop};
use serde::{Deserialize, Serialize};

use super::imports::{ImportedFile, RestoredImports};
use crate::held::Held;
use crate::interact::Happened;
use crate::protocol::{Advance, Observe, ObservedLike};

/// A record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    /// Number of sessions that were opened before: names of sessions are not used again.
    Count { opened: u64 },
    /// A session was opened.
    Open { session: String, opening: Box<Opening> },
    /// A session was changed.
    Change { session: String, change: Change },
    /// All changes of a session so far.
    Snapshot {
        session: String,
        removed: Vec<String>,
        added: Vec<String>,
        learned: Vec<String>,
        state: Vec<String>,
        /// Id of the interaction, if a tuple gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interaction: Option<String>,
    },
    /// A session was closed.
    Close { session: String },
}

/// What a session was opened with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Opening {
    files: Vec<(String, String)>,
    properties: Vec<(String, String)>,
    options: Vec<(String, String)>,
    /// The imported files, as they were.
    pub(super) imports: Vec<ImportedFile>,
}

/// A change of a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// Statements were added and removed.
    Update { add: Vec<String>, remove: Vec<String>, n_added: usize, n_removed: usize },
    /// An event happened, which has this label.
    Advance { event: Advance, label: String },
    /// An event was observed, with this verdict.
    Observe { event: ObservedLike, observable: Option<Vec<String>>, verdict: String },
    /// The state was set.
    Place { statements: String },
}

impl Change {
    /// An update that added and removed these numbers of statements.
    pub(crate) fn updated(update: &Update, n_added: usize, n_removed: usize) -> Change {
        let Update { add, remove } = update.clone();
        Change::Update { add, remove, n_added, n_removed }
    }
}

/// What a record does to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Count(u64),
    Open,
    Change,
    Snapshot,
    Close,
}

impl Record {
    /// The record in one line.
    pub(super) fn line(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|error| error.to_string())
    }

    pub(super) fn parse(line: &[u8]) -> Result<Record, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Record::Count { opened } => Kind::Count(*opened),
            Record::Open { .. } => Kind::Open,
            Record::Change { .. } => Kind::Change,
            Record::Snapshot { .. } => Kind::Snapshot,
            Record::Close { .. } => Kind::Close,
        }
    }

    /// The session of the record; empty for a count.
    pub(super) fn session(&self) -> &str {
        match self {
            Record::Count { .. } => "",
            Record::Open { session, .. }
            | Record::Change { session, .. }
            | Record::Snapshot { session, .. }
            | Record::Close { session } => session,
        }
    }

    pub(super) fn snapshot(session: &str, snapshot: Snapshot) -> Record {
        let Snapshot { removed, added, learned, state, interaction } = snapshot;
        Record::Snapshot { session: session.to_string(), removed, added, learned, state, interaction }
    }
}

impl Opening {
    /// The texts and options of a setup, without imports.
    pub(super) fn new(setup: &Setup) -> Opening {
        let pair = |text: &Text| (text.name.clone(), text.text.clone());
        Opening {
            files: setup.files.iter().map(pair).collect(),
            properties: setup.properties.iter().map(pair).collect(),
            options: setup.options.clone(),
            imports: Vec::new(),
        }
    }

    fn setup(self, limits: masque_lcc::Limits) -> Setup {
        let text = |(name, text): (String, String)| Text::new(name, text);
        Setup {
            files: self.files.into_iter().map(text).collect(),
            properties: self.properties.into_iter().map(text).collect(),
            options: self.options,
            limits,
            library: Some(Arc::new(RestoredImports::new(self.imports))),
        }
    }
}

/// The limits of restoring a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestoreLimits {
    /// The limits of the session.
    pub(super) session: masque_lcc::Limits,
    /// Time limit of a call.
    pub(super) time: Duration,
}

/// A record is the work of one call. It may take this many times the time limit of a call, because the service may
/// restart on a slower or busier machine.
const RESTORE_TIME_FACTOR: u32 = 10;

impl RestoreLimits {
    /// The budget of one record.
    fn budget(&self) -> Budget {
        let budget = Budget::default().with_timeout(self.time.saturating_mul(RESTORE_TIME_FACTOR));
        match self.session.memory {
            Some(bytes) => budget.with_memory(bytes),
            None => budget,
        }
    }
}

/// The session that records describe: an opening, then changes.
pub(super) fn restored(lines: &[Vec<u8>], limits: RestoreLimits) -> Result<Held, String> {
    let mut session: Option<Held> = None;
    for line in lines {
        let budget = limits.budget();
        match (Record::parse(line)?, &mut session) {
            (Record::Open { opening, .. }, None) => {
                let opened = Session::open_within(&opening.setup(limits.session), &budget);
                session = Some(Held::from(opened.map_err(|refused| match refused.stopped {
                    Some(stop) => stopped(stop),
                    None => first(&refused.diagnostics),
                })?));
            }
            (Record::Change { change, .. }, Some(session)) => repeat(session, change, &budget)?,
            (Record::Snapshot { removed, added, learned, state, interaction, .. }, Some(session)) => {
                let snapshot = Snapshot { removed, added, learned, state, interaction };
                session.restore_within(&snapshot, &budget).map_err(refusal)?;
            }
            _ => return Err("its records are in the wrong order".to_string()),
        }
        // Some steps do not check the clock.
        budget.check().map_err(stopped)?;
    }
    session.ok_or_else(|| "it has no records".to_string())
}

/// Makes a recorded change again. The result must be the recorded one.
fn repeat(session: &mut Held, change: Change, budget: &Budget) -> Result<(), String> {
    let is_same = match change {
        Change::Update { add, remove, n_added, n_removed } => {
            let done = session.update_within(&Update { add, remove }, budget).map_err(refusal)?;
            (done.added, done.removed) == (n_added, n_removed)
        }
        Change::Advance { event, label } => {
            let happened = Happened::new(event).map_err(|fault| fault.message)?;
            let event =
                session.advance_within(&happened.selector, budget).map_err(|cannot| match cannot {
                    CannotAdvance::Stopped(stop) => stopped(stop),
                    cannot => cannot.to_string(),
                })?;
            event.label == label
        }
        Change::Observe { event, observable, verdict } => {
            let params = Observe { session: String::new(), event, observable };
            let judgement = session.add(&params, budget).map_err(|fault| fault.message)?;
            let again = match judgement.event {
                EventVerdict::Possible => "possible",
                EventVerdict::Violated(_) => "violated",
                EventVerdict::Unknown(_) => "unknown",
            };
            again == verdict
        }
        Change::Place { statements } => {
            session.place_within(&statements, budget).map_err(refusal)?;
            true
        }
    };
    if is_same { Ok(()) } else { Err("a change has another result than before".to_string()) }
}

/// The message about a refused text.
fn refusal(refused: Refused) -> String {
    match refused {
        Refused::Invalid(diagnostics) => first(&diagnostics),
        Refused::Stopped(stop) => stopped(stop),
    }
}

/// The message about an exceeded limit.
fn stopped(stop: Stop) -> String {
    format!(
        "one of its calls exceeds the limits of restoring ({}); raise `--timeout` or `--memory`",
        stop.why.word()
    )
}

/// The message of the first error.
fn first(diagnostics: &[Diagnostic]) -> String {
    let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
    error.map_or_else(|| "its texts are refused".to_string(), |error| error.message.clone())
}

/// The number of a session with a name such as `s12`.
pub(super) fn number(session: &str) -> u64 {
    session.strip_prefix('s').and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// A path as text, for error messages.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
