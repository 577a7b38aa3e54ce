//! Arguments of `agent` and `state`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::values::{bytes, duration, setting};

/// Arguments of `agent`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AGENT_EXAMPLES)]
pub struct AgentArgs {
    /// LCC files of the agent: what it knows and the rules it obeys. Files with clauses have the whole protocol
    /// and its team; without them, the protocol comes with the first tuple.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Id of the agent.
    #[arg(long, value_name = "ID")]
    pub id: String,
    /// Begin this interaction, without waiting for a tuple.
    #[arg(long, value_name = "INTERACTION")]
    pub start: Option<String>,
    /// Make no step after which this property, by name or as a formula, would fail.
    #[arg(long = "property", value_name = "PROPERTY")]
    pub properties: Vec<String>,
    /// Set an option of the protocol; this overrides the files.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = setting)]
    pub options: Vec<(String, String)>,
    /// Longest time to wait for a tuple, or to work on one, such as 500ms, 10s or 2m [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Maximum number of steps after one tuple.
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "Limits")]
    pub steps: usize,
    /// Maximum size of a tuple [default: 4M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    pub message: Option<u64>,
}

const AGENT_EXAMPLES: &str = "\
Examples:
  mkfifo ben sue
  masque agent --id sue sue.lcc < sue > ben &
  masque agent --id ben shop.lcc --start deal1 < ben > sue

Exit codes: 0 the agent has finished, 1 its rules or properties block it, 2 bad input,
3 the input ended, or a limit was reached, before it had finished.";

/// Arguments of `state`.
#[derive(Clone, Debug, Args)]
#[command(after_help = STATE_EXAMPLES)]
pub struct StateArgs {
    /// LCC files of one instance.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Advance by the event that matches this pattern, such as `out(offer(_))@ben`; may be repeated.
    #[arg(long = "after", value_name = "PATTERN")]
    pub events: Vec<String>,
    /// Id of the interaction, for tuples.
    #[arg(long, value_name = "ID", default_value = "interaction")]
    pub interaction: String,
    /// Set an option of the protocol; this overrides the files.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = setting)]
    pub options: Vec<(String, String)>,
    /// Format of the state.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: StateFormat,
}

/// How the state of an interaction is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StateFormat {
    /// `now` and `mail` statements.
    #[default]
    Statements,
    /// The tuple `(I, M, A, R, (P_F, P_S, K))`.
    Tuple,
}

const STATE_EXAMPLES: &str = "\
Examples:
  masque state shop.lcc                                     the first state
  masque state shop.lcc --after 'out(offer(_))' --format tuple

Exit codes: 0 the state is written, 2 bad input or an impossible event.";
