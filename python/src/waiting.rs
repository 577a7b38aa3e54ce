//! Work without the interpreter lock that Python can interrupt.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use masque::{Check, Progress, Reached};
use masque_lcc::Budget;
use pyo3::prelude::*;

use crate::errors::check_error;

/// Time between two looks at pending signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(15);
/// Stack size of a thread that works for a call, in bytes.
const STACK_BYTES: usize = 64 << 20;
/// Longest time limit in seconds; a longer one is none.
const MAX_TIMEOUT_SECONDS: f64 = 1e9;

/// The limits of a call.
#[derive(Clone, Copy, Default)]
pub(crate) struct CallLimits {
    pub(crate) timeout: Option<f64>,
    pub(crate) memory: Option<u64>,
}

/// Runs work without the interpreter lock. Many times a second, pending signals are handled and `progress` is called
/// with the numbers of decided and of all properties, and of states if it is known; the exception of either stops the
/// work and is raised. A panic is a bug of Masque; it becomes an exception.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    limits: CallLimits,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(Check<'_>) -> T + Send,
) -> PyResult<T> {
    let (result, raised) = py.detach(move || {
        let flag = Arc::new(AtomicBool::new(false));
        let raised: RefCell<Option<PyErr>> = RefCell::new(None);
        let last = Cell::new(Instant::now());
        let observe = |found: Progress| {
            let is_due = last.get().elapsed() >= SIGNAL_INTERVAL;
            if raised.borrow().is_some() || !(is_due || progress.is_some()) {
                return;
            }
            last.set(Instant::now());
            let called = Python::attach(|py| {
                py.check_signals()?;
                match progress {
                    None => Ok(()),
                    Some(call) => {
                        let states = match found.reached {
                            Some(Reached::States(found)) => Some(found.states),
                            _ => None,
                        };
                        call.call1(py, (found.decided, found.total, states)).map(|_| ())
                    }
                }
            });
            if let Err(error) = called {
                *raised.borrow_mut() = Some(error);
                flag.store(true, Ordering::Relaxed);
            }
        };
        let mut check = Check::new().interrupt(Arc::clone(&flag)).on_progress(observe);
        if let Some(seconds) = limits.timeout.filter(|seconds| *seconds < MAX_TIMEOUT_SECONDS) {
            check = check.timeout(Duration::from_secs_f64(seconds.max(0.0)));
        }
        if let Some(bytes) = limits.memory {
            check = check.memory(bytes);
        }
        let result = catch_unwind(AssertUnwindSafe(|| work(check)));
        (result, raised.into_inner())
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(value)) => Ok(value),
        (None, Err(panic)) => Err(bug(py, &*panic)),
    }
}

/// Runs work on a thread of its own within limits, while this thread handles pending signals. The exception of a signal
/// ends the work, which must look at its budget.
pub(crate) fn run_within<T: Send>(
    py: Python<'_>,
    limits: CallLimits,
    work: impl FnOnce(&Budget) -> T + Send,
) -> PyResult<T> {
    let mut budget = Budget::unlimited();
    if let Some(seconds) = limits.timeout.filter(|seconds| *seconds < MAX_TIMEOUT_SECONDS) {
        budget = budget.with_timeout(Duration::from_secs_f64(seconds.max(0.0)));
    }
    if let Some(bytes) = limits.memory {
        budget = budget.with_memory(bytes);
    }
    py.detach(move || {
        thread::scope(|scope| {
            let (sender, results) = channel();
            let budget = &budget;
            let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                // Sending fails only if the receiver panics.
                _ = sender.send(work(budget));
            })?;
            let mut raised = None;
            let result = loop {
                match results.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(result) => break Some(result),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = Python::attach(|py| py.check_signals()).err();
                        if raised.is_some() {
                            budget.cancel();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            };
            match (raised, result, worker.join()) {
                (Some(error), ..) => Err(error),
                (None, Some(result), _) => Ok(result),
                (None, None, Err(panic)) => Python::attach(|py| Err(bug(py, &*panic))),
                (None, None, Ok(())) => Python::attach(|py| Err(check_error(py, String::new()))),
            }
        })
    })
}

fn bug(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    check_error(py, format!("a bug in Masque: {}", panic_text(panic)))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
