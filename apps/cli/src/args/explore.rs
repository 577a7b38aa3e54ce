//! Arguments of the commands that look into a model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, ModelArgs, QuestionArgs, WorkArgs};

/// Arguments of `why`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WHY_EXAMPLES)]
pub struct WhyArgs {
    /// A model file; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Properties, by their name or position; all if none is named. After a protocol or a transition
    /// system, further files of it (.lcc, .pol, .mu).
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// The question.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,

    /// How to write the report.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: Format,
}

const WHY_EXAMPLES: &str = "\
Examples:
  masque why dc.ispl                   all properties
  masque why dc.ispl 2                 the second one
  masque why dc.ispl anonymous         the one with this label
  masque why dc.ispl 3 --property 'EF odd' --format json

Exit codes: as of `masque check`, of the properties told about.";

/// Arguments of `simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub struct SimulateArgs {
    /// A model file, or the files of a protocol or of a transition system; `-` is standard input, if
    /// commands come from elsewhere.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Read commands from a file, one in a line; what follows `--` at the beginning of one is a
    /// comment.
    #[arg(long, value_name = "SCRIPT", conflicts_with = "random")]
    pub script: Option<PathBuf>,
    /// Take so many steps at random.
    #[arg(long, value_name = "STEPS")]
    pub random: Option<usize>,
    /// The seed of random steps: the same seed takes the same steps.
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random")]
    pub seed: u64,

    /// What the model is.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Engines and limits, for each question.
    #[command(flatten)]
    pub work: WorkArgs,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  masque simulate dc.ispl
  masque simulate dc.ispl --random 20 --seed 7
  masque simulate dc.ispl --script steps.txt

Exit codes: 0 the end was reached, 2 bad input or a bad command in a script, 3 a question hit a limit.";

/// Arguments of `export`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    /// A model file, or the files of a protocol; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What to write.
    #[arg(long, value_name = "FORMAT", default_value = "dot", help_heading = "Output")]
    pub format: ExportFormat,
    /// Show at most so many states [default: 1000 for dot, else 100000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    pub max_states: Option<u32>,
    /// Show what an agent sees: states that look the same to it are one.
    #[arg(long, value_name = "AGENT", help_heading = "Output")]
    pub view: Option<String>,

    /// What the model is.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// What `export` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A graph for Graphviz.
    Dot,
    /// A graph for CADP and mCRL2.
    Aut,
    /// A graph as one JSON object; see `masque schema export`.
    Json,
    /// The reachable set as a decision diagram for CUDD and OxiDD.
    Dddmp,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  masque export lamps.ispl | dot -Tsvg > lamps.svg
  masque export lamps.ispl --view Alice
  masque export lamps.ispl --format aut > lamps.aut
  masque export dc.ispl -D N=20 --format dddmp > dc.dddmp

Exit codes: 0 written, also if `--max-states` has cut it; 2 bad input; 3 a limit was hit.";
