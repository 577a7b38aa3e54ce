//! The `masque` binary. Everything else is in the library `masque_cli`.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::thread::Builder;

use masque_memory::{GuardedAllocator, is_main_stack_small, own_process};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: GuardedAllocator<MiMalloc> = GuardedAllocator(MiMalloc);

/// Stack size of the thread that runs the program if the main thread has a small stack, in bytes.
const STACK_BYTES: usize = 8 << 20;
/// Exit code of a bug.
const BUG: u8 = 101;

fn main() -> ExitCode {
    own_process();
    if is_main_stack_small()
        && let Ok(thread) =
            Builder::new().name("main".to_string()).stack_size(STACK_BYTES).spawn(masque_cli::main)
    {
        return thread.join().unwrap_or(ExitCode::from(BUG));
    }
    masque_cli::main()
}
