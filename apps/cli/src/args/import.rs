//! Arguments of `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `import`.
#[derive(Clone, Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// Format of the files.
    #[arg(value_name = "FORMAT")]
    pub from: ImportFrom,
    /// The files: one graph, or any number of agent cards.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write the protocol to this file, which must not exist [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// A graph of the langgraph package: `json.dumps(app.get_graph().to_json())`.
    Langgraph,
    /// Agent cards of the Agent2Agent protocol.
    A2a,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  masque import langgraph graph.json --output team.lcc && masque check team.lcc
  masque import a2a card.json other.json | masque check -

Exit codes: 0 written, 2 bad input.";
