//! Work on a helper thread, with a deadline that holds even if the work does not check the time.
//!
//! Engines recurse on decision diagrams, and some of their operations cannot be stopped. So they run on a
//! thread with a large stack, and the caller's thread watches. When the deadline has passed by more than
//! [`MAX_STOP_DELAY`], the caller abandons the thread and uses the results it has received.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use masque_memory::Supervision;
use masque_verdict::{Budget, Stop, Why};

use crate::check::Limits;

/// Stack sizes in bytes to try, largest first. A stack only reserves address space until it is used.
const STACK_SIZES: [usize; 4] = [256 << 20, 64 << 20, 32 << 20, 8 << 20];
/// Divisor of the memory that the system allows this process, for the largest stack.
const STACK_SHARE: u64 = 4;
/// Memory that a new thread needs besides its stack, in bytes. The allocator's data of the thread belong to it, without
/// which the process would crash.
const START_BYTES: usize = 1 << 20;
/// Time that an engine may take to notice that it must stop.
pub(crate) const MAX_STOP_DELAY: Duration = Duration::from_millis(300);
/// Time between two looks at the interrupt flag.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The same if the memory of the process is limited, which may grow by a gigabyte in a second.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs work on a thread with a large stack and returns its result, not much later than the limits allow.
///
/// # Panics
///
/// If the work panics.
pub(crate) fn on_large_stack<T: Send + 'static>(
    limits: &Limits,
    work: impl FnOnce(&Budget) -> Result<T, Stop> + Clone + Send + 'static,
) -> Result<T, Why> {
    let mut result = None;
    // Sending fails if the receiver has stopped waiting.
    let work = |budget: &Budget, sender: &Sender<_>| _ = sender.send(work(budget));
    let why = supervise(limits, &limits.budget(), work, &mut |received| result = result.take().or(received));
    result.unwrap_or(Err(why.unwrap_or(Why::Timeout).into())).map_err(|stop| stop.why)
}

/// Runs work that sends messages, and returns when it ends or not much later than the limits allow. `budget`
/// is made from the limits; it is cancelled when the time is over. `receive` is called with each message, and
/// with `None` many times a second in between.
///
/// Returns why the work had to stop, if it had to.
///
/// # Panics
///
/// If the work panics.
pub(crate) fn supervise<T: Send + 'static>(
    limits: &Limits,
    budget: &Budget,
    work: impl FnOnce(&Budget, &Sender<T>) + Clone + Send + 'static,
    receive: &mut dyn FnMut(Option<T>),
) -> Option<Why> {
    let supervision = Supervision::begin();
    let for_work = budget.clone();
    let Some((thread, messages)) = spawn(move |sender| work(&for_work, sender)) else {
        return Some(Why::Memory);
    };
    match wait(limits, budget, &supervision, &messages, receive) {
        Wait::Stopped(why) => Some(why),
        Wait::Ended(why) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => why,
        },
    }
}

/// How waiting for messages ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The sender is gone. If it had to stop, this is the reason.
    Ended(Option<Why>),
    /// The limits were exceeded, and the sender did not notice in time.
    Stopped(Why),
}

/// Receives messages until their sender is gone, but not much longer than the limits allow. Cancels the budget when
/// the time is over. `receive` is called with each message, and with `None` many times a second in between.
pub(crate) fn wait<T>(
    limits: &Limits,
    budget: &Budget,
    supervision: &Supervision,
    messages: &Receiver<T>,
    receive: &mut dyn FnMut(Option<T>),
) -> Wait {
    let mut last_moment = limits.deadline.and_then(|deadline| deadline.checked_add(MAX_STOP_DELAY));
    let mut why = None;
    let poll_interval = if limits.memory.is_some() { MEMORY_POLL_INTERVAL } else { POLL_INTERVAL };
    loop {
        match messages.recv_timeout(poll_interval) {
            Ok(message) => receive(Some(message)),
            Err(RecvTimeoutError::Timeout) => receive(None),
            Err(RecvTimeoutError::Disconnected) => return Wait::Ended(why),
        }
        let now = Instant::now();
        if supervision.has_allocation_failed() || limits.is_memory_exceeded() {
            messages.try_iter().for_each(|message| receive(Some(message)));
            budget.cancel();
            wait_for_end(messages, now + MAX_STOP_DELAY);
            return Wait::Stopped(Why::Memory);
        }
        if why.is_none() && limits.interrupt.load(Ordering::Relaxed) {
            why = Some(Why::Interrupted);
            budget.cancel();
            let last = now + MAX_STOP_DELAY;
            last_moment = Some(last_moment.map_or(last, |moment| moment.min(last)));
        }
        if last_moment.is_some_and(|moment| now >= moment) {
            budget.cancel();
            return Wait::Stopped(why.unwrap_or(Why::Timeout));
        }
    }
}

/// Waits until work has ended, so that its memory is free again, or until it is too late. Its messages are
/// those of cancelled work.
fn wait_for_end<T>(messages: &Receiver<T>, last_moment: Instant) {
    while let Ok(_cancelled) = messages.recv_timeout(last_moment.saturating_duration_since(Instant::now())) {}
}

/// Starts work that sends messages; none if the system cannot start a thread.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl FnOnce(&Sender<T>) + Clone + Send + 'static,
) -> Option<(JoinHandle<()>, Receiver<T>)> {
    let room = masque_memory::room().unwrap_or(u64::MAX);
    let smallest = STACK_SIZES[STACK_SIZES.len() - 1];
    let fits = |&&size: &&usize| {
        size as u64 <= room / STACK_SHARE || size == smallest && (size + START_BYTES) as u64 <= room
    };
    STACK_SIZES.iter().filter(fits).find_map(|&size| {
        let (sender, receiver) = channel();
        let work = work.clone();
        let builder = Builder::new().name("check".to_string()).stack_size(size);
        let thread = builder.spawn(move || work(&sender)).ok()?;
        Some((thread, receiver))
    })
}
