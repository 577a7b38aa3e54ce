//! An allocator that reports a failed allocation.
//!
//! Stable Rust aborts the process when an allocation fails. While a thread supervises work
//! ([`Supervision`]), this allocator instead stops every other thread whose allocation fails, for the rest
//! of the process. The supervising thread notices the failure, abandons the work and reports the results so
//! far. Its own allocations come from the reserve if the system refuses them.
//!
//! Large blocks come from the C library, which maps each of them on its own (`own_process` sees to that): a table that
//! grows is moved by the system without a second copy, and a block that is freed is returned at once. The other
//! allocator would keep it for a moment, in which the process is larger than its data: with a limit of 128 MB the peak
//! was 17 to 22 % above the limit.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::reserve;

/// The least size of a large block, in bytes.
pub(crate) const LARGE_BYTES: usize = 4 << 20;

/// Exit code of a process that has no memory left for a report: the code for "not everything is decided".
const EXIT_CODE: i32 = 3;

/// What a process without memory for a report writes to standard error.
const LAST_WORDS: &[u8] = b"masque: the system has no more memory for this process\n";

/// Number of failed allocations so far.
static N_FAILURES: AtomicU64 = AtomicU64::new(0);
/// Number of threads that supervise work.
static N_SUPERVISORS: AtomicUsize = AtomicUsize::new(0);
/// Whether a block of the reserve is in use. Until then no block needs to be looked for there.
static IS_RESERVE_USED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread supervises work, so that it must not be stopped.
    static IS_SUPERVISOR: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread handles failed allocations itself.
    static IS_TRYING: Cell<bool> = const { Cell::new(false) };
    /// Whether a panic of this thread means that the system has refused something.
    static IS_REFUSAL_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// A global allocator around another one. See the crate's documentation.
#[derive(Debug, Default)]
pub struct GuardedAllocator<A>(pub A);

fn is_large(bytes: usize) -> bool {
    bytes >= LARGE_BYTES
}

