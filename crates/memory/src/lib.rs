//! Running out of memory as a result of a check instead of the end of the process.
//!
//! | module | has |
//! |---|---|
//! | `allocator` | [`GuardedAllocator`], which reports failed allocations to the thread that supervises the work |
//! | `reserve` | memory set aside for the report after an allocation has failed |
//! | `system` | the limits of the system on this process, and how much memory it uses |
//!
//! Engines count the bytes of their data, and these counts decide verdicts
//! ([ADR 11](../../../docs/adr/0011-running-out-of-memory.md)). What is here serves for the case that the
//! system gives less than was counted.

mod allocator;
mod reserve;
mod system;

pub use allocator::{GuardedAllocator, Supervision, is_refusal_expected, try_allocate, unless_refused};
pub use system::{
    is_main_stack_small, is_process_too_large, own_process, peak_resident_bytes, resident_bytes, room,
    watched_limit,
};
