//! Reports as SARIF 2.1.0, a standard of OASIS, for code scanning.
//!
//! One run has all models of a command. Diagnostics, properties that fail or are unknown, and remarks on verdicts
//! are results; their codes are rules, with the pages of `masque explain` as help. A counterexample is part of
//! the message, and its path is a code flow at the place of the property, whose steps have the values of all
//! variables.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use masque_driver::{codes, explain};
use serde::Serialize;

use crate::ci::{CiRun, Problem, ProblemLevel};
use crate::file_uri::{BASE_ID, FileLocation};
use crate::printable_json::write_printable_json;
use crate::trace_steps::TraceStep;
use crate::{PropertyReport, SpanReport, Text};

/// Address of the schema, by which programs recognise the format.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Maximum number of steps of a code flow. GitHub refuses files with more than 10 000 in one result.
const MAX_FLOW_STEPS: usize = 1000;

/// Writes the checks of a command as one SARIF log. `exit_code` is the exit code of the command, and `folder` the
/// one that relative paths are relative to.
pub fn sarif(out: &mut dyn Write, runs: &[CiRun], exit_code: u8, folder: &Path) -> io::Result<()> {
    let problems: Vec<(&CiRun, Problem)> =
        runs.iter().flat_map(|run| run.problems().into_iter().map(move |problem| (run, problem))).collect();
    let rules = rules(problems.iter().map(|(_, problem)| problem));
    let results = problems.iter().map(|(run, problem)| result(run, problem, &rules, folder)).collect();
    let description = message("Folder in which masque was started.");
    let run = Run {
        tool: Tool { driver: driver(&rules) },
        invocations: [invocation(runs, exit_code)],
        original_uri_base_ids: BTreeMap::from([(BASE_ID, UriBase { description })]),
        artifacts: artifacts(runs, folder),
        column_kind: "unicodeCodePoints",
        results,
    };
    write_printable_json(out, &Log { schema: SCHEMA, version: "2.1.0", runs: [run] })
}

/// The rules of all problems by their codes, each with the level of its most severe problem.
type Rules<'p> = BTreeMap<&'p str, ProblemLevel>;

fn rules<'p>(problems: impl Iterator<Item = &'p Problem>) -> Rules<'p> {
    let mut rules = Rules::new();
    for problem in problems {
        let level = rules.entry(problem.code.as_str()).or_insert(problem.level);
        *level = (*level).min(problem.level);
    }
    rules
}

fn driver(rules: &Rules<'_>) -> Driver {
    Driver {
        name: "masque",
        full_name: "Masque, a model checker for multi-agent systems",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: rules.iter().map(|(code, level)| rule(code, *level)).collect(),
    }
}

fn rule(code: &str, level: ProblemLevel) -> Rule {
    let summary = codes().find(|(known, _)| *known == code).map_or_else(|| code.to_string(), |(_, s)| s);
    let help = explain(code)
        .map(|page| Help { text: Text::default().page_text(page), markdown: plain_fences(page) });
    let text = format!("{}.", Text::default().page_text(&summary).trim_end());
    let (group, name) = code.split_once('/').unwrap_or(("", code));
    Rule {
        id: code.to_string(),
        name: name.to_string(),
        short_description: message(&text),
        full_description: message(&text),
        help,
        default_configuration: Configuration { level: level_word(level) },
        properties: RuleProperties { tags: vec![group.to_string()] },
    }
}

/// A page whose blocks of code name only their language. Our pages also mark which examples are right.
fn plain_fences(page: &str) -> String {
    let line = |line: &str| match line.strip_prefix("```").and_then(|info| info.split_once('-')) {
        Some((language, _)) => format!("```{language}"),
        None => line.to_string(),
    };
    page.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn level_word(level: ProblemLevel) -> &'static str {
    match level {
        ProblemLevel::Error => "error",
        ProblemLevel::Warning => "warning",
        ProblemLevel::Note => "note",
    }
}

/// The run of the command. It is not successful if a file has errors or masque has a bug.
fn invocation(runs: &[CiRun], exit_code: u8) -> Invocation {
    let bugs = runs.iter().flat_map(|run| run.report.bugs().collect::<Vec<_>>());
    let notification = |bug: String| Notification {
        level: "error",
        message: message(&format!("this is a bug of masque, please report it: {bug}")),
    };
    Invocation {
        execution_successful: matches!(exit_code, 0 | 1 | 3),
        exit_code,
        tool_execution_notifications: bugs.map(notification).collect(),
    }
}

/// The files of all models, each once.
fn artifacts(runs: &[CiRun], folder: &Path) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for name in runs.iter().flat_map(|run| &run.report.files) {
        let Some(location) = FileLocation::new(name, folder) else { continue };
        if artifacts.iter().all(|artifact| artifact.location != location) {
            artifacts.push(Artifact { location, roles: ["analysisTarget"] });
        }
    }
    artifacts
}

