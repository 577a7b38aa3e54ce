//! The JSON schema of the report.

use schemars::generate::SchemaSettings;

use crate::CheckReport;

/// The schema of `masque check --format json`, as JSON text with a newline at its end.
///
/// ```
/// assert!(masque_report::schema().contains("masque.check/1"));
/// ```
pub fn schema() -> String {
    // The schema is a constant of the program, and all of it can be written as JSON.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<CheckReport>();
    let mut text = format!("{:#}", schema.as_value());
    text.push('\n');
    text
}
