//! Ctrl-C: the first stops the check and reports the verdicts known so far, the second ends the process at once.
//!
//! The handlers only read and set flags, so no thread is needed that waits for signals; starting one would take
//! longer than checking a small model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use signal_hook::flag;

use crate::Exit;

/// The signals that request the end of the process.
#[cfg(unix)]
const SIGNALS: [i32; 3] =
    [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// Time between two looks at the flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time that a command without a report may take to end after an interrupt.
const MAX_END_DELAY: Duration = Duration::from_millis(700);

/// Sets the flag at the first interrupt, and ends the process at the second. Where signals cannot be
/// handled, an interrupt ends the process as it does by default.
pub(crate) fn install(flag: &Arc<AtomicBool>) {
    for signal in SIGNALS {
        // Handlers run in the order of their registration: the one that ends the process comes
        // first, so that it sees only flags set by an earlier signal.
        let code = Exit::Inconclusive.code().into();
        _ = flag::register_conditional_shutdown(signal, code, Arc::clone(flag));
        _ = flag::register(signal, Arc::clone(flag));
    }
}

/// Ends the process if it does not end soon after an interrupt. For commands that compute on the main thread and
/// write no report: a single step of a walk may take long. If the system refuses the thread, such a step ends at the
/// second interrupt.
pub(crate) fn end_soon(flag: &Arc<AtomicBool>) {
    let flag = Arc::clone(flag);
    let watch = move || {
        loop {
            std::thread::sleep(POLL_INTERVAL);
            if !flag.load(Ordering::Relaxed) {
                continue;
            }
            std::thread::sleep(MAX_END_DELAY);
            if flag.load(Ordering::Relaxed) {
                std::process::exit(Exit::Inconclusive.code().into());
            }
        }
    };
    _ = Builder::new().name("interrupt".to_string()).spawn(watch);
}

/// Ends the process when its standard input ends: the process that started it is gone. Its temporary folder, if
/// any, is removed.
///
/// # Errors
///
/// If the system refuses a thread.
pub(crate) fn end_with_input(folder: Option<PathBuf>) -> std::io::Result<()> {
    let wait = move || {
        _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        folder.iter().for_each(|folder| remove_folder(folder));
        std::process::exit(Exit::Inconclusive.code().into());
    };
    Builder::new().name("input".to_string()).spawn(wait).map(drop)
}

/// Removes the temporary folder of a service that is gone. The system may take a moment to free the folder's
/// lock.
fn remove_folder(folder: &Path) {
    const N_ATTEMPTS: usize = 100;
    for _ in 0..N_ATTEMPTS {
        if !folder.exists() || masque_broker::remove_abandoned_folder(folder) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Makes writing beyond the limit on the size of files (`ulimit -f`) an error. By default it ends the process.
pub(crate) fn refuse_large_files() {
    #[cfg(unix)]
    {
        _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

/// Ignores interrupts. Ctrl-C reaches all processes of a terminal; a process that was started by another
/// `masque` process is ended by that one.
pub(crate) fn ignore() {
    for signal in SIGNALS {
        _ = flag::register(signal, Arc::default());
    }
}
