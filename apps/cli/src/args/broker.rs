//! Arguments of `broker`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use masque_broker::Limits;

use crate::values::{bytes, duration};

/// Where the service is without an address: this machine only.
const ADDRESS: &str = "127.0.0.1:8417";

/// Arguments of `broker`.
#[derive(Clone, Debug, Args)]
#[command(after_help = BROKER_EXAMPLES)]
pub struct BrokerArgs {
    /// Speak HTTP on 127.0.0.1:8417 instead of standard input and output.
    #[arg(long, help_heading = "HTTP")]
    pub http: bool,
    /// Speak HTTP on this address; port 0 is any that is free. Beyond this machine a token is needed.
    #[arg(long, value_name = "ADDR:PORT", help_heading = "HTTP")]
    pub listen: Option<SocketAddr>,
    /// A name besides the address by which clients may ask for the service.
    #[arg(long = "allow-host", value_name = "NAME", help_heading = "HTTP")]
    pub hosts: Vec<String>,
    /// A file with the token that requests must carry [default: MASQUE_TOKEN, or a new one, which is
    /// told on standard error].
    #[arg(long, value_name = "FILE", help_heading = "HTTP")]
    pub token_file: Option<PathBuf>,
    /// Let everybody on this machine in, without a token.
    #[arg(long, conflicts_with = "token_file", help_heading = "HTTP")]
    pub no_token: bool,

    /// Read imports of LCC texts below this folder, too [default: imports find only texts of the
    /// same call].
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub root: Option<PathBuf>,

    /// The most time for a call: 500ms, 10s, 2m [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of a call")]
    pub timeout: Option<Duration>,
    /// The most states for a check [default: 1000000].
    #[arg(long, value_name = "N", help_heading = "Limits of a call")]
    pub states: Option<u64>,
    /// The most memory for a session or a child process: 100M, 2G [default: 256M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits of a call")]
    pub memory: Option<u64>,
    /// The longest message [default: 4M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits of a call")]
    pub message: Option<u64>,

    /// The most sessions at the same time [default: 1000].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub sessions: Option<usize>,
    /// The most memory for all sessions together [default: 1G].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits of the service")]
    pub total_memory: Option<u64>,
    /// Close a session that is not used for so long [default: 30m].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of the service")]
    pub idle: Option<Duration>,
    /// Calls that are worked on at the same time [default: one for each core].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub workers: Option<usize>,
    /// Calls that may wait for that [default: 2000].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub queue: Option<usize>,
    /// Child processes at the same time [default: 2].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub children: Option<usize>,
    /// Connections at the same time [default: 1024].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub connections: Option<usize>,
    /// How long a client may take to send a request, or to take a part of its answer [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of the service")]
    pub patience: Option<Duration>,
    /// How long calls may go on when the service is to end [default: 2s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of the service")]
    pub grace: Option<Duration>,
}

const BROKER_EXAMPLES: &str = "\
Examples:
  masque broker                        one JSON-RPC message in a line, one answer in a line
  masque broker --http                 POST http://127.0.0.1:8417/rpc, with the token it tells
  masque broker --listen 127.0.0.1:0 --token-file token
  masque schema broker                 what the methods take and give

Exit codes: 0 it was asked to end, 2 it could not begin.";

impl BrokerArgs {
    /// Where to listen, if HTTP is wanted.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listen.or_else(|| ADDRESS.parse().ok().filter(|_| self.http))
    }

    /// What may be used.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        let body = self.message.map_or(usual.body, |size| usize::try_from(size).unwrap_or(usize::MAX));
        Limits {
            time: self.timeout.unwrap_or(usual.time),
            states: self.states.unwrap_or(usual.states),
            memory: self.memory.unwrap_or(usual.memory),
            body,
            // One message of the greatest size must fit.
            bodies: usual.bodies.max(body),
            sessions: self.sessions.unwrap_or(usual.sessions),
            total_memory: self.total_memory.unwrap_or(usual.total_memory),
            idle: self.idle.unwrap_or(usual.idle),
            workers: self.workers.unwrap_or(usual.workers),
            queue: self.queue.unwrap_or(usual.queue),
            children: self.children.unwrap_or(usual.children),
            connections: self.connections.unwrap_or(usual.connections),
            patience: self.patience.unwrap_or(usual.patience),
            grace: self.grace.unwrap_or(usual.grace),
            batch: usual.batch,
        }
    }
}
