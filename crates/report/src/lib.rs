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
//! | `bdi`, `bdi_text` | worlds and explanations of BDI files, as data and as text |
//! | `lcc`, `lcc_text` | runs of LCC protocols, as data and as charts |
//! | `bench` | the table of `masque bench`, `masque.bench/1` |
//! | `entries` | maps that keep their order |
//! | `diagnostic` | diagnostics as data |
//! | `evidence`, `show` | what shows a verdict, as data and as text |
//! | `path` | paths through a system, as data and as text |
//! | `stats` | times and memory |
//! | `text` | the report as text |
//! | `schema` | the JSON schema of the report |
#![forbid(unsafe_code)]

mod bdi;
mod bdi_text;
mod bench;
mod check;
mod diagnostic;
mod entries;
mod evidence;
mod lcc;
mod lcc_text;
mod path;
mod schema;
mod show;
mod stats;
mod text;

pub use bdi::{CountReport, ExplanationReport, RemovalReport, StateReport, WorldReport, bdi_report};
pub use bench::{BENCH_SCHEMA, BenchReport, BenchRow, bench_json, bench_text, grow};
pub use check::{
    CHECK_SCHEMA, CheckReport, Counts, ModelSize, PropertyReport, RunReport, Settings, Subject, json,
    run_report,
};
pub use diagnostic::{DiagnosticReport, PlaceReport, SpanReport};
pub use entries::Entries;
pub use evidence::{
    AnyEvidence, BecauseReport, EvidenceReport, LinkReport, PositionReport, ReasonReport, RunPath,
};
pub use lcc::{EventReport, ProtocolReport, TraceReport, lcc_report};
pub use path::PathReport;
pub use schema::{bench_schema, schema};
pub use stats::{EngineStats, PhaseStats, PropertyStats, RunStats};
pub use text::{Detail, Text};
