//! Limits on reading: parsing and checking a text is work like any other, and stops when a limit is exceeded.
//!
//! Reading does not return errors everywhere. When a limit is exceeded, lexers, parsers and checkers end early
//! with an incomplete result, and the caller, which asks [`ReadLimits::exceeded`], discards it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// Number of bytes that are free: a small text is always read, so that a report can name its properties.
const FREE_BYTES: u64 = 1 << 20;
/// Number of counted bytes between two looks at the clock.
const BYTES_PER_CLOCK_CHECK: u64 = 1 << 14;

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLimit {
    /// The deadline has passed.
    Time,
    /// The data need too many bytes.
    Memory,
    /// Reading was cancelled.
    Cancelled,
}

/// Limits on time and memory, and cancellation. The default is unlimited; clones share the counters. No limit
/// applies to the first mebibyte.
///
/// ```
/// use masque_text::{ReadLimit, ReadLimits};
/// let limits = ReadLimits::default().with_memory(2 << 20);
/// assert!(limits.charge(2 << 20) && limits.exceeded().is_none());
/// assert!(!limits.charge(1));
/// assert_eq!(limits.exceeded(), Some(ReadLimit::Memory));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadLimits {
    deadline: Option<Instant>,
    memory: Option<u64>,
    cancelled: Arc<AtomicBool>,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    /// Estimate of the bytes that the data read so far need.
    bytes: AtomicU64,
    /// Value of `bytes` above [`FREE_BYTES`] at which the clock is checked next.
    next_check: AtomicU64,
    /// The limit that was exceeded: 0 for none, else its position in [`LIMITS`] plus 1.
    exceeded: AtomicU8,
}

const LIMITS: [ReadLimit; 3] = [ReadLimit::Time, ReadLimit::Memory, ReadLimit::Cancelled];

impl ReadLimits {
    /// Sets a deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Limits the bytes that the data need.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Stops when this flag becomes true.
    #[must_use]
    pub fn with_cancel(mut self, cancelled: Arc<AtomicBool>) -> Self {
        self.cancelled = cancelled;
        self
    }

    /// Counts bytes that are about to be needed. Returns whether reading may continue.
    pub fn charge(&self, bytes: u64) -> bool {
        let counters = &*self.counters;
        let total = counters.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if self.memory.is_some_and(|limit| total > limit.max(FREE_BYTES)) {
            return self.stop(ReadLimit::Memory);
        }
        if total > FREE_BYTES && total >= counters.next_check.load(Ordering::Relaxed) {
            counters.next_check.store(total.saturating_add(BYTES_PER_CLOCK_CHECK), Ordering::Relaxed);
            if self.cancelled.load(Ordering::Relaxed) {
                return self.stop(ReadLimit::Cancelled);
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return self.stop(ReadLimit::Time);
            }
        }
        counters.exceeded.load(Ordering::Relaxed) == 0
    }

    /// Records the first limit that is exceeded.
    fn stop(&self, limit: ReadLimit) -> bool {
        let number = LIMITS.iter().position(|other| *other == limit).map_or(0, |index| index as u8 + 1);
        _ = self.counters.exceeded.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        false
    }

    /// The limit that was exceeded, if one was: then what was read is incomplete.
    pub fn exceeded(&self) -> Option<ReadLimit> {
        let number = self.counters.exceeded.load(Ordering::Relaxed);
        number.checked_sub(1).map(|index| LIMITS[usize::from(index)])
    }

    /// Estimate of the bytes that the data read so far need.
    pub fn bytes(&self) -> u64 {
        self.counters.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_limit_stays() {
        let flag = Arc::new(AtomicBool::new(false));
        let limits = ReadLimits::default().with_cancel(Arc::clone(&flag)).with_memory(1 << 21);
        assert!(limits.charge(FREE_BYTES));
        flag.store(true, Ordering::Relaxed);
        assert!(!limits.charge(BYTES_PER_CLOCK_CHECK) && !limits.charge(1 << 30));
        assert_eq!(limits.exceeded(), Some(ReadLimit::Cancelled));
        let late = ReadLimits::default().with_deadline(Instant::now().checked_sub(Duration::from_millis(1)));
        assert!(late.charge(FREE_BYTES) && !late.charge(1) && !late.clone().charge(0));
        assert_eq!(late.exceeded(), Some(ReadLimit::Time));
        assert!(ReadLimits::default().charge(u64::MAX));
    }
}
