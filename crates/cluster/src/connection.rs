//! TCP connections with deadlines, and the detection of connections whose packets vanish.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use socket2::{SockRef, TcpKeepalive};

/// Time until the deadline of a wait that is longer than the clock can represent.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Returns the moment after this time.
pub(crate) fn deadline_after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now + LONGEST_WAIT)
}

/// Connects to the first of the addresses of `HOST:PORT` that answers before the deadline.
pub(crate) fn connect(address: &str, deadline: Instant) -> io::Result<TcpStream> {
    let mut last_error = io::ErrorKind::AddrNotAvailable.into();
    for found in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&found, time_left(deadline)?) {
            Ok(stream) => return Ok(stream),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

/// Returns the time until a deadline, or an error if it has passed.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A connection on which all reading and writing must end before one deadline, however slowly bytes
/// arrive.
pub(crate) struct Timed<'a> {
    pub(crate) stream: &'a TcpStream,
    pub(crate) deadline: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(time_left(self.deadline)?))?;
        self.stream.read(bytes).map_err(timed_out)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(time_left(self.deadline)?))?;
        self.stream.write(bytes).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Unix reports the end of a time limit as `WouldBlock`.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

/// Lets the operating system close a connection whose other end has not replied for this time, whether
/// data is on its way or not.
///
/// On Linux both cases take this time. Elsewhere only an idle connection is closed so soon; one with data
/// on its way is closed when TCP gives up. Without the options, a connection is closed then.
pub(crate) fn close_when_silent(stream: &TcpStream, timeout: Duration) {
    let socket = SockRef::from(stream);
    let interval = (timeout / 3).max(Duration::from_secs(1));
    let keepalive = TcpKeepalive::new().with_time(interval);
    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "freebsd",
        windows
    ))]
    let keepalive = keepalive.with_interval(interval).with_retries(2);
    _ = socket.set_tcp_keepalive(&keepalive);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        _ = socket.set_tcp_user_timeout(Some(timeout));
    }
}

/// The time at which the last byte of the other end arrived. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct LastHeard(Arc<Mutex<Instant>>);

impl LastHeard {
    /// Starts with the present moment.
    pub(crate) fn now() -> LastHeard {
        LastHeard(Arc::new(Mutex::new(Instant::now())))
    }

    pub(crate) fn get(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that something has arrived.
    pub(crate) fn update(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// A reader that records when bytes arrive.
pub(crate) struct Heard<R> {
    pub(crate) input: R,
    pub(crate) last: LastHeard,
}

impl<R: Read> Read for Heard<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.input.read(bytes)?;
        self.last.update();
        Ok(n_bytes)
    }
}
