//! Arguments of `replay`.

use std::path::PathBuf;

use clap::Args;

use super::{ModelArgs, WorkArgs};

/// Arguments of `replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayArgs {
    /// Model file, or the files of a protocol. `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Trace: a report of `check --format json`, or a trace in ITF, of at most 256 MiB. `-` is standard
    /// input.
    #[arg(required = true, value_name = "TRACE")]
    pub trace: PathBuf,
    /// Replay only the evidence of this property of a report, given by its name [default: all].
    #[arg(long, value_name = "NAME")]
    pub property: Vec<String>,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Limits.
    #[command(flatten)]
    pub work: WorkArgs,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  masque check lamps.ispl --format json > report.json; masque replay lamps.ispl report.json
  masque check lamps.ispl --format json | masque replay lamps.ispl - --property safe
  masque replay lamps.ispl trace.itf.json -D N=3
  masque replay travel.lcc team.lcc trace.itf.json

Exit codes: 0 confirmed, 1 some run leaves the model, 2 bad input, 3 a limit was hit.";
