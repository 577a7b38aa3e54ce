//! Workers that the user starts, and that connect to the supervisor.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_verdict::Budget;

use crate::connection;
use crate::introduction::{Caller, IntroductionError, Reception, introduce};
use crate::token::Token;
use crate::worker_process::{Processes, WorkerProcess};
use crate::worker_set::{CommandError, Message, POLL_INTERVAL};

/// What workers connect to, in the proofs of both ends.
const JOIN: &str = "join";
/// Maximum time in which a worker joins.
const JOIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings for waiting until the workers have joined.
pub(crate) struct Waiting<'a> {
    pub(crate) workers: usize,
    pub(crate) listen: &'a str,
    pub(crate) token: &'a Token,
    /// Whether the user has given the token, and so knows it.
    pub(crate) is_known: bool,
    pub(crate) deadline: Instant,
    pub(crate) budget: &'a Budget,
    pub(crate) processes: &'a Processes,
}

impl Waiting<'_> {
    /// Waits until all workers have joined.
    pub(crate) fn accept(
        &self,
        messages: &Sender<(usize, Message)>,
    ) -> Result<Vec<WorkerProcess>, CommandError> {
        let cannot = |error| CommandError::Failed(format!("workers cannot join at {}: {error}", self.listen));
        let listener = TcpListener::bind(self.listen).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let mut reception = Reception::new(&listener, JOIN, self.token).map_err(cannot)?;
        self.print_command(&address.to_string());
        let mut workers = Vec::new();
        loop {
            for (caller, stream) in reception.poll().map_err(cannot)? {
                if let Caller::Worker { host } = caller
                    && workers.len() < self.workers
                    && let Ok(joined) = WorkerProcess::joined(stream, host, workers.len(), messages)
                {
                    self.processes.add(&joined);
                    workers.push(joined);
                }
            }
            if workers.len() == self.workers {
                return Ok(workers);
            }
            self.budget.check()?;
            if Instant::now() >= self.deadline {
                let (joined, all) = (workers.len(), self.workers);
                let message = format!("only {joined} of {all} workers have joined at {address} in time");
                return Err(CommandError::Failed(message));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Prints the command that starts a worker, and the token if the user does not know it. If nothing can
    /// be printed, the supervisor waits all the same.
    fn print_command(&self, address: &str) {
        let token =
            if self.is_known { String::new() } else { format!("MASQUE_TOKEN={} ", self.token.text()) };
        let command = format!("{token}masque worker --join {address}");
        _ = writeln!(io::stderr(), "waiting for {} workers: {command}", self.workers);
    }
}

/// Connects a worker to the supervisor at an address. An error is a message of one line.
pub(crate) fn join(address: &str, token: &Token, host: Option<String>) -> Result<TcpStream, String> {
    let cannot = |error: io::Error| format!("the supervisor at {address} cannot be reached: {error}");
    let deadline = Instant::now() + JOIN_TIMEOUT;
    let caller = Caller::Worker { host };
    loop {
        let stream = connection::connect(address, deadline).map_err(cannot)?;
        match introduce(&stream, &caller, JOIN, token, deadline) {
            Ok(()) => return Ok(stream),
            Err(IntroductionError::Refused(why)) => {
                return Err(format!("the supervisor at {address} cannot be joined: {why}"));
            }
            // The supervisor had no time for it: there were too many other connections.
            Err(IntroductionError::Broken(error)) if Instant::now() >= deadline => return Err(cannot(error)),
            Err(IntroductionError::Broken(_)) => std::thread::sleep(POLL_INTERVAL),
        }
    }
}
