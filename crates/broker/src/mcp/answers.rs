//! The structured answers of tools. Each has the parameters that were used, after defaults and limits.

use std::collections::BTreeMap;

use masque_driver::{Diagnostic, Sources};
use masque_report::{CheckReport, Text, WhyReport};
use masque_text::Span;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::protocol::{Closed, Observed, Opened};
use crate::team::Found;

/// What a call used.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Resolved {
    /// Names of the files of the model.
    pub files: Vec<String>,
    /// `ispl`, `bdi`, `lcc` or `aut`; null if it is not known.
    pub language: Option<String>,
    /// Parameters of the model with their values.
    pub parameters: BTreeMap<String, i64>,
    /// Options whose values are not the defaults.
    pub options: BTreeMap<String, String>,
    /// Time limit of the call in seconds.
    pub seconds: f64,
    /// Memory limit of the call in bytes.
    pub memory: u64,
}

/// A message about a text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Marked {
    /// Stable code; the tool `explain` has a page about it.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What would be accepted, or what may have been meant.
    pub help: Option<String>,
    /// Name of the file.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The message with the line of the text and a caret below it.
    pub excerpt: String,
    /// A change of the text that removes the reason for the message.
    pub fix: Option<FixAnswer>,
}

/// A change of texts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FixAnswer {
    /// The change in a few words.
    pub title: String,
    /// Its parts, in the order of the text.
    pub edits: Vec<Edit>,
}

/// A part of a text, and what replaces it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Edit {
    /// Name of the file.
    pub file: String,
    /// Line of the first character, from 1.
    pub line: u32,
    /// Column of the first character, from 1.
    pub column: u32,
    /// Line after the last character, from 1.
    pub end_line: u32,
    /// Column after the last character, from 1.
    pub end_column: u32,
    /// The text that replaces this part.
    pub text: String,
}

/// Maximum number of messages in an answer; errors come first.
const MAX_MARKED: usize = 50;

impl Marked {
    /// The messages of a load, errors first.
    pub(crate) fn all(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<Marked> {
        let (errors, others): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|found| found.is_error());
        errors.into_iter().chain(others).take(MAX_MARKED).map(|found| Marked::new(sources, found)).collect()
    }

    fn new(sources: &Sources, found: &Diagnostic) -> Marked {
        let start = found.primary.as_ref().map(|label| place(sources, label.span));
        let mut excerpt = Vec::new();
        // Writing to a vector cannot fail.
        _ = Text::default().diagnostics(&mut excerpt, sources, [found]);
        let edit = |(span, text): &(Span, String)| {
            let ((file, line, column), end) = (place(sources, *span), sources.locate(*span).1);
            Edit { file, line, column, end_line: end.line, end_column: end.column, text: text.clone() }
        };
        let fix = found.fix_in(sources);
        Marked {
            code: found.code.to_string(),
            severity: found.severity.name().to_string(),
            message: found.message.clone(),
            help: found.help.clone(),
            file: start.as_ref().map(|(file, ..)| file.clone()),
            line: start.as_ref().map(|(_, line, _)| *line),
            column: start.as_ref().map(|(.., column)| *column),
            excerpt: String::from_utf8_lossy(&excerpt).trim_end().to_string(),
            fix: fix.map(|fix| FixAnswer { edits: fix.edits.iter().map(edit).collect(), title: fix.title }),
        }
    }
}

/// The file, line and column at which a span begins.
fn place(sources: &Sources, span: Span) -> (String, u32, u32) {
    let start = sources.locate(span).0;
    (sources.name(sources.file_of(span)).to_string(), start.line, start.column)
}

/// Answer of `check`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Checked {
    /// What the call used.
    pub used: Resolved,
    /// Messages about the texts, with excerpts and fixes.
    pub diagnostics: Vec<Marked>,
    /// Whether evidence was removed because the report would be too long; `only` asks for one property.
    pub evidence_removed: bool,
    /// The report.
    #[schemars(with = "CheckReport")]
    pub report: Value,
}

