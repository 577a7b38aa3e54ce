//! One piece of work on a thread of its own, with a large stack and a deadline that holds.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Instant;

use masque_verdict::{Budget, Stop, Why};

use crate::supervise::{GRACE, Limits, PULSE, STACKS};

/// Does the work and waits for it, but not much longer than the limits say.
///
/// # Panics
///
/// If the work does: its bug is handed on.
pub(crate) fn on_large_stack<T: Send + 'static>(
    limits: &Limits,
    work: impl Fn(&Budget) -> Result<T, Stop> + Clone + Send + 'static,
) -> Result<T, Why> {
    let budget = limits.budget();
    let started = STACKS.iter().find_map(|&size| {
        let (sender, receiver) = channel();
        let (budget, work) = (budget.clone(), work.clone());
        // A listener that has gone away has given up waiting.
        let run = move || _ = sender.send(work(&budget));
        let worker = Builder::new().name("work".to_string()).stack_size(size).spawn(run).ok()?;
        Some((worker, receiver))
    });
    let Some((worker, receiver)) = started else { return Err(Why::Memory) };
    let mut last_moment = limits.deadline.and_then(|deadline| deadline.checked_add(GRACE));
    let mut why = Why::Timeout;
    loop {
        match receiver.recv_timeout(PULSE) {
            Ok(answer) => return answer.map_err(|stop| stop.why),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(why),
            },
        }
        let now = Instant::now();
        if limits.interrupt.load(Ordering::Relaxed) && why != Why::Interrupted {
            why = Why::Interrupted;
            budget.cancel();
            last_moment = Some(last_moment.map_or(now + GRACE, |moment| moment.min(now + GRACE)));
        }
        if last_moment.is_some_and(|moment| now >= moment) {
            budget.cancel();
            return Err(why);
        }
    }
}