// SAFETY: blocks come from the inner allocator, from the system's if they are large, or from the reserve, whose blocks
// fit their layout, do not overlap and are never freed. A block is returned to the allocator it came from, because the
// layout says whether it is large.
unsafe impl<A: GlobalAlloc> GlobalAlloc for GuardedAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are those of both allocators.
        let block =
            unsafe { if is_large(layout.size()) { System.alloc(layout) } else { self.0.alloc(layout) } };
        if block.is_null() { replacement(layout) } else { block }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`. A block of the reserve is zero, because it has not been used before.
        let block = unsafe {
            if is_large(layout.size()) { System.alloc_zeroed(layout) } else { self.0.alloc_zeroed(layout) }
        };
        if block.is_null() { replacement(layout) } else { block }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if IS_RESERVE_USED.load(Ordering::Relaxed) && reserve::contains(block) {
            return;
        }
        // SAFETY: the block is not from the reserve, so its size says which allocator it is from.
        unsafe {
            if is_large(layout.size()) {
                System.dealloc(block, layout)
            } else {
                self.0.dealloc(block, layout)
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if IS_RESERVE_USED.load(Ordering::Relaxed) && reserve::contains(block) {
            // SAFETY: the caller guarantees that the new size makes a valid layout, and the block is live.
            return unsafe { self.move_block(block, layout, new_size) };
        }
        if is_large(layout.size()) != is_large(new_size) {
            // SAFETY: as above.
            return unsafe { self.move_block(block, layout, new_size) };
        }
        // SAFETY: the block is from this allocator; the rest are the caller's obligations.
        let new_block = unsafe {
            if is_large(new_size) {
                System.realloc(block, layout, new_size)
            } else {
                self.0.realloc(block, layout, new_size)
            }
        };
        if new_block.is_null() {
            // SAFETY: as above; a failed `realloc` leaves the block as it was.
            return unsafe { self.move_block(block, layout, new_size) };
        }
        new_block
    }
}

impl<A: GlobalAlloc> GuardedAllocator<A> {
    /// Moves a block into a new one.
    ///
    /// # Safety
    ///
    /// As for `realloc`.
    #[cold]
    unsafe fn move_block(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the size, rounded up to the alignment, does not overflow. Both
        // blocks are live and distinct, and each has at least the number of bytes copied.
        unsafe {
            let new_block = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new_block.is_null() {
                ptr::copy_nonoverlapping(block, new_block, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            new_block
        }
    }
}

/// Handles a failed allocation: returns null to a thread that handles failures itself, stops a supervised
/// thread, and gives memory of the reserve to all others.
#[cold]
fn replacement(layout: Layout) -> *mut u8 {
    if IS_TRYING.get() {
        return ptr::null_mut();
    }
    N_FAILURES.fetch_add(1, Ordering::Relaxed);
    if !IS_SUPERVISOR.get() && N_SUPERVISORS.load(Ordering::Relaxed) > 0 {
        // Unwinding would run destructors and handlers that allocate.
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
    IS_RESERVE_USED.store(true, Ordering::Relaxed);
    reserve::take(layout).unwrap_or_else(|| end_process())
}

/// Ends the process without allocating and without running destructors.
#[cfg(unix)]
fn end_process() -> ! {
    // SAFETY: the buffer is valid for its length, and `_exit` has no preconditions.
    unsafe {
        libc::write(libc::STDERR_FILENO, LAST_WORDS.as_ptr().cast(), LAST_WORDS.len());
        libc::_exit(EXIT_CODE)
    }
}

#[cfg(not(unix))]
fn end_process() -> ! {
    use std::io::Write as _;
    _ = std::io::stderr().write_all(LAST_WORDS);
    std::process::exit(EXIT_CODE)
}

/// Allocates a block of `bytes`; none if the system refuses it.
pub fn try_allocate(bytes: usize) -> Option<Vec<u8>> {
    let mut block = Vec::new();
    IS_TRYING.set(true);
    let is_possible = block.try_reserve_exact(bytes).is_ok();
    IS_TRYING.set(false);
    is_possible.then_some(block)
}

/// Calls a function of a library that panics if the system refuses threads; none if it does.
pub fn unless_refused<T>(start: impl FnOnce() -> T) -> Option<T> {
    IS_REFUSAL_EXPECTED.set(true);
    let started = catch_unwind(AssertUnwindSafe(start));
    IS_REFUSAL_EXPECTED.set(false);
    started.ok()
}

/// Whether a panic of the current thread is not a bug, because [`unless_refused`] handles it.
pub fn is_refusal_expected() -> bool {
    IS_REFUSAL_EXPECTED.get()
}

/// Marks the current thread as one that supervises the work of others, until it is dropped.
#[derive(Debug)]
pub struct Supervision {
    n_failures_before: u64,
    was_supervisor: bool,
    /// The mark belongs to the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl Supervision {
    /// Begins to supervise.
    #[must_use]
    pub fn begin() -> Supervision {
        N_SUPERVISORS.fetch_add(1, Ordering::Relaxed);
        Supervision {
            n_failures_before: N_FAILURES.load(Ordering::Relaxed),
            was_supervisor: IS_SUPERVISOR.replace(true),
            not_send: PhantomData,
        }
    }

    /// Whether an allocation has failed since the beginning. The thread in which it failed does not go on.
    pub fn has_allocation_failed(&self) -> bool {
        N_FAILURES.load(Ordering::Relaxed) != self.n_failures_before
    }
}

impl Drop for Supervision {
    fn drop(&mut self) {
        N_SUPERVISORS.fetch_sub(1, Ordering::Relaxed);
        IS_SUPERVISOR.set(self.was_supervisor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An allocator that counts the bytes of its blocks.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    // SAFETY: everything is left to the allocator of the system.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            self.0.fetch_add(layout.size(), Ordering::Relaxed);
            // SAFETY: the caller's obligations are the same.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            self.0.fetch_sub(layout.size(), Ordering::Relaxed);
            // SAFETY: the caller's obligations are the same.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[test]
    fn large_blocks_come_from_the_system_and_keep_their_contents() {
        let allocator = GuardedAllocator(Counting::default());
        let held = || allocator.0.0.load(Ordering::Relaxed);
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let sizes =
            [100, LARGE_BYTES - 1, LARGE_BYTES, 3 * LARGE_BYTES, LARGE_BYTES, 1000, 2 * LARGE_BYTES, 10];
        // SAFETY: the block is live, and every layout is that of its last size.
        unsafe {
            let mut block = allocator.alloc(layout(sizes[0]));
            (0..10).for_each(|i| block.add(i).write(i as u8 + 1));
            for pair in sizes.windows(2) {
                block = allocator.realloc(block, layout(pair[0]), pair[1]);
                assert!((0..10).all(|i| block.add(i).read() == i as u8 + 1), "{pair:?}");
                block.add(pair[1] - 1).write(7);
                (0..10).for_each(|i| block.add(i).write(i as u8 + 1));
                assert_eq!(held(), if is_large(pair[1]) { 0 } else { pair[1] }, "{pair:?}");
            }
            allocator.dealloc(block, layout(sizes[sizes.len() - 1]));
            for size in [64, LARGE_BYTES + 5] {
                let zeroed = allocator.alloc_zeroed(layout(size));
                assert!((0..size).step_by(61).all(|i| zeroed.add(i).read() == 0), "{size}");
                allocator.dealloc(zeroed, layout(size));
            }
        }
        assert_eq!(held(), 0);
    }
}
