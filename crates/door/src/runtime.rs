//! The threads that serve all connections.

use std::io;
use std::sync::Mutex;
use std::thread;

use tokio::runtime::{Builder, Runtime};

use crate::lock;

/// Number of threads that serve connections. Work that takes long is done elsewhere.
const N_THREADS: usize = 2;

/// Starts the threads that serve connections.
///
/// # Errors
///
/// If the system refuses them.
pub fn start_runtime() -> io::Result<Runtime> {
    // The library panics if the system refuses a thread, and then waits forever for those that it has started.
    try_threads(N_THREADS + 1)?;
    Builder::new_multi_thread().worker_threads(N_THREADS).enable_all().build()
}

/// Starts threads that exist at the same time, and ends them.
fn try_threads(n_threads: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    let pass = || drop(lock(&gate));
    thread::scope(|scope| {
        let closed = lock(&gate);
        let start = |_| thread::Builder::new().spawn_scoped(scope, pass).map(drop);
        let started = (0..n_threads).try_for_each(start);
        drop(closed);
        started
    })
}
