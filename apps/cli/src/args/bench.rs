//! Arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use masque_driver::EngineChoice;

use super::WorkArgs;
use super::options::engine;

/// Arguments of `bench`.
#[derive(Clone, Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// Model files; each gets a row for each combination of parameter values.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Set a parameter of ISPL files. Several values are separated by commas; `2..10` is a range with
    /// both ends, `2..10..4` has a step. There is a row for each combination of the values of all
    /// parameters, at most 1000; the last parameter changes fastest.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUES")]
    pub defines: Vec<String>,
    /// File with further properties, as for `masque check`.
    #[arg(long = "properties", value_name = "FILE")]
    pub property_files: Vec<PathBuf>,
    /// Measure every row this many times, and report the median, least and greatest time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Measure every row with each of these engines.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = engine(), conflicts_with = "engine")]
    pub engines: Vec<EngineChoice>,
    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Format of the table.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: BenchFormat,
    /// Also draw the times as an SVG file: the parameter with the most values is the horizontal axis, the
    /// time is on a logarithmic axis, and the other parameters, engines and files are series.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

/// Formats of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchFormat {
    /// For reading; columns that are empty or equal in all rows are left out.
    Text,
    /// One JSON object; see `masque schema bench`.
    Json,
    /// Comma-separated values.
    Csv,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  masque bench dc.ispl -D N=10,20,40
  masque bench dc.ispl -D N=10..40..10 --engine explicit --timeout 10s
  masque bench trains.ispl -D N=2..10 -D K=1,2 --repeat 5 --plot trains.svg
  masque bench dc.ispl -D N=3..8 --engines explicit,symbolic --format csv > dc.csv
  masque bench dc10.ispl dc20.ispl --format json

Exit codes: 0 all rows finished, with any verdicts; 2 bad input; 3 some row hit a limit.";
