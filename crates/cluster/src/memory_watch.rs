//! How a worker process notices that it has no memory: an allocation has failed, or the process is much larger
//! than its limit allows. Workers count the bytes of their data, and that count is the limit; the size of the
//! process is a safety net for what is not counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use masque_memory::{Supervision, is_process_too_large, watched_limit};

/// Time between two checks. A process may grow by a gigabyte in a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// Value for "no limit".
const NO_LIMIT: u64 = u64::MAX;

/// Watches the memory of this process. Clones share the limit.
#[derive(Clone)]
pub(crate) struct MemoryWatch {
    limit: Arc<AtomicU64>,
}

impl MemoryWatch {
    /// Creates a watch without a limit.
    pub(crate) fn new() -> MemoryWatch {
        MemoryWatch { limit: Arc::new(AtomicU64::new(NO_LIMIT)) }
    }

    /// Sets the memory limit of this worker, in bytes.
    pub(crate) fn set_limit(&self, bytes: Option<u64>) {
        self.limit.store(bytes.unwrap_or(NO_LIMIT), Ordering::Relaxed);
    }

    /// Waits until this process has no memory; returns a message about it. From now on, another thread whose
    /// allocation fails sleeps, and this one finds memory in the reserve.
    pub(crate) fn wait(&self) -> String {
        let supervision = Supervision::begin();
        loop {
            std::thread::sleep(CHECK_INTERVAL);
            if supervision.has_allocation_failed() {
                return "the system has no more memory for it".to_string();
            }
            let limit = Some(self.limit.load(Ordering::Relaxed)).filter(|&bytes| bytes != NO_LIMIT);
            if is_process_too_large(limit.map(watched_limit)) {
                return "its process is larger than the memory limit allows".to_string();
            }
        }
    }
}

/// Whether an error means that the system has refused memory, or the memory for a thread.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory)
}
