//! The formats that others may rely on: the JSON report and its schema, and the text of the
//! command line.
//!
//! A file that was loaded, and perhaps checked, becomes a [`RunReport`]: plain data in the words of
//! the report. [`json`] writes it down; [`Text`] tells it to a person. Neither depends on the
//! clock, on hash order or on the machine, unless statistics are asked for.
//!
//! | file | holds |
//! |---|---|
//! | `check` | the report `masque.check/1` as data |
//! | `simulate` | states and choices of a simulation, as text |
//! | `reachable`, `dddmp` | graphs and sets of states, for other programs |
//! | `why` | how widely the parts of a property are true, `masque.why/1` |
//! | `words` | evidence in words, a line for each reason |
//! | `bench` | the table of `masque bench`, `masque.bench/1` |
//! | `entries` | maps that keep their order |
//! | `diagnostic` | diagnostics as data |
//! | `evidence`, `show` | what shows a verdict, as data and as text |
//! | `path` | paths through a system, as data and as text |
//! | `stats` | times and memory |
//! | `text` | the report as text |
//! | `schema` | the JSON schema of the report |
#![forbid(unsafe_code)]

mod bench;
mod check;
mod dddmp;
mod diagnostic;
mod entries;
mod evidence;
mod path;
mod reachable;
mod schema;
mod show;
mod simulate;
mod stats;
mod text;
mod why;
mod words;

pub use bench::{BENCH_SCHEMA, BenchReport, BenchRow, bench_json, bench_text, grow};
pub use check::{
    CHECK_SCHEMA, CheckReport, Counts, ModelSize, PropertyReport, RunReport, Settings, Subject, json,
    run_report,
};
pub use dddmp::dddmp;
pub use diagnostic::{DiagnosticReport, PlaceReport, SpanReport};
pub use entries::Entries;
pub use evidence::{BecauseReport, EvidenceReport, LinkReport, PositionReport, ReasonReport, RunPath};
pub use path::PathReport;
pub use reachable::{EdgeReport, GRAPH_SCHEMA, GraphReport, NodeReport};
pub use schema::{bench_schema, graph_schema, schema, why_schema};
pub use stats::{EngineStats, PhaseStats, PropertyStats, RunStats};
pub use text::{Detail, Text};
pub use why::{PartReport, PropertyParts, WHY_SCHEMA, WhyReport, why_json, why_report};
