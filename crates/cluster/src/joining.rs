//! Workers that somebody else starts, and that join.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_verdict::Budget;

use crate::crew::{Event, NoAnswer};
use crate::link::{self, PROTOCOL, Report};
use crate::started::{Processes, Started};

/// How often the clock is looked at while workers join.
const PULSE: Duration = Duration::from_millis(20);
/// How long whoever joins may take to say who it is.
const INTRODUCTION: Duration = Duration::from_secs(5);

/// Workers that others start, and that are waited for.
pub(crate) struct Waiting<'a> {
    pub(crate) workers: usize,
    pub(crate) listen: &'a str,
    pub(crate) token: &'a str,
    pub(crate) deadline: Instant,
    pub(crate) budget: &'a Budget,
    pub(crate) processes: &'a Processes,
}

impl Waiting<'_> {
    pub(crate) fn accept(&self, events: &Sender<(usize, Event)>) -> Result<Vec<Started>, NoAnswer> {
        let cannot = |error| NoAnswer::Trouble(format!("workers cannot join at {}: {error}", self.listen));
        let listener = TcpListener::bind(self.listen).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        // Whoever starts the workers must know how; a supervisor that nobody reads waits all the same.
        let how = format!("masque worker --join {address} --token {}", self.token);
        _ = writeln!(io::stderr(), "waiting for {} workers: {how}", self.workers);
        let mut started = Vec::new();
        while started.len() < self.workers {
            match listener.accept() {
                Ok((stream, _)) => {
                    // A stranger is sent away without a word.
                    if let Ok(joined) = self.meet(stream, started.len(), events) {
                        self.processes.add(&joined);
                        started.push(joined);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PULSE),
                Err(error) => return Err(cannot(error)),
            }
            self.budget.check()?;
            if Instant::now() >= self.deadline {
                let (joined, all) = (started.len(), self.workers);
                let message = format!("{joined} of {all} workers have joined at {address} in time");
                return Err(NoAnswer::Trouble(message));
            }
        }
        Ok(started)
    }

    fn meet(
        &self,
        mut stream: TcpStream,
        number: usize,
        events: &Sender<(usize, Event)>,
    ) -> io::Result<Started> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(INTRODUCTION))?;
        let Some(Report::Hello { protocol, token, host }) = link::read(&mut stream)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if token != self.token || protocol != PROTOCOL {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        stream.set_read_timeout(None)?;
        Started::joined(stream, host, number, events)
    }
}
