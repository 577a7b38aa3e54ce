//! The allocator in a process whose system refuses large blocks.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use masque_memory::{GuardedAllocator, Supervision, try_allocate, unless_refused};

/// Blocks of this size or more are refused.
const REFUSED_BYTES: usize = 1 << 20;

struct Stingy;

// SAFETY: all blocks come from the system's allocator. The default `realloc` and `alloc_zeroed` use `alloc`.
unsafe impl GlobalAlloc for Stingy {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= REFUSED_BYTES {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's obligations.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligations.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: GuardedAllocator<Stingy> = GuardedAllocator(Stingy);

#[test]
fn a_refused_block_stops_its_thread_and_is_noticed() {
    a_refusal_is_a_value();
    assert!(try_allocate(REFUSED_BYTES).is_none() && try_allocate(100).is_some());
    let supervision = Supervision::begin();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        sender.send("before").unwrap();
        let block = vec![1_u8; REFUSED_BYTES];
        sender.send("after").unwrap();
        drop(block);
    });
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok("before"));
    // The thread neither goes on nor ends: that would drop the sender.
    assert_eq!(receiver.recv_timeout(Duration::from_millis(200)), Err(RecvTimeoutError::Timeout));
    assert!(supervision.has_allocation_failed());
    assert!(!Supervision::begin().has_allocation_failed(), "only failures since its beginning count");
    the_supervisor_goes_on();
}

/// A panic of a library is a value.
fn a_refusal_is_a_value() {
    // A backtrace would need large blocks.
    std::panic::set_hook(Box::new(|_| {}));
    assert_eq!(unless_refused(|| 3), Some(3));
    assert_eq!(unless_refused(|| -> u8 { panic!("no threads") }), None);
    assert!(!masque_memory::is_refusal_expected());
    drop(std::panic::take_hook());
}

/// The supervising thread gets blocks of the reserve: zeroed ones, too, and they can grow, shrink and be freed.
fn the_supervisor_goes_on() {
    let mut block = vec![0_u8; REFUSED_BYTES];
    assert!(block.iter().all(|byte| *byte == 0));
    block.fill(7);
    block.resize(2 * REFUSED_BYTES, 8);
    assert!(
        block[..REFUSED_BYTES].iter().all(|byte| *byte == 7)
            && block[REFUSED_BYTES..].iter().all(|byte| *byte == 8)
    );
    block.truncate(10);
    block.shrink_to_fit();
    assert_eq!(block, [7; 10]);
    let mut small = vec![5_u8; 100];
    small.resize(REFUSED_BYTES, 6);
    assert!(small[..100].iter().all(|byte| *byte == 5) && small[100..].iter().all(|byte| *byte == 6));
}
