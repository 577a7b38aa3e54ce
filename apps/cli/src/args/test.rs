//! Arguments of `test`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use masque_driver::{EngineChoice, Request, Work};

use super::options::engine;
use super::{Format, SelectArgs};
use crate::values::{bytes, duration, jobs};

/// Arguments of `test`.
#[derive(Clone, Debug, Args)]
#[command(after_help = TEST_EXAMPLES)]
pub struct TestArgs {
    /// Model files and folders; `-` is standard input. Folders are searched for models in all languages
    /// (.ispl, .bdi, .lcc, .aut), except hidden ones [default: the current folder].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Make a model without any expectation an error, and a property without one in the other models.
    #[arg(long)]
    pub strict: bool,
    /// Also read expectations from this file. Each line has the form NAME: VERDICT or states: NUMBER,
    /// and has priority over the expectations in the models.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,

    /// Which properties are decided.
    #[command(flatten)]
    pub select: SelectArgs,

    /// Set a parameter of the ISPL models.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", help_heading = "Model")]
    pub defines: Vec<String>,
    /// Set an option of the BDI and LCC models; this overrides the option in the files.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "Model")]
    pub options: Vec<String>,

    /// Engine for ISPL files. It changes time and memory, never a verdict.
    #[arg(long, value_name = "NAME", value_parser = engine(), default_value = "auto", help_heading = "Engines and limits")]
    pub engine: EngineChoice,
    /// Maximum number of models that are tested at the same time [default: the number of processors].
    #[arg(long, value_name = "NUMBER", value_parser = jobs, help_heading = "Engines and limits")]
    pub jobs: Option<NonZeroUsize>,
    /// Time limit per model, such as 500ms, 1s or 2m. Properties that are not decided by then are
    /// unknown.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Engines and limits")]
    pub timeout: Option<Duration>,
    /// Memory limit per model for the data of the engine, such as 100M or 2G.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Engines and limits")]
    pub memory: Option<u64>,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: Format,
}

const TEST_EXAMPLES: &str = "\
Expectations are comments with the sign of the language, beside a property or on a line of their own:
  AG safe;  -- expect: holds             or fails, unknown, unknown(timeout)
  -- expect live: fails, [Lam77]         the property `live`; after the comma, a source or a reason
  -- expect states: 160                  the number of reachable states
  -- expect error: ispl/unknown-action   a diagnostic; also warning and note

Examples:
  masque test
  masque test models/ --jobs 4 --timeout 1m
  masque test dc.ispl --only anonymous
  masque test --strict models/           every property needs an expectation
  masque test homework.ispl --expect solution.txt

Exit codes, the most severe of all models:
  2  a file cannot be read, has errors, or has an expectation that makes no sense
  1  some result differs
  3  some result is not known: a limit was hit, or the test was interrupted
  0  all results are as expected";

impl TestArgs {
    /// The paths to test.
    pub fn all_paths(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() { vec![PathBuf::from(".")] } else { self.paths.clone() }
    }

    /// The request for each model, of which each may use `jobs` threads.
    pub fn request(&self, jobs: NonZeroUsize) -> Request {
        self.select.select(Request {
            defines: self.defines.clone(),
            options: self.options.clone(),
            is_for_several: true,
            work: Work { engine: self.engine, jobs: Some(jobs), ..Work::default() },
            ..Request::default()
        })
    }
}
