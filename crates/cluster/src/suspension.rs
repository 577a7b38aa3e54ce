//! Ctrl-Z: the supervisor announces to workers on other machines that it will be silent, then stops.
//!
//! Workers that hear nothing from their supervisor would otherwise end after a while. With SIGSTOP, which
//! cannot be handled, they do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::thread::Builder;
use std::time::Duration;

use signal_hook::consts::{SIGSTOP, SIGTSTP};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::low_level::raise;

use crate::protocol::Order;

/// Time between two checks for the signal.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time in which the announcement is sent.
const ANNOUNCEMENT_TIME: Duration = Duration::from_millis(200);

/// The flags of the signal handler, which is installed once and stays.
struct Flags {
    /// Set by the signal.
    is_requested: Arc<AtomicBool>,
    /// Whether the signal stops the process as it does by default.
    is_default: Arc<AtomicBool>,
}

/// Returns the flags, and installs the handler the first time; `None` if that was not possible.
fn flags() -> Option<&'static Flags> {
    static FLAGS: OnceLock<Option<Flags>> = OnceLock::new();
    let install = || {
        let (is_requested, is_default) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        register_conditional_default(SIGTSTP, Arc::clone(&is_default)).ok()?;
        register(SIGTSTP, Arc::clone(&is_requested)).ok()?;
        Some(Flags { is_requested, is_default })
    };
    FLAGS.get_or_init(install).as_ref()
}

/// Handles Ctrl-Z until it is dropped.
pub(crate) struct Suspension {
    is_over: Arc<AtomicBool>,
}

impl Suspension {
    /// Starts to handle Ctrl-Z. If that is not possible, Ctrl-Z stops the process without an announcement.
    pub(crate) fn announce_to(workers: Vec<Sender<Order>>) -> Suspension {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        if let Some(flags) = flags() {
            let wait = move || wait(flags, &workers, &ends);
            flags.is_requested.store(false, Ordering::Relaxed);
            let is_started = Builder::new().name("suspension".to_string()).spawn(wait).is_ok();
            flags.is_default.store(!is_started, Ordering::Relaxed);
        }
        Suspension { is_over }
    }
}

/// Waits for the signal until the run is over.
fn wait(flags: &Flags, workers: &[Sender<Order>], is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        if flags.is_requested.swap(false, Ordering::Relaxed) {
            workers.iter().for_each(|worker| _ = worker.send(Order::Suspended));
            std::thread::sleep(ANNOUNCEMENT_TIME);
            // Heartbeats follow when the process continues.
            _ = raise(SIGSTOP);
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(flags) = flags() {
            flags.is_default.store(true, Ordering::Relaxed);
        }
    }
}
