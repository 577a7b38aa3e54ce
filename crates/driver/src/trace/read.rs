//! Trace files: reports of `masque check --format json`, and traces in the Informal Trace Format.
//!
//! [ITF](https://apalache-mc.org/docs/adr/015adr-trace.html) is the JSON format of Apalache and Quint: a list of
//! states, each with the values of named variables, and the index at which a loop begins.

use std::path::Path;

use masque_text::{Diagnostic, Sources, Span};
use serde_json::Value;

use super::evidence_runs::{EvidenceRuns, LeftOut, read_evidence, steps_not_given};
use super::json_node::{Fault, Node};
use super::{TraceAction, TraceRun, TraceState, TraceStep, TraceValue};
use crate::check::Limits;
use crate::reading::{Unread, read_text_within, within};
use crate::{Refused, Why, file};

/// Maximum size of a trace file, in bytes.
pub const MAX_TRACE_BYTES: u64 = 256 << 20;
/// Estimate of the memory that one byte of JSON needs when it is read: `0,` becomes a value of 32 bytes.
const MEMORY_PER_BYTE: u64 = 24;
/// Name of the format of reports.
const REPORT_SCHEMA: &str = "masque.check/1";

/// The runs of a trace file.
#[derive(Debug)]
pub struct TraceFile {
    /// The text of the file, for messages.
    pub sources: Sources,
    span: Span,
    /// The models whose runs the file has.
    pub models: Vec<TracedModel>,
}

/// The runs of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedModel {
    /// Names of the model's files, if the trace file gives them.
    pub files: Vec<String>,
    /// Parameters with their values.
    pub parameters: Vec<(String, i64)>,
    /// The properties with evidence. An ITF file is one property without a name.
    pub properties: Vec<PropertyRuns>,
}

/// The runs for one property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyRuns {
    /// Name of the property; empty if it is not known.
    pub name: String,
    /// Unique name, as in `safe[i=2]`.
    pub title: String,
    /// The runs.
    pub runs: Vec<TraceRun>,
    /// What the evidence has besides runs.
    pub left_out: LeftOut,
}

/// Why a trace file cannot be used.
#[derive(Debug)]
pub enum UnreadTrace {
    /// It is missing, is not a trace, or does not fit the model.
    Refused(Box<Refused>),
    /// A limit was hit.
    Stopped(Why),
}

impl TraceFile {
    /// The message about a mistake in the file.
    pub(crate) fn diagnostic(&self, fault: &Fault) -> Diagnostic {
        let span = self.range_span(fault.place.range(self.sources.slice(self.span)));
        Diagnostic::error("trace/unfit", span, fault.message.clone())
            .label(format!("at {}", fault.place))
            .help(fault.help.clone())
    }

    /// The refusal of the whole file.
    fn refused(self, diagnostic: Diagnostic) -> UnreadTrace {
        UnreadTrace::Refused(Refused { sources: self.sources, diagnostics: vec![diagnostic] }.into())
    }

    fn range_span(&self, range: std::ops::Range<usize>) -> Span {
        self.span.slice(range.start as u32, range.end as u32)
    }
}

/// Reads a trace file, or standard input if the path is `-`.
///
/// # Errors
///
/// If the file cannot be read within the limits, or is not a trace.
pub fn read_traces(path: &Path, limits: &Limits) -> Result<TraceFile, UnreadTrace> {
    let text = read_text_within(path, MAX_TRACE_BYTES, limits).map_err(|unread| match unread {
        Unread::Stopped(why) => UnreadTrace::Stopped(why),
        Unread::Refused(diagnostic) => nowhere(*diagnostic),
    })?;
    if limits.allowed_memory().is_some_and(|memory| text.len() as u64 > memory / MEMORY_PER_BYTE) {
        return Err(UnreadTrace::Stopped(Why::Memory));
    }
    let mut sources = Sources::default();
    let name = file::display_name(path);
    let Ok(id) = sources.add(&name, text) else { return Err(nowhere(file::too_large(&name))) };
    let span = sources.span(id);
    let trace_file = TraceFile { sources, span, models: Vec::new() };
    let text = trace_file.sources.slice(span).to_string();
    match within(limits, move |_| parse(&text)).map_err(UnreadTrace::Stopped)? {
        Ok(models) => Ok(TraceFile { models, ..trace_file }),
        Err(Unparsed::Syntax(range, message)) => {
            let span = trace_file.range_span(range);
            Err(trace_file.refused(Diagnostic::error("trace/not-json", span, message)))
        }
        Err(Unparsed::Fault(fault)) => {
            let diagnostic = trace_file.diagnostic(&fault);
            Err(trace_file.refused(diagnostic))
        }
    }
}

