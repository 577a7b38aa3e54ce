//! Diagnostics as data.

use masque_driver::{Diagnostic, Finding, Sources, System};
use masque_text::{Label, Location, Span};
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::PathReport;

/// A message about the input or about the behaviour of the model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiagnosticReport {
    /// Stable code, which `masque explain CODE` explains.
    pub code: String,
    /// `error`, `warning` or `note`.
    #[schemars(extend("enum" = ["error", "warning", "note"]))]
    pub severity: String,
    /// Sentence without a full stop.
    pub message: String,
    /// Suggestion for the author.
    pub help: Option<String>,
    /// Parts of the text that the message is about, the primary one first.
    pub spans: Vec<SpanReport>,
    /// For a message about the behaviour: a shortest path to it.
    pub path: Option<PathReport>,
}

/// A part of a source text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpanReport {
    /// Name of the file as given by the user, or `<-D>` or `<--property>`.
    pub file: String,
    /// Position of the first character.
    pub start: PlaceReport,
    /// Position after the last character.
    pub end: PlaceReport,
    /// Text of the label.
    pub label: Option<String>,
    /// Whether this is the primary part, not one that only explains it.
    pub primary: bool,
}

/// A position in a text.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct PlaceReport {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl From<Location> for PlaceReport {
    fn from(location: Location) -> Self {
        PlaceReport { line: location.line, column: location.column }
    }
}

impl DiagnosticReport {
    /// Reports a diagnostic about the text.
    pub fn new(sources: &Sources, diagnostic: &Diagnostic) -> Self {
        let primary = diagnostic.primary.iter().map(|label| span(sources, label, true));
        let secondary = diagnostic.secondary.iter().map(|label| span(sources, label, false));
        DiagnosticReport {
            code: diagnostic.code.to_string(),
            severity: diagnostic.severity.name().to_string(),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            spans: primary.chain(secondary).collect(),
            path: None,
        }
    }

    /// Reports a diagnostic about the behaviour.
    pub(crate) fn of_finding(sources: &Sources, system: Option<&System>, finding: &Finding) -> Self {
        let path = system.and_then(|system| PathReport::of_finding(system, finding));
        DiagnosticReport { path, ..Self::new(sources, &finding.diagnostic) }
    }
}

impl SpanReport {
    /// Reports a part of a text, as the primary one and without a label.
    pub(crate) fn new(sources: &Sources, span: Span) -> Self {
        let (start, end) = sources.locate(span);
        let file = sources.name(sources.file_of(span)).to_string();
        SpanReport { file, start: start.into(), end: end.into(), label: None, primary: true }
    }
}

fn span(sources: &Sources, Label { span, text }: &Label, primary: bool) -> SpanReport {
    let label = (!text.is_empty()).then(|| text.clone());
    SpanReport { label, primary, ..SpanReport::new(sources, *span) }
}
