//! The threads of the service, and which calls they run.
//!
//! Queues take turns: after each job, a queue goes to the end of its list. A call that has run for
//! [`SHORT_CALL_TIME`] is *long*. Long calls have threads of their own, so they never occupy the threads of short
//! calls for longer than that:
//!
//! ```text
//! waiting ──▶ short thread ── 50 ms ──▶ a long thread is free: the call continues, another thread replaces its own
//!                                 └───▶ none is free: the call is interrupted, and waits for one to run it again
//! ```
//!
//! An interrupted call has changed nothing. Threads with long calls have a low priority where the operating system
//! supports it ([`crate::priority`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::priority::ThreadId;
use crate::session_queue::{Job, QueueState, SessionQueue, Turn, lock};
use crate::ticket::Ticket;

/// Time after which a running call counts as long.
const SHORT_CALL_TIME: Duration = Duration::from_millis(50);
/// Time between two searches for calls that have become long.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);
/// Stack sizes in bytes to try for a pool thread, largest first: terms may be deeply nested.
pub(crate) const STACK_SIZES: [usize; 3] = [256 << 20, 64 << 20, 8 << 20];

/// Threads that run the jobs of queues in turns.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    max_waiting: usize,
}

struct Shared {
    state: Mutex<PoolState>,
    /// Notifies threads of queues with jobs.
    wake: Condvar,
    /// Notifies the watching thread of running jobs.
    watch: Condvar,
    /// Maximum number of short calls that run at the same time.
    max_short: usize,
    /// Maximum number of long calls that run at the same time.
    max_long: usize,
}

#[derive(Default)]
struct PoolState {
    /// Queues with jobs that wait for a thread.
    queues: VecDeque<Arc<dyn Turn>>,
    /// Queues whose next job is long.
    long_queues: VecDeque<Arc<dyn Turn>>,
    /// Number of waiting jobs.
    waiting: usize,
    /// The running jobs, by number.
    running: BTreeMap<u64, RunningJob>,
    n_long: usize,
    /// Number of the next job.
    next: u64,
    is_closed: bool,
}

struct RunningJob {
    start: Instant,
    ticket: Option<Arc<Ticket>>,
    thread: ThreadId,
    is_long: bool,
}

/// The maximum number of jobs is waiting, or the pool is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The number of long calls that run at the same time.
fn long_threads(n_short: usize) -> usize {
    n_short.saturating_sub(1).max(1)
}