fn nowhere(diagnostic: Diagnostic) -> UnreadTrace {
    UnreadTrace::Refused(Refused { sources: Sources::default(), diagnostics: vec![diagnostic] }.into())
}

/// Why a text is not a trace file.
enum Unparsed {
    Syntax(std::ops::Range<usize>, String),
    Fault(Fault),
}

impl From<Fault> for Unparsed {
    fn from(fault: Fault) -> Unparsed {
        Unparsed::Fault(fault)
    }
}

fn parse(text: &str) -> Result<Vec<TracedModel>, Unparsed> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let at = offset(text, error.line(), error.column());
        // The place is shown by the diagnostic itself.
        let message = error.to_string();
        let message = masque_text::without_place(&message, error.line(), error.column());
        Unparsed::Syntax(at..at, format!("this is not JSON: {message}"))
    })?;
    let root = Node::root(&value);
    if root.field("schema").is_some_and(|schema| schema.value == REPORT_SCHEMA) {
        return Ok(report(&root)?);
    }
    if root.field("states").is_some() && root.field("vars").is_some() {
        return Ok(vec![itf(&root)?]);
    }
    let message = "this is neither a report of `masque check --format json` nor an ITF trace";
    let help = "a report has `\"schema\": \"masque.check/1\"`, a trace has `vars` and `states`";
    Err(Fault::new(root.place, message).help(Some(help.to_string())).into())
}

/// The byte offset of a line and a column that count from 1; columns count bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Reads a report.
fn report(root: &Node<'_>) -> Result<Vec<TracedModel>, Fault> {
    root.need("runs")?.items()?.iter().map(report_run).collect()
}

fn report_run(run: &Node<'_>) -> Result<TracedModel, Fault> {
    let files = run.need("files")?.items()?;
    let files = files.iter().map(|file| Ok(file.text()?.to_string())).collect::<Result<_, Fault>>()?;
    let mut parameters = Vec::new();
    if let Some(node) = run.field("parameters") {
        for (name, value) in node.fields()? {
            let value = value
                .as_i64()
                .ok_or_else(|| Node { value, place: node.place.field(name) }.expected("an integer"))?;
            parameters.push((name.to_string(), value));
        }
    }
    let mut properties = Vec::new();
    for property in run.need("properties")?.items()? {
        let Some(evidence) = property.field("evidence") else { continue };
        let name = property.need("name")?.text()?.to_string();
        let EvidenceRuns { runs, left_out } = read_evidence(&evidence)?;
        let title = title(&name, property.field("index"))?;
        properties.push(PropertyRuns { name, title, runs, left_out });
    }
    Ok(TracedModel { files, parameters, properties })
}

/// The unique name of a property: `safe[i=2]` for an instance of a formula in a loop.
fn title(name: &str, index: Option<Node<'_>>) -> Result<String, Fault> {
    let Some(index) = index else { return Ok(name.to_string()) };
    let values: Vec<String> = index.fields()?.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(format!("{name}[{}]", values.join(",")))
}

