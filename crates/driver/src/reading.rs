//! Reading within limits: on a helper thread, so that a deadline and Ctrl-C are obeyed even by a step that does
//! not check the limits, such as reading from a pipe.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use masque_text::{Diagnostic, ReadLimit, ReadLimits, Severity};
use masque_verdict::{Budget, Why};

use crate::check::Limits;
use crate::{file, helper_thread};

/// Runs work that reads texts, and returns its result, or why it had to stop. If the work does not end soon after
/// a limit is exceeded, its thread is abandoned.
///
/// # Panics
///
/// If the work panics.
pub(crate) fn within<T: Send + 'static>(
    limits: &Limits,
    work: impl FnOnce(ReadLimits) -> T + Clone + Send + 'static,
) -> Result<T, Why> {
    if limits.interrupt.load(Ordering::Relaxed) {
        return Err(Why::Interrupted);
    }
    let cancelled = Arc::new(AtomicBool::new(false));
    let reading = read_limits(limits, &cancelled);
    let budget = limits.budget().with_cancel(cancelled);
    let for_work = reading.clone();
    let work = move |_: &Budget, sender: &Sender<T>| _ = sender.send(work(for_work));
    let mut result = None;
    let mut receive = |received| result = result.take().or(received);
    let why = helper_thread::supervise(limits, &budget, work, &mut receive);
    match (result, why.or(reading.exceeded().map(reason))) {
        (Some(result), None) => Ok(result),
        (_, why) => Err(why.unwrap_or(Why::Memory)),
    }
}

fn read_limits(limits: &Limits, cancelled: &Arc<AtomicBool>) -> ReadLimits {
    let reading = ReadLimits::default().with_deadline(limits.deadline).with_cancel(Arc::clone(cancelled));
    match limits.allowed_memory() {
        Some(memory) => reading.with_memory(memory),
        None => reading,
    }
}

fn reason(limit: ReadLimit) -> Why {
    match limit {
        ReadLimit::Time => Why::Timeout,
        ReadLimit::Memory => Why::Memory,
        ReadLimit::Cancelled => Why::Interrupted,
    }
}

/// The warning that reading had to stop.
pub(crate) fn stopped(why: Why) -> Diagnostic {
    let (message, help) = match why {
        Why::Memory => ("loading was stopped: the memory limit is exceeded", "raise `--memory`"),
        Why::Interrupted => ("loading was interrupted", "the file was not read to its end"),
        _ => ("loading was stopped: the time limit is exceeded", "raise `--timeout`"),
    };
    Diagnostic::nowhere(Severity::Warning, "load/stopped", message).hint(help)
}

/// Why a text could not be read.
#[derive(Debug)]
pub enum Unread {
    /// The file is missing, is not text, or is too large.
    Refused(Box<Diagnostic>),
    /// A limit was exceeded, or the user interrupted.
    Stopped(Why),
}

/// Reads a text of at most `max_bytes` bytes from a file, or from standard input if the path is `-`.
///
/// # Errors
///
/// If the text cannot be read, or not within the limits.
pub fn read_text_within(path: &Path, max_bytes: u64, limits: &Limits) -> Result<String, Unread> {
    let path = path.to_path_buf();
    let read = move |reading: ReadLimits| file::read_at_most(&path, max_bytes, &reading);
    within(limits, read).map_err(Unread::Stopped)?.map_err(Unread::Refused)
}
