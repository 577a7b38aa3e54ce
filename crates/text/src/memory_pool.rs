//! Memory that several tasks of one process share, such as the sessions and calls of a service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A number of bytes that several tasks share. It counts what the tasks report; it allocates nothing.
#[derive(Debug)]
pub struct MemoryPool {
    limit: u64,
    used: AtomicU64,
    is_exhausted: AtomicBool,
}

impl MemoryPool {
    /// A pool of this many bytes.
    pub fn new(limit: u64) -> Arc<MemoryPool> {
        Arc::new(MemoryPool { limit, used: AtomicU64::new(0), is_exhausted: AtomicBool::new(false) })
    }

    /// The bytes that all tasks hold.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether the tasks hold all bytes of the pool.
    pub fn is_full(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed) || self.used() >= self.limit
    }

    /// Sets whether the process as a whole has too little memory, as measured by the operating system. While it
    /// has, no task may hold more than it does.
    pub fn set_exhausted(&self, is_exhausted: bool) {
        self.is_exhausted.store(is_exhausted, Ordering::Relaxed);
    }
}

/// The bytes of a pool that one task holds. They return to the pool when the share is dropped.
///
/// ```
/// use masque_text::{MemoryPool, MemoryShare};
/// let pool = MemoryPool::new(100);
/// let (one, other) = (MemoryShare::new(&pool), MemoryShare::new(&pool));
/// assert!(one.hold(60) && other.hold(40) && !one.hold(61));
/// assert!(one.hold(10) && pool.used() == 50);
/// drop(other);
/// assert_eq!(pool.used(), 10);
/// ```
#[derive(Debug)]
pub struct MemoryShare {
    pool: Arc<MemoryPool>,
    held: AtomicU64,
}

impl MemoryShare {
    /// A share that holds nothing.
    pub fn new(pool: &Arc<MemoryPool>) -> MemoryShare {
        MemoryShare { pool: Arc::clone(pool), held: AtomicU64::new(0) }
    }

    /// The bytes that the task holds.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Records that the task needs this many bytes in total now. Returns false, and records nothing, if the task
    /// would hold more than before and the pool has too few bytes left.
    pub fn hold(&self, bytes: u64) -> bool {
        let before = self.held.load(Ordering::Relaxed);
        if bytes <= before {
            self.set(bytes);
            return true;
        }
        let more = bytes - before;
        let has_room = |used: u64| used.checked_add(more).filter(|used| *used <= self.pool.limit);
        let is_taken = !self.pool.is_exhausted.load(Ordering::Relaxed)
            && self.pool.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room).is_ok();
        if is_taken {
            self.held.store(bytes, Ordering::Relaxed);
        }
        is_taken
    }

    /// Records that the task holds this many bytes in total now, even if the pool has too few.
    pub fn set(&self, bytes: u64) {
        let before = self.held.swap(bytes, Ordering::Relaxed);
        self.pool.used.fetch_add(bytes, Ordering::Relaxed);
        self.pool.used.fetch_sub(before, Ordering::Relaxed);
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_process_gives_no_more() {
        let pool = MemoryPool::new(100);
        let share = MemoryShare::new(&pool);
        assert!(share.hold(10) && !pool.is_full());
        pool.set_exhausted(true);
        assert!(!share.hold(11) && share.hold(10) && share.hold(5) && pool.is_full());
        pool.set_exhausted(false);
        assert!(share.hold(100) && pool.is_full() && !share.hold(101));
        share.set(150);
        assert_eq!((pool.used(), share.held()), (150, 150));
        drop(share);
        assert_eq!(pool.used(), 0);
    }
}
