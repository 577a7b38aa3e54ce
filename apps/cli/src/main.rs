//! The `masque` binary. Everything else is in the library `masque_cli`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use masque_memory::{GuardedAllocator, own_process};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: GuardedAllocator<MiMalloc> = GuardedAllocator(MiMalloc);

fn main() -> ExitCode {
    own_process();
    masque_cli::main()
}
