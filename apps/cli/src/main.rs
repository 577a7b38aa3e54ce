//! The `masque` binary. Everything else is in the library `masque_cli`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use masque_memory::{GuardedAllocator, limit_pool_stacks};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: GuardedAllocator<MiMalloc> = GuardedAllocator(MiMalloc);

fn main() -> ExitCode {
    limit_pool_stacks();
    masque_cli::main()
}
