//! Formats of the report of `check`.

use clap::ValueEnum;

/// Formats of the report of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For reading.
    Text,
    /// One JSON object; see `masque schema`.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for test reports.
    Junit,
}
