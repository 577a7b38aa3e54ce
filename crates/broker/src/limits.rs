//! The limits of the service, of sessions and of calls.

use std::time::Duration;

/// Upper limits. A call may request lower limits, but not higher ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time limit of a call, from the moment its work begins.
    pub time: Duration,
    /// Maximum number of states of a check.
    pub states: u64,
    /// Maximum bytes of a session and its running call, or of a child process.
    pub memory: u64,
    /// Maximum bytes of all sessions and calls in progress together.
    pub total_memory: u64,
    /// Maximum number of open sessions.
    pub sessions: usize,
    /// Time without calls after which a session is closed.
    pub idle: Duration,
    /// Maximum number of short calls in progress. One less long calls may be in progress, but at least one.
    pub workers: usize,
    /// Maximum number of waiting calls.
    pub queue: usize,
    /// Maximum number of child processes, each of which checks a model.
    pub children: usize,
    /// Maximum bytes of a message.
    pub body: usize,
    /// Maximum bytes of all messages that are being read or processed.
    pub bodies: usize,
    /// Maximum number of calls in one message.
    pub batch: usize,
    /// Maximum number of connections that have shown the token.
    pub connections: usize,
    /// Time in which a new connection must show the token.
    pub visit: Duration,
    /// Time that a client may take to send a request or to accept data of a response.
    pub patience: Duration,
    /// Time that calls in progress get to finish when the service stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let workers = std::thread::available_parallelism().map_or(2, |n| n.get().max(2));
        Limits {
            time: Duration::from_secs(10),
            states: 1_000_000,
            memory: 256 << 20,
            total_memory: 1 << 30,
            sessions: 1_000,
            idle: Duration::from_secs(30 * 60),
            workers,
            queue: 2_000,
            children: 2,
            body: 4 << 20,
            bodies: 64 << 20,
            batch: 1_000,
            connections: 1_024,
            visit: Duration::from_secs(1),
            patience: Duration::from_secs(30),
            grace: Duration::from_secs(2),
        }
    }
}
