//! Workers that the user starts, and that connect to the supervisor.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::time::Instant;

use masque_verdict::Budget;

use crate::peers::HANDSHAKE_TIMEOUT;
use crate::protocol::{self, PROTOCOL, Report};
use crate::worker_process::{Processes, WorkerProcess};
use crate::worker_set::{CommandError, Message, POLL_INTERVAL};

/// Settings for waiting until the workers have joined.
pub(crate) struct Waiting<'a> {
    pub(crate) workers: usize,
    pub(crate) listen: &'a str,
    pub(crate) token: &'a str,
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
        listener.set_nonblocking(true).map_err(cannot)?;
        // The user needs the command line to start workers. If nothing can be printed, it waits all the same.
        let command = format!("masque worker --join {address} --token {}", self.token);
        _ = writeln!(io::stderr(), "waiting for {} workers: {command}", self.workers);
        let mut workers = Vec::new();
        while workers.len() < self.workers {
            match listener.accept() {
                Ok((stream, _)) => {
                    // A connection without the right token is closed without a reply.
                    if let Ok(joined) = self.receive_hello(stream, workers.len(), messages) {
                        self.processes.add(&joined);
                        workers.push(joined);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(error) => return Err(cannot(error)),
            }
            self.budget.check()?;
            if Instant::now() >= self.deadline {
                let (joined, all) = (workers.len(), self.workers);
                let message = format!("only {joined} of {all} workers have joined at {address} in time");
                return Err(CommandError::Failed(message));
            }
        }
        Ok(workers)
    }

    /// Reads the first message of a worker and checks its token and its protocol.
    fn receive_hello(
        &self,
        mut stream: TcpStream,
        index: usize,
        messages: &Sender<(usize, Message)>,
    ) -> io::Result<WorkerProcess> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
        let Some(Report::Hello { protocol, token, host }) = protocol::read(&mut stream)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if token != self.token || protocol != PROTOCOL {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        stream.set_read_timeout(None)?;
        WorkerProcess::joined(stream, host, index, messages)
    }
}
