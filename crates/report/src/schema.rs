//! The JSON schemas of the reports.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::{BenchReport, CheckReport, GraphReport, MonitorLine, TeamsReport, TestReport, WhyReport};

/// Returns the schema of `masque check --format json`, as JSON text with a newline at its end.
///
/// ```
/// assert!(masque_report::schema().contains("masque.check/1"));
/// ```
pub fn schema() -> String {
    text::<CheckReport>()
}

/// Returns the schema of `masque bench --format json`.
pub fn bench_schema() -> String {
    text::<BenchReport<'static>>()
}

/// Returns the schema of `masque test --format json`.
pub fn test_schema() -> String {
    text::<TestReport>()
}

/// Returns the schema of `masque teams --format json`.
pub fn teams_schema() -> String {
    text::<TeamsReport>()
}

/// Returns the schema of `masque why --format json`.
pub fn why_schema() -> String {
    text::<WhyReport>()
}

/// Returns the schema of `masque export --format json`.
pub fn graph_schema() -> String {
    text::<GraphReport>()
}

/// Returns the schema of a line of `masque monitor --format json`.
pub fn monitor_schema() -> String {
    text::<MonitorLine>()
}

/// Returns the JSON schema of a type as text.
fn text<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut text = format!("{:#}", schema.as_value());
    text.push('\n');
    text
}
