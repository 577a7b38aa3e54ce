//! Arguments of the commands that explore a model: `why`, `simulate` and `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, ModelArgs, QuestionArgs, SelectArgs, ViewArgs, WorkArgs};

/// Arguments of `why`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WHY_EXAMPLES)]
pub struct WhyArgs {
    /// Model file; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Names, positions or patterns of properties, as for --only [default: all]. After an LCC or AUT file also further files of
    /// the model (.lcc, .pol, .mu).
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// End the process when standard input ends.
    #[arg(long, hide = true)]
    pub end_with_input: bool,

    /// The properties to decide.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Which properties are decided.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: Format,
    /// How evidence is written as text.
    #[command(flatten)]
    pub view: ViewArgs,
}

const WHY_EXAMPLES: &str = "\
Examples:
  masque why dc.ispl                   all properties
  masque why dc.ispl 2                 the second one
  masque why dc.ispl anonymous         the property with this name
  masque why dc.ispl 2 --full          every state of a long run
  masque why dc.ispl 2 --view lanes    what each agent does and sees
  masque why dc.ispl 3 --property 'EF odd' --format json

Exit codes: as for `masque check`, for the selected properties.";

/// Arguments of `simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub struct SimulateArgs {
    /// Model file, or the files of a protocol or transition system. `-` is standard input; this needs
    /// --script or --random.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Begin with the steps of a trace: the first counterexample or witness of a report of `check
    /// --format json`, or a trace in ITF.
    #[arg(long, value_name = "TRACE", conflicts_with = "random")]
    pub from: Option<PathBuf>,
    /// Read commands from a file of at most 16 MiB, one per line. Lines that begin with `--` are comments.
    #[arg(long, value_name = "SCRIPT", conflicts_with = "random")]
    pub script: Option<PathBuf>,
    /// Take this many random steps.
    #[arg(long, value_name = "STEPS")]
    pub random: Option<usize>,
    /// Seed of the random steps: the same seed gives the same steps.
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random")]
    pub seed: u64,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Engines and limits, for each question.
    #[command(flatten)]
    pub work: WorkArgs,
    /// How evidence is written as text.
    #[command(flatten)]
    pub view: ViewArgs,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  masque simulate dc.ispl
  masque simulate dc.ispl --random 20 --seed 7
  masque simulate dc.ispl --script steps.txt

Exit codes: 0 success, 2 bad input or a bad command in a script, 3 a question hit a limit or Ctrl-C.";

/// Arguments of `export`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    /// Model file, or the files of a protocol; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Format of the output.
    #[arg(long, value_name = "FORMAT", default_value = "dot", help_heading = "Output")]
    pub format: ExportFormat,
    /// Maximum number of states in a graph [default: 1000 for dot, otherwise 100000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    pub max_states: Option<u32>,
    /// Maximum number of states of BDI worlds that are shown although synthesis removes them; `--max-states` counts
    /// them, too [default: 100 for dot, otherwise 100000].
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub max_removed: Option<u32>,
    /// Show the graph as an agent sees it: states that look the same to the agent are merged.
    #[arg(long, value_name = "AGENT", help_heading = "Output")]
    pub view: Option<String>,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// Formats of `export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A graph for Graphviz.
    Dot,
    /// A graph for CADP and mCRL2.
    Aut,
    /// A graph as one JSON object; see `masque schema export`.
    Json,
    /// The set of reachable states as a decision diagram for CUDD and OxiDD.
    Dddmp,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  masque export lamps.ispl | dot -Tsvg > lamps.svg
  masque export lamps.ispl --view Alice
  masque export lamps.ispl --format aut > lamps.aut
  masque export dc.ispl -D N=20 --format dddmp > dc.dddmp

Exit codes: 0 written, even if cut at `--max-states`; 2 bad input; 3 a limit was hit.";
