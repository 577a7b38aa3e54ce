//! Arguments about several processes.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::values::duration;

/// How a check is spread over processes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Several processes")]
#[group(id = "spread")]
pub struct ClusterArgs {
    /// Spread the states over so many processes on this machine.
    #[arg(long, value_name = "P", group = "places")]
    pub processes: Option<NonZeroUsize>,
    /// Spread the states over processes on these machines: a file with HOST or HOST:PORT in a line.
    #[arg(long, value_name = "FILE", group = "places")]
    pub cluster: Option<PathBuf>,
    /// Spread the states over so many processes that you start yourself with `masque worker`; how
    /// is told on standard error.
    #[arg(long, value_name = "N", group = "places")]
    pub await_workers: Option<NonZeroUsize>,
    /// What starts a process on a machine: it is given HOST PROGRAM worker.
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes", requires = "cluster")]
    pub launcher: String,
    /// Where to listen for workers that you start.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0", requires = "await_workers")]
    pub listen: String,
    /// What workers that you start must show [default: made up].
    #[arg(long, value_name = "TOKEN", requires = "await_workers")]
    pub token: Option<String>,
    /// How long the processes may take to start.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s", requires = "places")]
    pub start_within: Duration,
    /// How long a process may say nothing before it is taken for lost.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20s", requires = "places", hide = true)]
    pub silence: Duration,
    /// Store what is found in this directory, at each process, so that another run can go on.
    #[arg(long, value_name = "DIR", requires = "places")]
    pub checkpoint: Option<PathBuf>,
    /// How often to do so while states are looked for.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m", requires = "checkpoint")]
    pub checkpoint_every: Duration,
    /// Go on from what is stored, with as many processes as there were.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl ClusterArgs {
    /// Whether several processes are asked for.
    pub fn is_given(&self) -> bool {
        self.processes.is_some() || self.cluster.is_some() || self.await_workers.is_some()
    }
}

/// Arguments of `worker`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WORKER_EXAMPLES)]
pub struct WorkerArgs {
    /// Where the check listens for workers; without this, orders come from standard input.
    #[arg(long, value_name = "HOST:PORT", requires = "token")]
    pub join: Option<String>,
    /// The token that the check has told.
    #[arg(long, value_name = "TOKEN", requires = "join")]
    pub token: Option<String>,
    /// Where other workers find this one [default: the address that the check sees].
    #[arg(long, value_name = "HOST", requires = "join")]
    pub host: Option<String>,
}

const WORKER_EXAMPLES: &str = "\
Examples:
  masque check dc.ispl --await-workers 2 --listen 10.0.0.1:4000 --token secret
  masque worker --join 10.0.0.1:4000 --token secret      on two machines

Traffic is neither encrypted nor authenticated beyond the token: use it on a network you trust.";
