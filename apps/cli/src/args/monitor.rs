//! Arguments of `monitor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{Format, ModelArgs};
use crate::values::{bytes, duration};

/// Arguments of `monitor`.
#[derive(Clone, Debug, Args)]
#[command(after_help = MONITOR_EXAMPLES)]
pub struct MonitorArgs {
    /// The files of a protocol (.lcc, .pol, .mu), or an ISPL file.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The log: one JSON record per line. `-` is standard input.
    #[arg(short, long, value_name = "LOG", help_heading = "Log")]
    pub input: PathBuf,
    /// Map that turns records into observations: a TOML file, or one of otel-genai, mcp, a2a and
    /// coding-agent-hooks [default: records as docs/monitor.md describes them].
    #[arg(short, long, value_name = "MAP", help_heading = "Log")]
    pub map: Option<String>,
    /// Wait for more records at the end of the log, until Ctrl-C. A file that is rotated or truncated is
    /// noticed.
    #[arg(short, long, help_heading = "Log")]
    pub follow: bool,
    /// Steps that are observable, as a pattern such as `out(_)` or `#(pay(_))`; may be repeated. The log has
    /// all of them; other steps may happen unseen [default: those of the map, or else all messages sent].
    #[arg(long = "observe", value_name = "PATTERN", help_heading = "Log")]
    pub observable: Vec<String>,
    /// The log is the view of this agent of an ISPL file: what it sees at each step, and its own actions.
    #[arg(long = "as", value_name = "AGENT", help_heading = "Log")]
    pub agent: Option<String>,
    /// Steps of an ISPL file that may happen without a record: those with this condition on the state before
    /// the step and on the actions [default: none].
    #[arg(long, value_name = "CONDITION", conflicts_with = "agent", help_heading = "Log")]
    pub unseen: Option<String>,

    /// Decide each record before it happens: `allow` if some possible state permits it, otherwise `deny`,
    /// and the log goes on without it.
    #[arg(long, help_heading = "Enforcement")]
    pub enforce: bool,
    /// Decision about a record if it is not known whether it is possible.
    #[arg(
        long,
        value_name = "DECISION",
        default_value = "deny",
        requires = "enforce",
        help_heading = "Enforcement"
    )]
    pub on_unknown: OnUnknown,

    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Follow an additional property, such as the goal `EF final`.
    #[arg(long = "property", value_name = "FORMULA", help_heading = "Model")]
    pub properties: Vec<String>,

    /// End a session in which nothing was observed for this time, by the times of the records, or with
    /// `--follow` by the clock.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub idle: Option<Duration>,
    /// Maximum number of open sessions. Beyond it, the one that was idle for the longest time is dropped, and
    /// its end is unknown.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub sessions: u32,
    /// Maximum length of a line of the log [default: 16M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    pub line: Option<u64>,
    /// Longest time to load the model, and to judge one record, such as 500ms, 10s or 2m.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Memory limit, with a unit, such as 100M or 2G.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    pub memory: Option<u64>,

    /// Format of the output. `json` writes one object per line.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: Format,
    /// Also write a page with the sessions and their charts.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,
}

/// Decisions about records that may or may not be possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnUnknown {
    /// They are allowed.
    Allow,
    /// They are denied.
    Deny,
}

const MONITOR_EXAMPLES: &str = "\
Examples:
  masque monitor team.lcc --input events.jsonl
  masque monitor team.lcc goals.mu --input spans.jsonl --map otel-genai --html team.html
  masque monitor team.lcc --input events.jsonl --follow --format json
  masque monitor team.lcc --input - --map coding-agent-hooks --enforce
  masque monitor game.ispl --input alice.jsonl --as Alice

Exit codes: 0 fine; 1 a record is not possible, a goal is lost, or an obligation is open at the end;
2 bad input, an empty log, or one in which nothing matches the map; 3 something is unknown.";