/// Reads a trace in ITF.
fn itf(root: &Node<'_>) -> Result<TracedModel, Fault> {
    let params = root.field("params").map_or(Ok(Vec::new()), |params| params.items())?;
    let params: Vec<&str> = params.iter().map(Node::text).collect::<Result<_, _>>()?;
    let nodes = root.need("states")?;
    let nodes_place = nodes.place.clone();
    let nodes = nodes.items()?;
    if nodes.is_empty() {
        return Err(Fault::new(nodes_place, "this trace has no states"));
    }
    for variable in root.need("vars")?.items()? {
        variable.text()?;
    }
    let back_to = root.field("loop").map(|back| back.index(nodes.len())).transpose()?;
    let mut parameters = Vec::new();
    let mut states = Vec::new();
    let mut steps = steps_not_given(&nodes_place, nodes.len(), back_to);
    for (index, node) in nodes.iter().enumerate() {
        let mut state = TraceState { place: node.place.clone(), values: Vec::new() };
        for (name, value) in node.fields()? {
            let field = Node { value, place: node.place.field(name) };
            match name {
                "#meta" => {}
                _ if params.contains(&name) => parameters.extend(parameter(name, &field)?),
                _ => state.values.push((name.to_string(), itf_value(&field)?)),
            }
        }
        states.push(state);
        let meta = node.field("#meta");
        if let (Some(step), Some(meta)) = (steps.get_mut(index), meta) {
            *step = itf_step(&meta)?.unwrap_or_else(|| step.clone());
        }
    }
    let meta = root.field("#meta");
    let text = |name: &str| -> Result<Option<String>, Fault> {
        let field = meta.as_ref().and_then(|meta| meta.field(name));
        field.map(|field| Ok(field.text()?.to_string())).transpose()
    };
    let title = text("property").unwrap_or_default().unwrap_or_default();
    let run = TraceRun { world: text("world")?, states, steps, back_to };
    let property = PropertyRuns { name: title.clone(), title, runs: vec![run], left_out: LeftOut::default() };
    Ok(TracedModel { files: Vec::new(), parameters, properties: vec![property] })
}

/// Reads the value of a parameter; `None` if it is not an integer and so not a parameter of ours.
fn parameter(name: &str, field: &Node<'_>) -> Result<Option<(String, i64)>, Fault> {
    match itf_value(field)? {
        TraceValue::Integer(digits) => Ok(digits.parse().ok().map(|value| (name.to_string(), value))),
        _ => Err(field.expected("an integer, as parameters of models are integers")),
    }
}

/// Reads the step from a state, which we write as `action` beside the index of the state.
fn itf_step(meta: &Node<'_>) -> Result<Option<TraceStep>, Fault> {
    let place = meta.place.field("action");
    let Some(value) = meta.value.get("action") else { return Ok(None) };
    let node = Node { value, place: place.clone() };
    let action = match value {
        Value::Null => TraceAction::Stutter,
        Value::String(label) => TraceAction::Label(label.clone()),
        Value::Object(_) => TraceAction::Joint(node.texts()?),
        _ => return Err(node.expected("an object with the action of each agent, a label, or null")),
    };
    Ok(Some(TraceStep { place, action }))
}

fn itf_value(node: &Node<'_>) -> Result<TraceValue, Fault> {
    const ACCEPTED: &str = "a boolean, an integer, a string or a list of strings";
    match node.value {
        Value::Bool(value) => Ok(TraceValue::Boolean(*value)),
        Value::String(text) => Ok(TraceValue::Text(text.clone())),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            Ok(TraceValue::Integer(number.to_string()))
        }
        Value::Number(_) => Err(node.expected(ACCEPTED)),
        Value::Array(_) => {
            let texts =
                node.items()?.iter().map(|item| Ok(item.text()?.to_string())).collect::<Result<_, _>>()?;
            Ok(TraceValue::List(texts))
        }
        Value::Object(_) => {
            let digits = node.need("#bigint").map_err(|_| node.expected(ACCEPTED))?;
            let text = digits.text()?;
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if !is_number(text.strip_prefix('-').unwrap_or(text)) {
                return Err(Fault::new(digits.place.clone(), format!("`{text}` is not an integer")));
            }
            Ok(TraceValue::Integer(text.to_string()))
        }
        Value::Null => Err(node.expected(ACCEPTED)),
    }
}
