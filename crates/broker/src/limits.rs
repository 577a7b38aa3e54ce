//! What the service, a session and a call may use.

use std::time::Duration;

/// What may be used at most. A call may ask for less, never for more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time of one call, from the moment it is begun.
    pub time: Duration,
    /// The states that one check looks at.
    pub states: u64,
    /// The memory of one session, or of one child process.
    pub memory: u64,
    /// The memory of all sessions together.
    pub total_memory: u64,
    /// Sessions that are open at the same time.
    pub sessions: usize,
    /// How long a session may be unused before it is closed.
    pub idle: Duration,
    /// Calls that are worked on at the same time.
    pub workers: usize,
    /// Calls that wait for that.
    pub queue: usize,
    /// Child processes at the same time, each with a model to check.
    pub children: usize,
    /// The size of a message.
    pub body: usize,
    /// The size of all messages that are read or answered at the same time.
    pub bodies: usize,
    /// Calls in one message.
    pub batch: usize,
    /// Connections at the same time.
    pub connections: usize,
    /// How long a client may take to send a request, or to take a part of its answer.
    pub patience: Duration,
    /// How long calls may take to come to their own end when the service ends.
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
            patience: Duration::from_secs(30),
            grace: Duration::from_secs(2),
        }
    }
}
