//! The TCP connections between workers, which timely uses.
//!
//! Each worker connects to the workers with a lower index and accepts connections from the others. Both
//! ends prove that they know the token of the run, so no unrelated connection becomes a worker. Messages
//! are sent unencrypted: the network must be trusted.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Allocator, AllocatorBuilder, Hooks, WorkerGuards, initialize_from};

use crate::connection;
use crate::introduction::{Caller, IntroductionError, Reception, introduce};
use crate::token::{Bytes, Token};
use crate::worker_set::POLL_INTERVAL;

/// Time between two looks for connections of other workers.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(2);

/// A worker that connects to the others.
pub(crate) struct Peer<'a> {
    /// Index of this worker.
    pub(crate) index: usize,
    /// Addresses of all workers.
    pub(crate) addresses: &'a [String],
    /// Random name of the run.
    pub(crate) run: Bytes,
    pub(crate) token: &'a Token,
    /// Maximum time to wait for the other workers.
    pub(crate) deadline: Instant,
    /// Time without a reply after which a connection is lost.
    pub(crate) connection_timeout: Duration,
}

impl Peer<'_> {
    /// Connects this worker with all others.
    pub(crate) fn connect(&self, listener: &TcpListener) -> Result<Vec<Option<TcpStream>>, String> {
        let mut streams: Vec<Option<TcpStream>> = self.addresses.iter().map(|_| None).collect();
        for (peer, stream) in streams.iter_mut().enumerate().take(self.index) {
            *stream = Some(self.connect_to(peer)?);
        }
        self.accept(listener, &mut streams)?;
        for stream in streams.iter().flatten() {
            connection::close_when_silent(stream, self.connection_timeout);
        }
        Ok(streams)
    }

    /// Connects to a worker with a lower index.
    fn connect_to(&self, peer: usize) -> Result<TcpStream, String> {
        let address = &self.addresses[peer];
        let (caller, end) = (Caller::Peer { index: self.index }, self.name_of(peer));
        let attempt = || {
            let stream = connection::connect(address, self.deadline)?;
            introduce(&stream, &caller, &end, self.token, self.deadline).map(|()| stream)
        };
        loop {
            let why = match attempt() {
                Ok(stream) => return Ok(stream),
                Err(IntroductionError::Broken(_)) if Instant::now() < self.deadline => {
                    std::thread::sleep(POLL_INTERVAL);
                    continue;
                }
                Err(IntroductionError::Broken(error)) => error.to_string(),
                Err(IntroductionError::Refused(why)) => why,
            };
            return Err(format!("worker {} at {address} cannot be reached: {why}", peer + 1));
        }
    }

    /// Accepts connections from all workers with a higher index.
    fn accept(&self, listener: &TcpListener, streams: &mut [Option<TcpStream>]) -> Result<(), String> {
        let cannot = |error: io::Error| format!("no connection can be accepted: {error}");
        let end = self.name_of(self.index);
        let mut reception = Reception::new(listener, &end, self.token).map_err(cannot)?;
        while let Some(missing) = (self.index + 1..streams.len()).find(|&peer| streams[peer].is_none()) {
            for (caller, stream) in reception.poll().map_err(cannot)? {
                if let Caller::Peer { index: peer } = caller
                    && (self.index + 1..streams.len()).contains(&peer)
                {
                    streams[peer] = Some(stream);
                }
            }
            if Instant::now() >= self.deadline {
                return Err(format!("worker {} has not connected in time", missing + 1));
            }
            std::thread::sleep(ACCEPT_INTERVAL);
        }
        Ok(())
    }

    /// Returns the name of a worker of this run, in the proofs of both ends.
    fn name_of(&self, index: usize) -> String {
        format!("{} {index}", self.run)
    }
}

/// Passes the connections to timely, and runs `work` on a thread of timely. If the system refuses a thread, the error is
/// [`io::ErrorKind::WouldBlock`].
pub(crate) fn run(
    streams: Vec<Option<TcpStream>>,
    index: usize,
    work: impl Fn(Allocator) + Send + Sync + 'static,
) -> io::Result<WorkerGuards<()>> {
    let hooks = Hooks::default();
    let inside = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
    let (builders, guard) = initialize_networking_from_sockets(inside, streams, index, 1, hooks)?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    // Its only error is that a thread cannot be started.
    initialize_from(builders, Box::new(guard), work).map_err(|_| io::ErrorKind::WouldBlock.into())
}
