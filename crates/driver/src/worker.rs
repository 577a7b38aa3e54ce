//! Work on a thread of its own, with a deadline that holds even where the work does not look at the
//! clock.
//!
//! Engines recurse on decision diagrams, and not all that they do can be stopped. So they run on a
//! thread with a large stack, and the caller's thread watches: when the deadline has passed and a short
//! grace after it, the work is left behind, and what it has told is the answer.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use masque_verdict::{Budget, Stop, Why};

use crate::check::Limits;

/// Stack sizes to try, largest first. A stack is address space: memory is taken as it is used.
const STACKS: [usize; 3] = [1 << 30, 64 << 20, 8 << 20];
/// How long an engine may take to notice that it must stop.
pub(crate) const GRACE: Duration = Duration::from_millis(300);
/// How often the watching thread looks at the interrupt flag.
pub(crate) const PULSE: Duration = Duration::from_millis(20);

/// Does the work and waits for its result, but not much longer than the limits say.
///
/// # Panics
///
/// If the work does: its bug is handed on.
pub(crate) fn on_large_stack<T: Send + 'static>(
    limits: &Limits,
    work: impl FnOnce(&Budget) -> Result<T, Stop> + Clone + Send + 'static,
) -> Result<T, Why> {
    let mut result = None;
    // A listener that has gone away has given up waiting.
    let work = |budget: &Budget, sender: &Sender<_>| _ = sender.send(work(budget));
    let why = listen(limits, &limits.budget(), work, &mut |told| result = result.take().or(told));
    result.unwrap_or(Err(why.unwrap_or(Why::Timeout).into())).map_err(|stop| stop.why)
}

/// Does work that tells what it finds, and listens to its end, but not much longer than the limits
/// say. The budget is that of the limits; it is cancelled when time is up. `hear` gets all that is
/// told, and `None` many times a second in between.
///
/// The answer is why the work had to stop, if it had to.
///
/// # Panics
///
/// If the work does: its bug is handed on.
pub(crate) fn listen<T: Send + 'static>(
    limits: &Limits,
    budget: &Budget,
    work: impl FnOnce(&Budget, &Sender<T>) + Clone + Send + 'static,
    hear: &mut dyn FnMut(Option<T>),
) -> Option<Why> {
    let for_work = budget.clone();
    let Some((worker, told)) = start(move |sender| work(&for_work, sender)) else {
        return Some(Why::Memory);
    };
    let mut last_moment = limits.deadline.and_then(|deadline| deadline.checked_add(GRACE));
    let mut why = None;
    loop {
        match told.recv_timeout(PULSE) {
            Ok(news) => hear(Some(news)),
            Err(RecvTimeoutError::Timeout) => hear(None),
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return why,
            },
        }
        let now = Instant::now();
        if why.is_none() && limits.interrupt.load(Ordering::Relaxed) {
            why = Some(Why::Interrupted);
            budget.cancel();
            last_moment = Some(last_moment.map_or(now + GRACE, |moment| moment.min(now + GRACE)));
        }
        if last_moment.is_some_and(|moment| now >= moment) {
            budget.cancel();
            return why.or(Some(Why::Timeout));
        }
    }
}

/// Starts work that tells what it finds; none if the system has no room for a thread.
pub(crate) fn start<T: Send + 'static>(
    work: impl FnOnce(&Sender<T>) + Clone + Send + 'static,
) -> Option<(JoinHandle<()>, Receiver<T>)> {
    STACKS.iter().find_map(|&size| {
        let (sender, receiver) = channel();
        let work = work.clone();
        let thread = Builder::new().name("check".to_string()).stack_size(size);
        let worker = thread.spawn(move || work(&sender)).ok()?;
        Some((worker, receiver))
    })
}
