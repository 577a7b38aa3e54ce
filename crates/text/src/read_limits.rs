//! Limits on reading: parsing and checking a text is work like any other, and stops when a limit is exceeded.
//!
//! Reading does not return errors everywhere. When a limit is exceeded, lexers, parsers and checkers end early
//! with an incomplete result, and the caller, which asks [`ReadLimits::exceeded`], discards it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use crate::MemoryShare;

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
    /// Memory that this task shares with others, and the bytes that it held before.
    share: Option<(Arc<MemoryShare>, u64)>,
    cancelled: Arc<AtomicBool>,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    /// Estimate of the bytes that the data read so far need.
    bytes: AtomicU64,
    /// Number of steps that needed no memory.
    steps: AtomicU64,
    /// Sum of bytes and steps above [`FREE_BYTES`] at which the clock is checked next.
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

    /// Takes the bytes from memory that this task shares with others, in addition to what it holds now.
    #[must_use]
    pub fn with_share(mut self, share: Arc<MemoryShare>) -> Self {
        let held = share.held();
        self.share = Some((share, held));
        self
    }

    /// Counts bytes that are about to be needed. Returns whether reading may continue.
    pub fn charge(&self, bytes: u64) -> bool {
        let total = self.counters.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let is_over = self.memory.is_some_and(|limit| total > limit.max(FREE_BYTES));
        // A small text is read even if nothing is left to share.
        let has_share = self
            .share
            .as_ref()
            .is_none_or(|(share, held)| share.hold(held.saturating_add(total)) || total <= FREE_BYTES);
        if is_over || !has_share {
            return self.stop(ReadLimit::Memory);
        }
        self.check_clock(total.saturating_add(self.counters.steps.load(Ordering::Relaxed)))
    }

    /// Counts steps of work that need no memory, each about as long as reading a byte. Returns whether reading may
    /// continue.
    pub fn work(&self, steps: u64) -> bool {
        let total = self.counters.steps.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        self.check_clock(total.saturating_add(self.bytes()))
    }

    /// Checks for cancellation and for the deadline, now and then.
    fn check_clock(&self, done: u64) -> bool {
        let counters = &*self.counters;
        if done > FREE_BYTES && done >= counters.next_check.load(Ordering::Relaxed) {
            counters.next_check.store(done.saturating_add(BYTES_PER_CLOCK_CHECK), Ordering::Relaxed);
            if self.cancelled.load(Ordering::Relaxed) {
                return self.stop(ReadLimit::Cancelled);
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return self.stop(ReadLimit::Time);
            }
        }
        self.may_continue()
    }

    /// Whether no limit is exceeded.
    pub fn may_continue(&self) -> bool {
        self.counters.exceeded.load(Ordering::Relaxed) == 0
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

    #[test]
    fn work_counts_without_memory() {
        let past = Instant::now().checked_sub(Duration::from_millis(1));
        let limits = ReadLimits::default().with_deadline(past).with_memory(1 << 20);
        assert!(limits.work(FREE_BYTES) && limits.may_continue() && !limits.work(1));
        assert_eq!((limits.exceeded(), limits.bytes()), (Some(ReadLimit::Time), 0));
    }

    #[test]
    fn shared_memory_is_limited() {
        let pool = crate::MemoryPool::new(3 << 20);
        let share = Arc::new(MemoryShare::new(&pool));
        let other = MemoryShare::new(&pool);
        assert!(other.hold(1 << 20));
        let limits = ReadLimits::default().with_share(Arc::clone(&share));
        assert!(limits.charge(2 << 20) && !limits.charge(1));
        assert_eq!((limits.exceeded(), share.held()), (Some(ReadLimit::Memory), 2 << 20));
    }
}
