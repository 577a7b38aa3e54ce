//! The output formats of Masque: the JSON report and its schema, the text of the command line, and
//! evidence as text, graphs and charts.
//!
//! A loaded and possibly checked file becomes a [`RunReport`], plain data. [`json`] serializes it, and
//! [`Text`] writes it for people. Unless statistics are requested, the output does not depend on the
//! clock, on hash order or on the machine.
//!
//! | module | contents |
//! |---|---|
//! | `check` | the report `masque.check/1` as data |
//! | `bdi`, `bdi_text` | worlds and explanations of BDI files, as data, text and DOT |
//! | `simulate` | states and choices of a simulation, as text |
//! | `reachable`, `dddmp` | state graphs and sets of states, for other programs |
//! | `monitor`, `monitor_events`, `monitor_text`, `monitor_html` | the result of monitoring, `masque.monitor/1`, as text and as a page with charts |
//! | `monitor_log` | from the records of a log to the lines of that result |
//! | `why` | number of states at which the parts of a property are true, `masque.why/1` |
//! | `lcc`, `lcc_text` | traces of LCC protocols, as data and as text charts |
//! | `chart_layout`, `chart_svg`, `chart_dot` | traces as message sequence charts: layout, SVG, DOT |
//! | `bench`, `bench_table`, `plot` | the measurements of `masque bench`: `masque.bench/1`, tables, a plot |
//! | `entries` | maps that keep the order of insertion |
//! | `diagnostic` | diagnostics as data |
//! | `evidence` | evidence as data |
//! | `evidence_context` | evidence with its system: names, values, variables that matter |
//! | `evidence_text`, `coalition_text`, `fixpoint_text` | evidence as text |
//! | `compare`, `long_paths` | parts of that text: states side by side, long paths |
//! | `graph`, `graph_runs`, `graph_layout` | evidence as a graph, for ISPL and for BDI and AUT, and its layout |
//! | `strategy_graph` | where a strategy of a group leads, as a graph |
//! | `graph_dot`, `graph_svg` | a graph as DOT and SVG |
//! | `html`, `page_style` | the page of evidence: head, overview, style |
//! | `evidence_page`, `html_tables`, `html_strategy` | the evidence on the page: drawings, tables of runs and of strategies |
//! | `evidence_file` | evidence in a file of its own |
//! | `evidence_view` | the evidence of one property for interactive pages, and walks as files |
//! | `ci`, `sarif`, `junit`, `annotations` | reports for continuous integration |
//! | `file_uri`, `trace_steps` | parts of these reports: file names, and paths as lists of steps |
//! | `changes` | differences between two checks of the same files |
//! | `page` | pages of diagnostics without markup |
//! | `printable_json` | JSON without characters that control a terminal |
//! | `named_run`, `trace_files` | the runs of evidence, and files with them for other programs |
//! | `itf`, `mermaid`, `csv` | the formats of these files |
//! | `progress_text` | how far a check has come |
//! | `lines` | wrapped and coloured lines |
//! | `path` | paths through a system, as data and as text |
//! | `run_table`, `run_text` | a run as a table of states by variables, with lanes of agents; as text |
//! | `folded` | infinite paths in their shortest form |
//! | `limits` | how much of the evidence is shown |
//! | `summary` | the last line of a report |
//! | `stats` | times and memory |
//! | `text` | the report as text |
//! | `schema` | the JSON schema of the report |
//! | `wording` | counted nouns and shortened texts |
#![forbid(unsafe_code)]

mod annotations;
mod bdi;
mod bdi_text;
mod bench;
mod bench_table;
mod changes;
mod chart_dot;
mod chart_layout;
mod chart_svg;
mod check;
mod ci;
mod coalition_text;
mod compare;
mod csv;
mod dddmp;
mod diagnostic;
mod entries;
mod evidence;
mod evidence_context;
mod evidence_file;
mod evidence_page;
mod evidence_text;
mod evidence_view;
mod file_uri;
mod fixpoint_text;
mod folded;
mod graph;
mod graph_dot;
mod graph_layout;
mod graph_runs;
mod graph_svg;
mod html;
mod html_strategy;
mod html_tables;
mod itf;
mod junit;
mod lcc;
mod lcc_text;
mod limits;
mod lines;
mod long_paths;
mod mermaid;
mod monitor;
mod monitor_events;
mod monitor_html;
mod monitor_log;
mod monitor_text;
mod named_run;
mod page;
mod page_style;
mod path;
mod plot;
mod printable_json;
mod progress_text;
mod reachable;
mod run_table;
mod run_text;
mod sarif;
mod schema;
mod simulate;
mod stats;
mod strategy_graph;
mod summary;
mod teams;
mod test;
mod text;
mod trace_files;
mod trace_steps;
mod why;
mod wording;

pub use annotations::Annotation;
pub use bdi::{CountReport, ExplanationReport, RemovalReport, StateReport, WorldReport};
pub use bdi_text::worlds_dot;
pub use bench::{BENCH_SCHEMA, BenchReport, BenchRow, Growth, bench_json, grow};
pub use bench_table::{bench_csv, bench_text};
pub use changes::{Change, changes};
pub use check::{
    CHECK_SCHEMA, CheckReport, Counts, ModelSize, PropertyReport, RunReport, Subject, json, run_report,
};
pub use ci::{CiRun, Problem, ProblemLevel};
pub use dddmp::dddmp;
pub use diagnostic::{DiagnosticReport, PlaceReport, SpanReport};
pub use entries::Entries;
pub use evidence::{
    AnswerReport, AnyEvidence, BecauseReport, EvidenceReport, LabelledRunReport, LinkReport, PositionReport,
    ReasonReport, RowReport, RunPath, StepReport, SupportReport, UnfoldedReport,
};
pub use evidence_file::{EvidenceFile, EvidenceFormat};
pub use evidence_view::{
    EVIDENCE_STYLE, EvidenceView, RunView, action_text, check_summary, event_text, evidence_view,
    message_chart, model_size, write_walk,
};
pub use junit::junit;
pub use lcc::{EventReport, ProtocolReport, TraceReport};
pub use lines::WIDTH;
pub use monitor::{
    BlameReport, FactReport, GoalReport, MONITOR_SCHEMA, MonitorEvent, MonitorLine, MonitorProblem,
    MonitorSession, MonitorStart, MonitorSummary, ObligationReport, ObservedReport, RuleReport,
};
pub use monitor_html::MonitorPage;
pub use monitor_log::{MonitorHost, MonitorLog};
pub use monitor_text::MonitorText;
pub use path::PathReport;
pub use plot::{PlotError, bench_plot};
pub use progress_text::progress_text;
pub use reachable::{EdgeReport, GRAPH_SCHEMA, GraphReport, NodeReport, RemovedNodeReport, RemovedReport};
pub use run_text::View;
pub use sarif::sarif;
pub use schema::{bench_schema, graph_schema, monitor_schema, schema, teams_schema, test_schema, why_schema};
pub use simulate::{joint_text, state_values};
pub use stats::{EngineStats, PhaseStats, PropertyStats, RunStats};
pub use teams::{TEAMS_SCHEMA, TeamFailureReport, TeamReport, TeamVerdictReport, TeamsReport, teams_json};
pub use test::{
    FilePlaceReport, LeftOutReport, ModelTestReport, ResultReport, TEST_SCHEMA, TestReport, TestSummary,
};
pub use text::{Detail, Text};
pub use trace_files::{TraceFiles, TraceFormat};
pub use why::{PartReport, PropertyParts, WHY_SCHEMA, WhyReport, why_json, why_report};
