//! Diagnostics as data.

use masque_driver::{Diagnostic, Finding, Sources, System};
use masque_text::{Label, Location};
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::PathReport;

/// One message about the input or the model's behaviour.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiagnosticReport {
    /// Stable; `masque explain CODE` tells more.
    pub code: String,
    /// `error`, `warning` or `note`.
    #[schemars(extend("enum" = ["error", "warning", "note"]))]
    pub severity: String,
    /// One sentence without a full stop.
    pub message: String,
    /// What the author may have meant, or may do.
    pub help: Option<String>,
    /// The places it speaks of; the primary one first.
    pub spans: Vec<SpanReport>,
    /// For what a check finds: a shortest path to it.
    pub path: Option<PathReport>,
}

/// A part of a source text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpanReport {
    /// A file as it was named, `<-D>` or `<--property>`.
    pub file: String,
    /// Its first character.
    pub start: PlaceReport,
    /// One past its last character.
    pub end: PlaceReport,
    /// What is to be said of it.
    pub label: Option<String>,
    /// Whether this is the place itself, not the other half of the story.
    pub primary: bool,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct PlaceReport {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

impl From<Location> for PlaceReport {
    fn from(place: Location) -> Self {
        PlaceReport { line: place.line, column: place.column }
    }
}

impl DiagnosticReport {
    /// A diagnostic of the text.
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

    /// A diagnostic of the behaviour.
    pub(crate) fn of_finding(sources: &Sources, system: Option<&System>, finding: &Finding) -> Self {
        let path = system.and_then(|system| PathReport::of_finding(system, finding));
        DiagnosticReport { path, ..Self::new(sources, &finding.diagnostic) }
    }
}

fn span(sources: &Sources, Label { span, text }: &Label, primary: bool) -> SpanReport {
    let (start, end) = sources.locate(*span);
    SpanReport {
        file: sources.name(sources.file_of(*span)).to_string(),
        start: start.into(),
        end: end.into(),
        label: (!text.is_empty()).then(|| text.clone()),
        primary,
    }
}
