//! The JSON schemas of the reports.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::{BenchReport, CheckReport, GraphReport, WhyReport};

/// The schema of `masque check --format json`, as JSON text with a newline at its end.
///
/// ```
/// assert!(masque_report::schema().contains("masque.check/1"));
/// ```
pub fn schema() -> String {
    text::<CheckReport>()
}

/// The schema of `masque bench --format json`.
pub fn bench_schema() -> String {
    text::<BenchReport<'static>>()
}

/// The schema of `masque why --format json`.
pub fn why_schema() -> String {
    text::<WhyReport>()
}

/// The schema of `masque export --format json`.
pub fn graph_schema() -> String {
    text::<GraphReport>()
}

/// The schema of a type. It is a constant of the program, and all of it can be written as JSON.
fn text<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut text = format!("{:#}", schema.as_value());
    text.push('\n');
    text
}