fn result(run: &CiRun, problem: &Problem, rules: &Rules<'_>, folder: &Path) -> ResultEntry {
    let (first, others) = match problem.spans.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    let primary = location(run, first, folder);
    let related = others.iter().enumerate().map(|(id, span)| Location {
        id: Some(id),
        message: span.label.as_deref().map(message),
        ..location(run, Some(span), folder)
    });
    let property = problem.property.as_ref();
    ResultEntry {
        rule_id: problem.code.clone(),
        rule_index: rules.keys().position(|code| *code == problem.code).unwrap_or_default(),
        level: level_word(problem.level),
        message: problem_message(problem),
        code_flows: code_flow(&problem.steps, &primary).into_iter().collect(),
        partial_fingerprints: property.map(|property| fingerprint(run, property)),
        properties: property.map(ResultProperties::new),
        locations: [primary],
        related_locations: related.collect(),
    }
}

/// What identifies the result in another version of the file.
fn fingerprint(run: &CiRun, property: &PropertyReport) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("masqueProperty/v1", format!("{}: {}", run.name(), property.title))])
}

/// The summary and the evidence, as text and in Markdown.
fn problem_message(problem: &Problem) -> Message {
    let Problem { summary, details, property, .. } = problem;
    if details.is_empty() {
        return message(summary);
    }
    let is_evidence = property.is_some();
    let markdown = is_evidence.then(|| {
        let fence = "`".repeat(longest_run_of_ticks(details).max(2) + 1);
        format!("{summary}\n\n{fence}text\n{details}\n{fence}\n")
    });
    let gap = if is_evidence { "\n\n" } else { "\n" };
    Message { text: format!("{summary}{gap}{details}"), markdown }
}

fn longest_run_of_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// The place of a span. A text that is no file, such as `<--property>`, is a logical location; then the physical
/// one is the first file of the model, if there is one.
fn location(run: &CiRun, span: Option<&SpanReport>, folder: &Path) -> Location {
    let of_span = span.and_then(|span| Some((span, FileLocation::new(&span.file, folder)?)));
    let physical_location = match of_span {
        Some((span, artifact_location)) => {
            Some(PhysicalLocation { artifact_location, region: Some(region(span)) })
        }
        None => run.report.files.iter().find_map(|name| {
            Some(PhysicalLocation { artifact_location: FileLocation::new(name, folder)?, region: None })
        }),
    };
    let unnamed = span.filter(|span| FileLocation::new(&span.file, folder).is_none());
    let logical_locations =
        unnamed.map(|span| LogicalLocation { name: span.file.clone(), kind: "text" }).into_iter().collect();
    Location { id: None, physical_location, logical_locations, message: None }
}

/// The region of a span. SARIF wants at least one character, except at the end of a line.
fn region(span: &SpanReport) -> Region {
    Region {
        start_line: span.start.line,
        start_column: span.start.column,
        end_line: span.end.line,
        end_column: span.end.column,
    }
}

/// The path of a counterexample. Every step is at the place of the property.
fn code_flow(steps: &[TraceStep], place: &Location) -> Option<CodeFlow> {
    if steps.is_empty() || place.physical_location.is_none() {
        return None;
    }
    let mut locations: Vec<FlowStep> = steps
        .iter()
        .take(MAX_FLOW_STEPS)
        .enumerate()
        .map(|(index, step)| flow_step(index, step, place))
        .collect();
    let n_more = steps.len().saturating_sub(MAX_FLOW_STEPS);
    if n_more > 0 {
        let rest = TraceStep { text: format!("{n_more} more steps are left out"), values: Vec::new() };
        locations.push(flow_step(locations.len(), &rest, place));
    }
    Some(CodeFlow { thread_flows: [ThreadFlow { locations }] })
}

fn flow_step(index: usize, step: &TraceStep, place: &Location) -> FlowStep {
    let state = step.values.iter().map(|(name, value)| (name.clone(), message(value))).collect();
    let location = Location { message: Some(message(&step.text)), ..place.clone() };
    FlowStep { location, execution_order: index + 1, state }
}

fn message(text: &str) -> Message {
    Message { text: text.to_string(), markdown: None }
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    invocations: [Invocation; 1],
    original_uri_base_ids: BTreeMap<&'static str, UriBase>,
    artifacts: Vec<Artifact>,
    column_kind: &'static str,
    results: Vec<ResultEntry>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    full_name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    name: String,
    short_description: Message,
    full_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Help>,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
}

#[derive(Serialize)]
struct UriBase {
    description: Message,
}

#[derive(Serialize)]
struct Artifact {
    location: FileLocation,
    roles: [&'static str; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultEntry {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_fingerprints: Option<BTreeMap<&'static str, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<ResultProperties>,
}

/// The property of a result, for programs.
#[derive(Serialize)]
struct ResultProperties {
    name: String,
    formula: String,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ResultProperties {
    fn new(property: &PropertyReport) -> ResultProperties {
        ResultProperties {
            name: property.title.clone(),
            formula: property.formula.clone(),
            verdict: property.verdict.word(),
            reason: property.reason.clone(),
        }
    }
}

#[derive(Clone, Serialize)]
struct Message {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: FileLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Clone, Serialize)]
struct LogicalLocation {
    name: String,
    kind: &'static str,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    thread_flows: [ThreadFlow; 1],
}

#[derive(Serialize)]
struct ThreadFlow {
    locations: Vec<FlowStep>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlowStep {
    location: Location,
    execution_order: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    state: BTreeMap<String, Message>,
}