/// Answer of `why`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "WhyAnswer")]
pub(crate) struct WhyAnswer {
    /// What the call used.
    pub used: Resolved,
    /// Messages about the texts, with excerpts and fixes.
    pub diagnostics: Vec<Marked>,
    /// Whether evidence was removed because the report would be too long; `only` asks for one property.
    pub evidence_removed: bool,
    /// The report.
    #[schemars(with = "WhyReport")]
    pub report: Value,
}

/// Answer of `explain`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    /// The code, if one was given.
    pub code: Option<String>,
    /// Its page, or a line for each code.
    pub page: String,
}

/// Answer of `fmt`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FormatAnswer {
    /// What the call used.
    pub used: Resolved,
    /// The files, in the order of the call.
    pub files: Vec<FormattedFile>,
    /// Messages about the texts that cannot be formatted.
    pub diagnostics: Vec<Marked>,
}

/// A formatted file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FormattedFile {
    /// Name of the file.
    pub name: String,
    /// The text in the standard layout; null if it has errors.
    pub text: Option<String>,
    /// Whether this differs from the given text.
    pub changed: bool,
}

/// Answer of `simulate`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Walked {
    /// What the call used.
    pub used: Resolved,
    /// Messages about the texts, with excerpts and fixes.
    pub diagnostics: Vec<Marked>,
    /// The choices that were taken, with the state after each; the last ones if there are many.
    pub taken: Vec<Taken>,
    /// Number of all choices that were taken.
    pub n_taken: usize,
    /// Values of the state in which the walk is; null before an initial state is chosen.
    pub state: Option<BTreeMap<String, String>>,
    /// The choices here; none if the walk has ended or the model is stuck.
    pub choices: Vec<Offered>,
    /// Why there may be more choices, if there may be.
    pub more: Option<String>,
    /// Why a step was not taken, if one was not.
    pub refused: Option<String>,
}

/// A choice that was taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Taken {
    /// Its label.
    pub label: String,
    /// Values of the state after it that differ from those before it.
    pub changes: BTreeMap<String, String>,
}

/// A choice.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Offered {
    /// Its number, from 1.
    pub number: usize,
    /// Its label.
    pub label: String,
}

/// Answer of `replay`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayAnswer {
    /// What the call used.
    pub used: Resolved,
    /// Messages about the texts and the trace, with excerpts.
    pub diagnostics: Vec<Marked>,
    /// The runs of the trace.
    pub runs: Vec<ReplayedRun>,
    /// Number of further runs that were not replayed, because the answer would be too long.
    pub runs_left_out: usize,
}

/// The replay of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayedRun {
    /// The property that the run is evidence for; empty if the trace does not say.
    pub property: String,
    /// `confirmed`, `leaves` the model, or `unknown`.
    #[schemars(extend("enum" = ["confirmed", "leaves", "unknown"]))]
    pub verdict: &'static str,
    /// Number of states of the run.
    pub states: usize,
    /// Where it leaves the model, or the limit that was hit.
    pub reason: Option<String>,
    /// What was possible there.
    pub possible: Vec<String>,
}

/// Answer of `teams`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TeamsAnswer {
    /// What the call used.
    pub used: Resolved,
    /// The teams.
    #[schemars(with = "Found")]
    pub report: Value,
}

/// What a call on a session used.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SessionUsed {
    /// The session. It is closed when it has not been used for a while.
    pub session: String,
    /// Time limit of the call in seconds.
    pub seconds: f64,
    /// Memory limit of the session and the call in bytes.
    pub memory: u64,
}

/// Answer of `monitor_open`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct OpenAnswer {
    /// What the call used.
    pub used: SessionUsed,
    /// The session that was opened.
    #[schemars(with = "Opened")]
    pub report: Value,
}

/// Answer of `observe` and `may`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ObserveAnswer {
    /// What the call used.
    pub used: SessionUsed,
    /// Whether the event is possible, and what it means for goals and obligations.
    #[schemars(with = "Observed")]
    pub report: Value,
}

/// Answer of `monitor_close`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CloseAnswer {
    /// What the call used.
    pub used: SessionUsed,
    /// That the session is closed.
    #[schemars(with = "Closed")]
    pub report: Value,
}
