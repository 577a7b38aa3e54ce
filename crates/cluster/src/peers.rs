//! The TCP connections between workers, which timely uses.
//!
//! Each worker connects to the workers with a lower index and accepts connections from the others. A
//! connecting worker presents the run's token, so that no unrelated connection becomes a worker. The token
//! and all messages are sent unencrypted: the network must be trusted.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Allocator, AllocatorBuilder, Hooks, WorkerGuards, initialize_from};

use crate::worker_set::POLL_INTERVAL;

/// Maximum time from a new connection until its first message.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects this worker, `index`, with all others; waits for them until the deadline.
pub(crate) fn connect(
    listener: &TcpListener,
    addresses: &[String],
    index: usize,
    token: &str,
    deadline: Instant,
) -> Result<Vec<Option<TcpStream>>, String> {
    let mut streams: Vec<Option<TcpStream>> = addresses.iter().map(|_| None).collect();
    for (peer, address) in addresses.iter().enumerate().take(index) {
        let stream = connect_until(address, deadline)
            .and_then(|stream| send_handshake(stream, index, token))
            .map_err(|error| format!("worker {} at {address} cannot be reached: {error}", peer + 1))?;
        streams[peer] = Some(stream);
    }
    let cannot = |error: io::Error| format!("no connection can be accepted: {error}");
    listener.set_nonblocking(true).map_err(cannot)?;
    while let Some(missing) = (index + 1..addresses.len()).find(|&peer| streams[peer].is_none()) {
        match listener.accept() {
            // A connection without the right token is closed without a reply.
            Ok((stream, _)) => {
                if let Ok((peer, stream)) = receive_handshake(stream, token)
                    && (index + 1..addresses.len()).contains(&peer)
                {
                    streams[peer] = Some(stream);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(cannot(error)),
        }
        if Instant::now() >= deadline {
            return Err(format!("worker {} has not connected in time", missing + 1));
        }
    }
    Ok(streams)
}

/// Passes the connections to timely, and runs `work` on a thread of timely.
pub(crate) fn run(
    streams: Vec<Option<TcpStream>>,
    index: usize,
    work: impl Fn(Allocator) + Send + Sync + 'static,
) -> Result<WorkerGuards<()>, String> {
    let hooks = Hooks::default();
    let inside = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
    let (builders, guard) = initialize_networking_from_sockets(inside, streams, index, 1, hooks)
        .map_err(|error| format!("the connections to other workers cannot be used: {error}"))?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    initialize_from(builders, Box::new(guard), work)
}

fn connect_until(address: &str, deadline: Instant) -> io::Result<TcpStream> {
    loop {
        let attempt = match address.to_socket_addrs() {
            Ok(mut found) => match found.next() {
                Some(found) => {
                    let left = deadline.saturating_duration_since(Instant::now()).max(POLL_INTERVAL);
                    TcpStream::connect_timeout(&found, left)
                }
                None => Err(io::ErrorKind::AddrNotAvailable.into()),
            },
            Err(error) => Err(error),
        };
        match attempt {
            Err(_) if Instant::now() < deadline => std::thread::sleep(POLL_INTERVAL),
            result => return result,
        }
    }
}

/// Sends the index of this worker and the token.
fn send_handshake(mut stream: TcpStream, index: usize, token: &str) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    stream.write_all(&(index as u64).to_le_bytes())?;
    stream.write_all(token.as_bytes())?;
    Ok(stream)
}

/// Reads the index of the connecting worker and checks its token.
fn receive_handshake(mut stream: TcpStream, token: &str) -> io::Result<(usize, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
    let mut index = [0; 8];
    stream.read_exact(&mut index)?;
    let mut presented = vec![0; token.len()];
    stream.read_exact(&mut presented)?;
    stream.set_read_timeout(None)?;
    if presented != token.as_bytes() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok((u64::from_le_bytes(index) as usize, stream))
}
