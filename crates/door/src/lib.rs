//! The door of a service over HTTP: which requests are accepted, and how long a connection may take.
//!
//! `masque broker` and `masque explore` listen on this machine, where any program can connect and any web page can
//! make a browser send requests. Both use the same rules for them.
//!
//! | file | holds |
//! |---|---|
//! | `access` | the rules for hosts, origins and tokens |
//! | `lobby` | connections that have not shown the token yet |
//! | `framing` | requests that give their length twice |
//! | `guarded_stream` | the stream of a connection: the last bytes received, and writes that time out |
//! | `connection` | listening, and one connection from its first request to its last |
//! | `runtime` | the threads that serve all connections |
#![forbid(unsafe_code)]

mod access;
mod connection;
mod framing;
mod guarded_stream;
mod lobby;
mod runtime;

pub use access::{AccessRules, BadToken, Refusal, Token};
pub use connection::{ConnectionEnd, check_headers, close_after, listen, only, serve_connection, takes_seat};
pub use lobby::{Lobby, Visitor};
pub use runtime::start_runtime;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. What it protects is valid even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
