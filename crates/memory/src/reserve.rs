//! Memory set aside for the report after an allocation has failed.
//!
//! The reserve is part of the program's zero-initialised data, so it takes no physical memory until it is
//! used. Its blocks are never freed: it is used once, for the last moments of a process.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size of the reserve, in bytes.
const RESERVE_BYTES: usize = 16 << 20;

#[repr(align(4096))]
struct Reserve {
    bytes: UnsafeCell<[u8; RESERVE_BYTES]>,
    n_used: AtomicUsize,
}

// SAFETY: the bytes are only handed out as disjoint blocks, each of which belongs to its receiver.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve { bytes: UnsafeCell::new([0; RESERVE_BYTES]), n_used: AtomicUsize::new(0) };

/// Takes a block that has not been used before, so it is zero; none if the reserve has no such block.
pub(crate) fn take(layout: Layout) -> Option<*mut u8> {
    let start = RESERVE.bytes.get().cast::<u8>();
    let place = |n_used: usize| -> Option<usize> {
        let padding = start.wrapping_add(n_used).align_offset(layout.align());
        n_used.checked_add(padding)
    };
    let next = |n_used: usize| {
        let end = place(n_used)?.checked_add(layout.size())?;
        (end <= RESERVE_BYTES).then_some(end)
    };
    let n_used = RESERVE.n_used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
    Some(start.wrapping_add(place(n_used)?))
}

/// Whether a block is part of the reserve.
pub(crate) fn contains(block: *const u8) -> bool {
    let start = RESERVE.bytes.get() as usize;
    (start..start + RESERVE_BYTES).contains(&(block as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_disjoint_and_limited() {
        let mut ends = 0;
        for (size, align) in [(1, 1), (24, 8), (3, 1), (100, 64), (4096, 4096)] {
            let block = take(Layout::from_size_align(size, align).unwrap()).unwrap();
            assert!(contains(block) && (block as usize).is_multiple_of(align) && block as usize >= ends);
            ends = block as usize + size;
        }
        assert!(take(Layout::from_size_align(RESERVE_BYTES, 1).unwrap()).is_none());
        assert!(take(Layout::from_size_align(isize::MAX as usize - 7, 8).unwrap()).is_none());
        assert!(!contains(&raw const ends as *const u8));
    }
}
