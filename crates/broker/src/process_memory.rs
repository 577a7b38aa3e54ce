//! The memory of the whole process, as the operating system measures it.
//!
//! Sessions and calls count the bytes of their data, and these counts are the limits. The process may need more
//! than they count: memory that the allocator keeps, or data that is not counted exactly. If the process
//! nevertheless exceeds the limit on all memory, no session or call may grow until it is below again.

use std::sync::Arc;
use std::time::Duration;

use masque_memory::resident_bytes;
use masque_text::MemoryPool;

/// Bytes of the process that are not for sessions and calls, such as its code and the buffers of connections.
const PROCESS_BYTES: u64 = 8 << 20;
/// Time between two measurements.
const MEASURE_INTERVAL: Duration = Duration::from_millis(10);

/// Watches the memory of the process as long as the pool exists.
pub(crate) fn watch(pool: &Arc<MemoryPool>, limit: u64) -> std::io::Result<()> {
    if resident_bytes().is_none() {
        return Ok(());
    }
    let pool = Arc::downgrade(pool);
    let limit = limit.saturating_add(PROCESS_BYTES);
    let work = move || {
        while let Some(pool) = pool.upgrade() {
            pool.set_exhausted(resident_bytes().is_some_and(|bytes| bytes > limit));
            drop(pool);
            std::thread::sleep(MEASURE_INTERVAL);
        }
    };
    std::thread::Builder::new().name("memory".to_string()).spawn(work).map(|_| ())
}
