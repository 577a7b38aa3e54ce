//! Ordered work: a session queue holds a value and the jobs that wait for it.
//!
//! The jobs of one queue run one after the other, in the order of their arrival. The jobs of different queues run
//! in parallel. A waiting job occupies no thread, so a session with a thousand calls does not block others.
//!
//! If a job panics, the value of its queue is dropped; other queues are not affected.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::ticket::Ticket;

/// Work on the value of a queue. There is no value if the queue is closed or a job has panicked.
pub(crate) type Work<T> = Box<dyn FnMut(&mut Option<T>) -> Progress + Send>;

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is finished.
    Done,
    /// It was interrupted, has changed nothing, and is to be run again.
    Interrupted,
}

/// A job: work, and the ticket of the call, through which the job can be stopped.
pub(crate) struct Job<T> {
    /// The call's ticket.
    pub ticket: Arc<Ticket>,
    /// The work of the call.
    pub work: Work<T>,
}

/// A value and the jobs that wait for it.
pub(crate) struct SessionQueue<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    value: Option<T>,
    jobs: VecDeque<Job<T>>,
    /// Whether a thread runs a job of the queue, or the queue waits for a thread.
    is_busy: bool,
    /// Time at which the last job ended.
    used: Instant,
}

impl<T: Send + 'static> SessionQueue<T> {
    /// A queue with a value and no jobs.
    pub(crate) fn new(value: Option<T>) -> Arc<SessionQueue<T>> {
        let inner = Inner { value, jobs: VecDeque::new(), is_busy: false, used: Instant::now() };
        Arc::new(SessionQueue { inner: Mutex::new(inner) })
    }

    /// The time since which the queue has had no jobs; none while it has some.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let inner = lock(&self.inner);
        (!inner.is_busy && inner.jobs.is_empty()).then_some(inner.used)
    }

    /// Adds a job. Returns whether the queue must be given to a thread.
    pub(crate) fn push(&self, job: Job<T>) -> bool {
        let mut inner = lock(&self.inner);
        inner.jobs.push_back(job);
        !std::mem::replace(&mut inner.is_busy, true)
    }
}

/// What a queue needs after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueState {
    /// It has no more jobs.
    Empty,
    /// It has more jobs.
    Waiting,
    /// Its first job was interrupted.
    Interrupted,
}

/// A queue of any type, as a pool thread sees it.
pub(crate) trait Turn: Send + Sync {
    /// The ticket of the next job.
    fn ticket(&self) -> Option<Arc<Ticket>>;

    /// Runs the next job.
    fn run(&self) -> QueueState;
}

impl<T: Send + 'static> Turn for SessionQueue<T> {
    fn ticket(&self) -> Option<Arc<Ticket>> {
        lock(&self.inner).jobs.front().map(|job| Arc::clone(&job.ticket))
    }

    fn run(&self) -> QueueState {
        let (mut job, mut value) = {
            let mut inner = lock(&self.inner);
            let Some(job) = inner.jobs.pop_front() else {
                inner.is_busy = false;
                return QueueState::Empty;
            };
            (job, inner.value.take())
        };
        let progress = catch_unwind(AssertUnwindSafe(|| (job.work)(&mut value)));
        // A panic may leave the value in an inconsistent state, so it is dropped.
        if progress.is_err() {
            let broken = AssertUnwindSafe(value.take());
            _ = catch_unwind(move || drop(broken));
        }
        let mut inner = lock(&self.inner);
        inner.value = value;
        inner.used = Instant::now();
        if let Ok(Progress::Interrupted) = progress {
            inner.jobs.push_front(job);
            return QueueState::Interrupted;
        }
        inner.is_busy = !inner.jobs.is_empty();
        if inner.is_busy { QueueState::Waiting } else { QueueState::Empty }
    }
}

/// Locks a mutex and ignores poisoning: no code panics while it holds one of these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
