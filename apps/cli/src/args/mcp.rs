//! Arguments of `mcp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use masque_broker::Limits;

use crate::values::{bytes, duration};

/// Default time limit of a call.
const DEFAULT_TIME: Duration = Duration::from_secs(30);
/// Default memory limit of a call, in bytes.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// Default memory limit of calls in this process, in bytes.
const DEFAULT_TOTAL_MEMORY: u64 = 1 << 30;

/// Arguments of `mcp`.
#[derive(Clone, Debug, Args)]
#[command(after_help = MCP_EXAMPLES)]
pub struct McpArgs {
    /// Folder from which calls may read files and imports, by paths relative to it [default: no files
    /// are read, and calls contain the texts].
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub root: Option<PathBuf>,

    /// Time limit of a call, such as 500ms, 10s or 2m; calls may ask for less [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Memory limit of a call, such as 100M or 2G; calls may ask for less [default: 1G].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    pub memory: Option<u64>,
    /// Maximum number of calls that check models at the same time; others wait [default: 2].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub children: Option<usize>,
    /// Maximum size of a message [default: 4M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    pub message: Option<u64>,

    /// Answer the call in this working folder, which is removed if the server is gone. The server starts
    /// such processes.
    #[arg(long, hide = true, value_name = "DIR")]
    pub answer_call: Option<PathBuf>,
}

const MCP_EXAMPLES: &str = "\
Examples:
  masque mcp                            calls contain the texts of models
  masque mcp --root models --timeout 2m calls may also name files below models/
  claude mcp add masque -- masque mcp --root .

Exit codes: 0 stopped on request, 2 could not start.";

impl McpArgs {
    /// The limits of the server.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        let body = self.message.map_or(usual.body, |size| usize::try_from(size).unwrap_or(usize::MAX));
        Limits {
            time: self.timeout.unwrap_or(DEFAULT_TIME),
            memory: self.memory.unwrap_or(DEFAULT_MEMORY),
            total_memory: DEFAULT_TOTAL_MEMORY,
            children: self.children.unwrap_or(usual.children).max(1),
            body,
            // One message of maximum size must fit.
            bodies: usual.bodies.max(body),
            ..usual
        }
    }
}
