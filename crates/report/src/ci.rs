//! Checks for continuous integration: what SARIF, JUnit and annotations have in common.

use masque_driver::Verdict;
use masque_text::render;

use crate::trace_steps::{TraceStep, of_evidence, of_path};
use crate::wording::plural;
use crate::{DiagnosticReport, PropertyReport, RunReport, SpanReport, Subject, Text};

/// Code of the problem that a property fails.
pub(crate) const PROPERTY_FAILS: &str = "check/property-fails";
/// Code of the problem that a property is not decided.
pub(crate) const PROPERTY_UNKNOWN: &str = "check/property-unknown";
/// Code of a remark on a verdict, for example that a property holds vacuously.
pub(crate) const PROPERTY_REMARK: &str = "check/property-remark";

/// The check of one model, with what reports for continuous integration show besides its data.
#[derive(Clone, Debug)]
pub struct CiRun {
    /// Report on the check.
    pub report: RunReport,
    /// For each property, its place and its evidence as text.
    pub(crate) properties: Vec<CiProperty>,
    /// For each diagnostic, its text with excerpts of the source.
    pub(crate) rendered: Vec<String>,
    /// Whether the warnings count as errors.
    pub(crate) denies_warnings: bool,
}

/// The place of a property and its evidence.
#[derive(Clone, Debug)]
pub(crate) struct CiProperty {
    pub(crate) place: Option<SpanReport>,
    /// The evidence as text; empty if there is none.
    pub(crate) evidence: String,
}

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemLevel {
    /// The run is not successful.
    Error,
    /// Something needs attention.
    Warning,
    /// Information.
    Note,
}

/// A diagnostic, a property that fails or is unknown, or a remark on a verdict.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Code, which `masque explain` explains.
    pub code: String,
    /// Severity.
    pub level: ProblemLevel,
    /// What is wrong, in one line.
    pub summary: String,
    /// Help or evidence as text; may have several lines, or be empty.
    pub details: String,
    /// Parts of the text that the problem is about, the primary one first.
    pub spans: Vec<SpanReport>,
    /// Steps of a path that leads to the problem.
    pub(crate) steps: Vec<TraceStep>,
    /// The property, for problems of one.
    pub(crate) property: Option<PropertyReport>,
}

impl CiRun {
    /// Adds to a report what reports for continuous integration need.
    pub fn new(report: RunReport, subject: Subject<'_>, denies_warnings: bool) -> CiRun {
        let sources = &subject.loaded.sources;
        let findings = subject.findings().iter().map(|finding| &finding.diagnostic);
        let diagnostics = subject.loaded.diagnostics.iter().chain(findings);
        let rendered = diagnostics.map(|diagnostic| render(sources, diagnostic, false)).collect();
        let spans = subject.loaded.model.as_ref().map_or_else(Vec::new, |model| model.property_spans());
        let mut properties = Vec::new();
        for ((_, decision), span) in subject.answers().into_iter().zip(spans) {
            let place = Some(SpanReport::new(sources, span));
            let shown = subject.loaded.model.as_ref().zip(decision.evidence.as_ref());
            let evidence = shown.map_or_else(String::new, |(model, shown)| {
                Text::default().evidence_text(model, shown).trim_end().trim_start_matches('\n').to_string()
            });
            properties.push(CiProperty { place, evidence });
        }
        CiRun { report, properties, rendered, denies_warnings }
    }

    /// The name of the run: its first file, and the number of further files.
    pub(crate) fn name(&self) -> String {
        masque_text::first_and_others(&self.report.files)
    }

    /// The diagnostics, then the properties that fail or are unknown, and the remarks on verdicts.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> =
            self.report.diagnostics.iter().map(|diagnostic| self.of_diagnostic(diagnostic)).collect();
        for (property, ci) in self.report.properties.iter().zip(&self.properties) {
            problems.extend(of_verdict(property, ci));
            problems.extend(property.remarks.iter().map(|remark| of_remark(property, ci, remark)));
        }
        problems
    }

    fn of_diagnostic(&self, diagnostic: &DiagnosticReport) -> Problem {
        Problem {
            code: diagnostic.code.clone(),
            level: self.level(diagnostic),
            summary: diagnostic.message.clone(),
            details: diagnostic.help.iter().map(|help| format!("help: {help}")).collect(),
            spans: diagnostic.spans.clone(),
            steps: diagnostic.path.as_ref().map_or_else(Vec::new, of_path),
            property: None,
        }
    }

    /// The severity of a diagnostic. Loading that was stopped leaves no verdicts, which the exit code says too.
    pub(crate) fn level(&self, diagnostic: &DiagnosticReport) -> ProblemLevel {
        match diagnostic.severity.as_str() {
            "error" => ProblemLevel::Error,
            "warning" if self.denies_warnings => ProblemLevel::Error,
            "warning" => ProblemLevel::Warning,
            _ => ProblemLevel::Note,
        }
    }
}

/// The problem of a property that does not hold.
fn of_verdict(property: &PropertyReport, ci: &CiProperty) -> Option<Problem> {
    let (code, level) = match property.verdict {
        Verdict::Holds => return None,
        Verdict::Fails => (PROPERTY_FAILS, ProblemLevel::Error),
        Verdict::Unknown(_) => (PROPERTY_UNKNOWN, ProblemLevel::Warning),
    };
    Some(Problem {
        code: code.to_string(),
        level,
        summary: verdict_sentence(property),
        details: ci.evidence.clone(),
        spans: ci.place.iter().cloned().collect(),
        steps: property.evidence.as_ref().map_or_else(Vec::new, of_evidence),
        property: Some(property.clone()),
    })
}

fn of_remark(property: &PropertyReport, ci: &CiProperty, remark: &str) -> Problem {
    Problem {
        code: PROPERTY_REMARK.to_string(),
        level: ProblemLevel::Note,
        summary: format!("property {}: {remark}", property.title),
        details: String::new(),
        spans: ci.place.iter().cloned().collect(),
        steps: Vec::new(),
        property: Some(property.clone()),
    }
}

/// `property safe fails: AG p`
pub(crate) fn verdict_sentence(property: &PropertyReport) -> String {
    let PropertyReport { title, verdict, text, .. } = property;
    match verdict {
        Verdict::Unknown(_) => format!("property {title} is {verdict}: {text}"),
        _ => format!("property {title} {verdict}: {text}"),
    }
}

/// The first lines of a text, and the number of the others.
pub(crate) fn first_lines(text: &str, max_lines: usize) -> String {
    let n_more = text.lines().count().saturating_sub(max_lines);
    let mut lines: Vec<&str> = text.lines().take(max_lines).collect();
    let rest = format!(".. {}", plural(n_more, "more line", "more lines"));
    lines.extend((n_more > 0).then_some(rest.as_str()));
    lines.join("\n")
}
