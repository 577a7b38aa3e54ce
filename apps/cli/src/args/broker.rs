//! Arguments of `broker`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use masque_broker::Limits;

use crate::values::{bytes, duration};

/// Default address of the HTTP service, which only this machine can reach.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8417";

/// Arguments of `broker`.
#[derive(Clone, Debug, Args)]
#[command(after_help = BROKER_EXAMPLES)]
pub struct BrokerArgs {
    /// Serve HTTP on 127.0.0.1:8417 instead of standard input and output.
    #[arg(long, help_heading = "HTTP")]
    pub http: bool,
    /// Serve HTTP on this address. Port 0 selects a free port. If other machines can reach the
    /// address, a token is required.
    #[arg(long, value_name = "ADDR:PORT", help_heading = "HTTP")]
    pub listen: Option<SocketAddr>,
    /// Additional host name that requests may use for the service.
    #[arg(long = "allow-host", value_name = "NAME", help_heading = "HTTP")]
    pub hosts: Vec<String>,
    /// File with the token that requests must carry [default: the environment variable MASQUE_TOKEN,
    /// or a random token, which is printed on standard error].
    #[arg(long, value_name = "FILE", help_heading = "HTTP")]
    pub token_file: Option<PathBuf>,
    /// Accept requests from this machine without a token.
    #[arg(long, conflicts_with = "token_file", help_heading = "HTTP")]
    pub no_token: bool,

    /// Folder from which LCC texts may import files [default: imports refer only to texts of the same
    /// call].
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub root: Option<PathBuf>,
    /// Folder in which sessions are saved, so that they survive a restart of the service. Only one
    /// service can use it [default: sessions are not saved].
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub state_dir: Option<PathBuf>,
    /// Format of the log on standard error.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Files")]
    pub log_format: LogFormat,

    /// Time limit of a call, such as 500ms, 10s or 2m [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of a call")]
    pub timeout: Option<Duration>,
    /// Maximum number of states of a check [default: 1000000].
    #[arg(long, value_name = "N", help_heading = "Limits of a call")]
    pub states: Option<u64>,
    /// Memory limit of a session or a child process, such as 100M or 2G [default: 256M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits of a call")]
    pub memory: Option<u64>,
    /// Maximum size of a message [default: 4M].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits of a call")]
    pub message: Option<u64>,

    /// Maximum number of open sessions [default: 1000].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub sessions: Option<usize>,
    /// Memory limit of all sessions and calls together [default: 1G].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits of the service")]
    pub total_memory: Option<u64>,
    /// Time without calls after which a session is closed [default: 30m].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of the service")]
    pub idle: Option<Duration>,
    /// Maximum number of short calls in progress [default: the number of processors, at least 2].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub workers: Option<usize>,
    /// Maximum number of waiting calls [default: 2000].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub queue: Option<usize>,
    /// Maximum number of child processes [default: 2].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub children: Option<usize>,
    /// Maximum number of connections that have shown the token [default: 1024].
    #[arg(long, value_name = "N", help_heading = "Limits of the service")]
    pub connections: Option<usize>,
    /// Time that a client may take to send a request or to accept data of a response [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of the service")]
    pub patience: Option<Duration>,
    /// Time that calls in progress get to finish when the service stops [default: 2s].
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits of the service")]
    pub grace: Option<Duration>,
}

/// Formats of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines of text.
    #[default]
    Text,
    /// One JSON object per line, with `time`, `level`, `event` and `message`.
    Json,
}

const BROKER_EXAMPLES: &str = "\
Examples:
  masque broker                        one JSON-RPC message per line, one response per line
  masque broker --http                 POST http://127.0.0.1:8417/rpc, with the printed token
  masque broker --listen 127.0.0.1:0 --token-file token
  masque broker --http --state-dir sessions    the sessions survive a restart
  masque schema broker                 the parameters and results of the methods

Exit codes: 0 stopped on request, 2 could not start.";

impl BrokerArgs {
    /// The address to listen on, if HTTP is requested.
    pub fn address(&self) -> Option<SocketAddr> {
        if self.http { self.listen.or_else(|| DEFAULT_ADDRESS.parse().ok()) } else { self.listen }
    }

    /// The limits of the service.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        let body = self.message.map_or(usual.body, |size| usize::try_from(size).unwrap_or(usize::MAX));
        Limits {
            time: self.timeout.unwrap_or(usual.time),
            states: self.states.unwrap_or(usual.states),
            memory: self.memory.unwrap_or(usual.memory),
            body,
            // One message of maximum size must fit.
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
            visit: usual.visit,
        }
    }
}
