//! Ctrl-C: the first asks for what is decided so far, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Exit;

/// Sets the flag at the first interrupt. Where signals cannot be handled, an interrupt ends the
/// process as it always did.
pub(crate) fn install(flag: &Arc<AtomicBool>) {
    let flag = Arc::clone(flag);
    _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Inconclusive.code().into());
        }
    });
}

/// Ctrl-C reaches all processes of a terminal. One that works for another waits to be ended by it.
pub(crate) fn ignore() {
    _ = ctrlc::set_handler(|| {});
}
