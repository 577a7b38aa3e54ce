//! The formats that others may rely on: the JSON report and its schema, the text of the command
//! line, and evidence as a graph.
//!
//! A file that was loaded, and perhaps checked, becomes a [`RunReport`]: plain data in the words of
//! the report. [`json`] writes it down; [`Text`] tells it to a person. Neither depends on the
//! clock, on hash order or on the machine, unless statistics are asked for.
//!
//! | file | holds |
//! |---|---|
//! | `check` | the report `masque.check/1` as data |
//! | `bdi`, `bdi_text` | worlds and explanations of BDI files, as data, as text and for Graphviz |
//! | `simulate` | states and choices of a simulation, as text |
//! | `reachable`, `dddmp` | graphs and sets of states, for other programs |
//! | `why` | how widely the parts of a property are true, `masque.why/1` |
//! | `lcc`, `lcc_text` | runs of LCC protocols, as data and as charts |
//! | `chart`, `chart_svg`, `chart_dot` | such a run as a message sequence chart: laid out, drawn, for Graphviz |
//! | `bench` | the table of `masque bench`, `masque.bench/1` |
//! | `entries` | maps that keep their order |
//! | `diagnostic` | diagnostics as data |
//! | `evidence` | what shows a verdict, as data |
//! | `frame` | evidence with its system: names, values, what matters |
//! | `show`, `compare`, `cut` | evidence as text: claims, states side by side, long runs |
//! | `graph`, `layout` | evidence as a graph, and where its states are drawn |
//! | `dot`, `svg`, `html` | the graph for Graphviz, as a drawing, and the page around it |
//! | `evidence_file` | evidence as a file of its own |
//! | `lines` | lines, wrapped and coloured |
//! | `path` | paths through a system, as data and as text |
//! | `stats` | times and memory |
//! | `text` | the report as text |
//! | `schema` | the JSON schema of the report |
//! | `wording` | counted nouns and shortened texts |
#![forbid(unsafe_code)]

mod bdi;
mod bdi_text;
mod bench;
mod chart;
mod chart_dot;
mod chart_svg;
mod check;
mod compare;
mod cut;
mod dddmp;
mod diagnostic;
mod dot;
mod entries;
mod evidence;
mod evidence_file;
mod frame;
mod games;
mod graph;
mod html;
mod layout;
mod lcc;
mod lcc_text;
mod lines;
mod path;
mod reachable;
mod schema;
mod show;
mod simulate;
mod stats;
mod svg;
mod text;
mod unfolding;
mod why;
mod wording;

pub use bdi::{CountReport, ExplanationReport, RemovalReport, StateReport, WorldReport};
pub use bdi_text::worlds_dot;
pub use bench::{BENCH_SCHEMA, BenchReport, BenchRow, bench_json, bench_text, grow};
pub use check::{
    CHECK_SCHEMA, CheckReport, Counts, ModelSize, PropertyReport, RunReport, Subject, json, run_report,
};
pub use dddmp::dddmp;
pub use diagnostic::{DiagnosticReport, PlaceReport, SpanReport};
pub use entries::Entries;
pub use evidence::{
    AnswerReport, AnyEvidence, BecauseReport, EvidenceReport, LabelledRunReport, LinkReport, PositionReport,
    ReasonReport, RowReport, RunPath, StepReport, SupportReport, UnfoldedReport,
};
pub use evidence_file::{EvidenceFile, EvidenceFormat};
pub use lcc::{EventReport, ProtocolReport, TraceReport};
pub use lines::WIDTH;
pub use path::PathReport;
pub use reachable::{EdgeReport, GRAPH_SCHEMA, GraphReport, NodeReport};
pub use schema::{bench_schema, graph_schema, schema, why_schema};
pub use simulate::{joint_text, state_values};
pub use stats::{EngineStats, PhaseStats, PropertyStats, RunStats};
pub use text::{Detail, Text};
pub use why::{PartReport, PropertyParts, WHY_SCHEMA, WhyReport, why_json, why_report};
