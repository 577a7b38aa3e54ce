//! Arguments of checks that are distributed over processes.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use crate::values::duration;

/// Maximum number of worker processes on one machine. Each is connected to all others.
const MAX_PROCESSES: i64 = 256;
/// Maximum number of workers on other machines.
pub(crate) const MAX_WORKERS: i64 = 4096;

/// How a check is distributed over processes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Several processes")]
#[group(id = "spread")]
pub struct ClusterArgs {
    /// Distribute the states over P worker processes on this machine, at most 256.
    #[arg(long, value_name = "P", group = "places", value_parser = value_parser!(u16).range(1..=MAX_PROCESSES))]
    pub processes: Option<u16>,
    /// Distribute the states over worker processes on the machines in this file, which has one HOST or
    /// HOST:PORT per line.
    #[arg(long, value_name = "FILE", group = "places")]
    pub cluster: Option<PathBuf>,
    /// Distribute the states over N worker processes that you start yourself, at most 4096. The command
    /// that starts a worker is printed on standard error.
    #[arg(long, value_name = "N", group = "places", value_parser = value_parser!(u16).range(1..=MAX_WORKERS))]
    pub await_workers: Option<u16>,
    /// Command that starts a worker on a machine; it is called with the arguments HOST PROGRAM worker.
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes", requires = "cluster")]
    pub launcher: String,
    /// Address to listen on for workers that you start.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0", requires = "await_workers")]
    pub listen: String,
    /// File with the token that workers you start must know [default: the environment variable
    /// MASQUE_TOKEN, or a random token, which is printed on standard error].
    #[arg(long, value_name = "FILE", requires = "await_workers")]
    pub token_file: Option<PathBuf>,
    /// Refused: other users of the machine can read command lines.
    #[arg(long, value_name = "TOKEN", hide = true, allow_hyphen_values = true)]
    pub token: Option<String>,
    /// Time limit for all workers to start.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s", requires = "places")]
    pub start_within: Duration,
    /// Time without a message after which a worker is considered lost.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20s", requires = "places", hide = true)]
    pub silence: Duration,
    /// Directory in which each worker stores checkpoints, so that a later check can resume.
    #[arg(long, value_name = "DIR", requires = "places")]
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints while states are explored.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m", requires = "checkpoint")]
    pub checkpoint_every: Duration,
    /// Resume from the stored checkpoint, with the same number of workers.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl ClusterArgs {
    /// Whether the check is distributed.
    pub fn is_given(&self) -> bool {
        self.processes.is_some() || self.cluster.is_some() || self.await_workers.is_some()
    }
}

/// Arguments of `worker`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WORKER_EXAMPLES)]
pub struct WorkerArgs {
    /// Address on which the check listens for workers; without it, the worker uses standard input and
    /// output.
    #[arg(long, value_name = "HOST:PORT")]
    pub join: Option<String>,
    /// File with the token of the check [default: the environment variable MASQUE_TOKEN].
    #[arg(long, value_name = "FILE", requires = "join")]
    pub token_file: Option<PathBuf>,
    /// Refused: other users of the machine can read command lines.
    #[arg(long, value_name = "TOKEN", hide = true, allow_hyphen_values = true)]
    pub token: Option<String>,
    /// Host name under which other workers reach this one [default: the address that the check sees].
    #[arg(long, value_name = "HOST", requires = "join")]
    pub host: Option<String>,
}

const WORKER_EXAMPLES: &str = "\
Examples:
  masque check dc.ispl --await-workers 2 --listen 10.0.0.1:4000 --token-file token
  masque worker --join 10.0.0.1:4000 --token-file token      on two machines

Both ends prove that they know the token, which is not sent. Other traffic is neither encrypted nor
authenticated: use a trusted network.";