impl Pool {
    /// A pool that runs this many short jobs at the same time, and one less long jobs, but at least one. At most
    /// `max_waiting` jobs wait.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub(crate) fn new(n_threads: usize, max_waiting: usize) -> std::io::Result<Pool> {
        let max_short = n_threads.max(1);
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            watch: Condvar::new(),
            max_short,
            max_long: long_threads(max_short),
        });
        let pool = Pool { shared, max_waiting };
        (0..max_short + pool.shared.max_long).try_for_each(|_| start_thread(&pool.shared))?;
        let watched = Arc::clone(&pool.shared);
        Builder::new().name("watch".to_string()).spawn(move || watch(&watched))?;
        Ok(pool)
    }

    /// Adds a job to a queue.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        queue: &Arc<SessionQueue<T>>,
        job: Job<T>,
    ) -> Result<(), Full> {
        {
            let mut state = lock(&self.shared.state);
            if state.waiting >= self.max_waiting || state.is_closed {
                return Err(Full);
            }
            state.waiting += 1;
        }
        if queue.push(job) {
            lock(&self.shared.state).queues.push_back(Arc::clone(queue) as Arc<dyn Turn>);
            self.shared.wake.notify_one();
        }
        Ok(())
    }

    /// The number of waiting jobs, and of running jobs.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = lock(&self.shared.state);
        (state.waiting, state.running.len())
    }

    /// The number of running long jobs.
    pub(crate) fn n_long(&self) -> usize {
        lock(&self.shared.state).n_long
    }

    /// Refuses further jobs. The threads end when all accepted jobs are done.
    pub(crate) fn close(&self) {
        lock(&self.shared.state).is_closed = true;
        self.shared.wake.notify_all();
        self.shared.watch.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

fn start_thread(shared: &Arc<Shared>) -> std::io::Result<()> {
    let mut last = None;
    for size in STACK_SIZES {
        let shared = Arc::clone(shared);
        match Builder::new().name("pool".to_string()).stack_size(size).spawn(move || work(&shared)) {
            Ok(_) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::Error::other("no thread can be started")))
}

impl PoolState {
    /// Takes a queue whose next job may run now, and the number of that job.
    fn take(&mut self, shared: &Shared, thread: ThreadId) -> Option<(Arc<dyn Turn>, u64)> {
        let has_short = self.running.len() - self.n_long < shared.max_short;
        let short = if has_short { self.queues.pop_front() } else { None };
        let is_long = short.is_none();
        let queue = match short {
            None if self.n_long < shared.max_long => self.long_queues.pop_front(),
            short => short,
        }?;
        self.waiting -= 1;
        self.n_long += usize::from(is_long);
        if is_long {
            thread.lower_priority();
        }
        let number = self.next;
        self.next += 1;
        let ticket = queue.ticket();
        self.running.insert(number, RunningJob { start: Instant::now(), ticket, thread, is_long });
        Some((queue, number))
    }

    /// Removes a job that has ended, and puts its queue where it belongs. Returns whether the job was long.
    fn finish(&mut self, number: u64, queue: Arc<dyn Turn>, state: QueueState) -> bool {
        let is_long = self.running.remove(&number).is_some_and(|job| job.is_long);
        self.n_long -= usize::from(is_long);
        match state {
            QueueState::Empty => {}
            QueueState::Waiting => self.queues.push_back(queue),
            QueueState::Interrupted => {
                self.waiting += 1;
                self.long_queues.push_back(queue);
            }
        }
        is_long
    }

    /// Makes the jobs long that have run for too long, or interrupts them. Returns whether short jobs may start.
    fn find_long(&mut self, max_long: usize) -> bool {
        let n_long = self.n_long;
        let is_old = |job: &&mut RunningJob| !job.is_long && job.start.elapsed() >= SHORT_CALL_TIME;
        for job in self.running.values_mut().filter(is_old) {
            if self.n_long < max_long {
                job.is_long = true;
                self.n_long += 1;
                job.thread.lower_priority();
            } else if let Some(ticket) = &job.ticket {
                ticket.interrupt();
            }
        }
        self.n_long > n_long
    }
}

/// Runs jobs until the pool is closed and no job is left.
fn work(shared: &Arc<Shared>) {
    let thread = ThreadId::current();
    loop {
        let (queue, number) = {
            let mut state = lock(&shared.state);
            loop {
                if let Some(taken) = state.take(shared, thread) {
                    if state.running.len() == 1 {
                        shared.watch.notify_one();
                    }
                    break taken;
                }
                // A queue whose job is running may have more jobs; then it returns to the list.
                if state.is_closed && state.running.is_empty() {
                    shared.wake.notify_all();
                    return;
                }
                state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let queue_state = queue.run();
        let was_long = {
            let mut state = lock(&shared.state);
            let was_long = state.finish(number, queue, queue_state);
            if queue_state != QueueState::Empty || was_long || state.is_closed {
                shared.wake.notify_all();
            }
            was_long
        };
        // A priority can be lowered, but not raised again.
        if was_long && thread.has_priority() && start_thread(shared).is_ok() {
            return;
        }
    }
}

/// Finds jobs that have become long, until the pool is closed and no job is left.
fn watch(shared: &Shared) {
    let mut state = lock(&shared.state);
    loop {
        if state.is_closed && state.running.is_empty() && state.waiting == 0 {
            return;
        }
        if state.running.is_empty() {
            state = shared.watch.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let waited = shared.watch.wait_timeout(state, WATCH_INTERVAL);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.find_long(shared.max_long) {
            shared.wake.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    use std::sync::mpsc::channel;

    use super::*;
    use crate::session_queue::Progress;

    /// A job that runs once.
    fn job<T>(mut work: impl FnMut(&mut Option<T>) + Send + 'static) -> Job<T> {
        let work = Box::new(move |value: &mut Option<T>| {
            work(value);
            Progress::Done
        });
        Job { ticket: Arc::default(), work }
    }

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn jobs_of_a_queue_keep_their_order() {
        let pool = Pool::new(4, 10_000).unwrap();
        let (sender, receiver) = channel();
        let queues: Vec<_> = (0..10).map(|_| SessionQueue::new(Some(0_u32))).collect();
        for round in 0..500 {
            for queue in &queues {
                let sender = sender.clone();
                let count = move |value: &mut Option<u32>| {
                    let value = value.as_mut().unwrap();
                    sender.send((round, *value)).unwrap();
                    *value += 1;
                };
                pool.submit(queue, job(count)).unwrap();
            }
        }
        for _ in 0..5_000 {
            let (round, value) = receiver.recv_timeout(TIMEOUT).unwrap();
            assert_eq!(round, value);
        }
    }

    #[test]
    fn a_panic_affects_only_its_own_queue() {
        let pool = Pool::new(1, 10).unwrap();
        let (sender, receiver) = channel();
        let (broken, whole) = (SessionQueue::new(Some(1)), SessionQueue::new(Some(2)));
        pool.submit(&broken, job(|_| panic!("a test of panics"))).unwrap();
        for queue in [&broken, &whole] {
            let sender = sender.clone();
            pool.submit(queue, job(move |value: &mut Option<i32>| sender.send(*value).unwrap())).unwrap();
        }
        let mut seen = [receiver.recv_timeout(TIMEOUT).unwrap(), receiver.recv_timeout(TIMEOUT).unwrap()];
        seen.sort();
        assert_eq!(seen, [None, Some(2)]);
    }

    #[test]
    fn the_number_of_waiting_jobs_is_limited() {
        let pool = Pool::new(1, 3).unwrap();
        let (release, held) = channel::<()>();
        let (begun_sender, begun) = channel();
        let queue = SessionQueue::new(Some(()));
        let hold = move |_: &mut Option<()>| {
            begun_sender.send(()).unwrap();
            held.recv().unwrap();
        };
        pool.submit(&queue, job(hold)).unwrap();
        begun.recv_timeout(TIMEOUT).unwrap();
        let accepted = (0..10).filter(|_| pool.submit(&queue, job(|_| {})).is_ok()).count();
        assert_eq!((accepted, pool.load()), (3, (3, 1)));
        assert_eq!(queue.idle_since(), None);
        release.send(()).unwrap();
        let end = Instant::now() + TIMEOUT;
        while pool.load() != (0, 0) && Instant::now() < end {
            std::thread::yield_now();
        }
        assert!(pool.submit(&queue, job(|_| {})).is_ok());
    }

    #[test]
    fn accepted_jobs_run_after_the_pool_is_closed() {
        let pool = Pool::new(2, 100).unwrap();
        let (sender, receiver) = channel();
        let queue = SessionQueue::new(Some(()));
        for number in 0..50 {
            let sender = sender.clone();
            pool.submit(&queue, job(move |_| sender.send(number).unwrap())).unwrap();
        }
        drop(sender);
        pool.close();
        assert_eq!(pool.submit(&queue, job(|_| {})), Err(Full));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    }

    /// A job that runs until it is released. It counts how often it is started.
    fn long_job(release: &Arc<AtomicBool>, n_starts: &Arc<AtomicUsize>) -> Job<()> {
        let (release, n_starts) = (Arc::clone(release), Arc::clone(n_starts));
        let ticket: Arc<Ticket> = Arc::default();
        let stop = ticket.flag();
        let work = Box::new(move |_: &mut Option<()>| {
            n_starts.fetch_add(1, Relaxed);
            while !release.load(Relaxed) {
                if stop.swap(false, Relaxed) {
                    return Progress::Interrupted;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Progress::Done
        });
        Job { ticket, work }
    }

    /// Many more long jobs than threads; every short job is run meanwhile, and every long one afterwards.
    #[test]
    fn long_jobs_leave_threads_for_short_ones() {
        for n_threads in [1, 2, 4] {
            let pool = Pool::new(n_threads, 100).unwrap();
            let (release, n_starts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
            for _ in 0..12 {
                pool.submit(&SessionQueue::new(Some(())), long_job(&release, &n_starts)).unwrap();
            }
            let (sender, receiver) = channel();
            for _ in 0..3 {
                let sender = sender.clone();
                pool.submit(&SessionQueue::new(Some(())), job(move |_| sender.send(()).unwrap())).unwrap();
                receiver.recv_timeout(TIMEOUT).unwrap();
            }
            assert_eq!((pool.n_long(), n_starts.load(Relaxed)), (long_threads(n_threads), 12));
            release.store(true, Relaxed);
            let end = Instant::now() + TIMEOUT;
            while pool.load() != (0, 0) && Instant::now() < end {
                std::thread::yield_now();
            }
            assert_eq!((pool.load(), pool.n_long()), ((0, 0), 0));
            // The last ones may have ended before they became long.
            assert!(n_starts.load(Relaxed) <= 24 - long_threads(n_threads));
        }
    }
}
