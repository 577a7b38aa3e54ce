//! The connections between workers, over which timely sends.
//!
//! Each worker connects to those before it and is connected to by those after it. Both ends show the
//! run's token, so that no stray connection becomes a worker; that is no protection against those who
//! listen, and nothing that is sent is secret: the network must be trusted.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Allocator, AllocatorBuilder, Hooks, WorkerGuards, initialize_from};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a connection may take to say who it is.
const INTRODUCTION: Duration = Duration::from_secs(5);

/// Connects this worker, `index`, with all others. Whoever says nothing is waited for until the
/// deadline.
pub(crate) fn connect(
    listener: &TcpListener,
    addresses: &[String],
    index: usize,
    token: &str,
    deadline: Instant,
) -> Result<Vec<Option<TcpStream>>, String> {
    let mut streams: Vec<Option<TcpStream>> = addresses.iter().map(|_| None).collect();
    for (number, address) in addresses.iter().enumerate().take(index) {
        let stream = reach(address, deadline)
            .and_then(|stream| introduce(stream, index, token))
            .map_err(|error| format!("worker {} at {address} cannot be reached: {error}", number + 1))?;
        streams[number] = Some(stream);
    }
    let cannot = |error: io::Error| format!("no connection can be accepted: {error}");
    listener.set_nonblocking(true).map_err(cannot)?;
    while let Some(missing) = (index + 1..addresses.len()).find(|&number| streams[number].is_none()) {
        match listener.accept() {
            // A stranger is sent away without a word.
            Ok((stream, _)) => {
                if let Ok((number, stream)) = meet(stream, token)
                    && (index + 1..addresses.len()).contains(&number)
                {
                    streams[number] = Some(stream);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(cannot(error)),
        }
        if Instant::now() >= deadline {
            return Err(format!("worker {} has not connected in time", missing + 1));
        }
    }
    Ok(streams)
}

/// Hands the connections to timely, and does the work on a thread of timely's.
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

fn reach(address: &str, deadline: Instant) -> io::Result<TcpStream> {
    loop {
        let attempt = match address.to_socket_addrs() {
            Ok(mut found) => match found.next() {
                Some(found) => {
                    let left = deadline.saturating_duration_since(Instant::now()).max(PAUSE);
                    TcpStream::connect_timeout(&found, left)
                }
                None => Err(io::ErrorKind::AddrNotAvailable.into()),
            },
            Err(error) => Err(error),
        };
        match attempt {
            Err(_) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Says who connects.
fn introduce(mut stream: TcpStream, index: usize, token: &str) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    stream.write_all(&(index as u64).to_le_bytes())?;
    stream.write_all(token.as_bytes())?;
    Ok(stream)
}

/// Hears who connects.
fn meet(mut stream: TcpStream, token: &str) -> io::Result<(usize, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(INTRODUCTION))?;
    let mut index = [0; 8];
    stream.read_exact(&mut index)?;
    let mut shown = vec![0; token.len()];
    stream.read_exact(&mut shown)?;
    stream.set_read_timeout(None)?;
    match shown == token.as_bytes() {
        true => Ok((u64::from_le_bytes(index) as usize, stream)),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}
