//! Ordered work: a session queue holds a value and the jobs that wait for it.
//!
//! The jobs of one queue run one after the other, in the order of their arrival. The jobs of different queues run
//! in parallel. A waiting job occupies no thread, so a session with a thousand calls does not block others. Queues
//! take turns: after each job, a queue goes to the end of the pool's list.
//!
//! If a job panics, the value of its queue is dropped; other queues are not affected.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Instant;

/// A job on the value of a queue. There is no value if the queue is closed or a job has panicked.
pub(crate) type Job<T> = Box<dyn FnOnce(&mut Option<T>) + Send>;

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
}

/// A queue of any type, as a pool thread sees it.
trait Turn: Send + Sync {
    /// Runs one job. Returns whether there are more.
    fn run(&self) -> bool;
}

impl<T: Send + 'static> Turn for SessionQueue<T> {
    fn run(&self) -> bool {
        let (job, mut value) = {
            let mut inner = lock(&self.inner);
            let Some(job) = inner.jobs.pop_front() else {
                inner.is_busy = false;
                return false;
            };
            (job, inner.value.take())
        };
        // A panic may leave the value in an inconsistent state, so it is dropped.
        if catch_unwind(AssertUnwindSafe(|| job(&mut value))).is_err() {
            let broken = AssertUnwindSafe(value.take());
            _ = catch_unwind(move || drop(broken));
        }
        let mut inner = lock(&self.inner);
        inner.value = value;
        inner.used = Instant::now();
        inner.is_busy = !inner.jobs.is_empty();
        inner.is_busy
    }
}

/// Threads that run the jobs of queues in turns.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    max_waiting: usize,
}

struct Shared {
    state: Mutex<PoolState>,
    wake: Condvar,
}

#[derive(Default)]
struct PoolState {
    /// Queues with jobs that wait for a thread.
    queues: VecDeque<Arc<dyn Turn>>,
    /// Number of waiting jobs.
    waiting: usize,
    /// Number of running jobs.
    running: usize,
    is_closed: bool,
}

/// The maximum number of jobs is waiting, or the pool is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Stack sizes in bytes to try for a pool thread, largest first: terms may be deeply nested.
pub(crate) const STACK_SIZES: [usize; 3] = [256 << 20, 64 << 20, 8 << 20];

impl Pool {
    /// A pool with this many threads and this maximum number of waiting jobs.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub(crate) fn new(n_threads: usize, max_waiting: usize) -> std::io::Result<Pool> {
        let shared = Arc::new(Shared { state: Mutex::default(), wake: Condvar::new() });
        let pool = Pool { shared, max_waiting };
        (0..n_threads.max(1)).try_for_each(|_| start_thread(&pool.shared))?;
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
        let mut inner = lock(&queue.inner);
        inner.jobs.push_back(job);
        if !inner.is_busy {
            inner.is_busy = true;
            lock(&self.shared.state).queues.push_back(Arc::clone(queue) as Arc<dyn Turn>);
            self.shared.wake.notify_one();
        }
        Ok(())
    }

    /// The number of waiting jobs, and of running jobs.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = lock(&self.shared.state);
        (state.waiting, state.running)
    }

    /// Refuses further jobs. The threads end when all accepted jobs are done.
    pub(crate) fn close(&self) {
        lock(&self.shared.state).is_closed = true;
        self.shared.wake.notify_all();
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

/// Runs jobs until the pool is closed and no job is left.
fn work(shared: &Shared) {
    loop {
        let queue = {
            let mut state = lock(&shared.state);
            loop {
                if let Some(queue) = state.queues.pop_front() {
                    state.waiting -= 1;
                    state.running += 1;
                    break queue;
                }
                // A queue whose job is running may have more jobs; then it returns to the list.
                if state.is_closed && state.running == 0 {
                    shared.wake.notify_all();
                    return;
                }
                state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let has_more = queue.run();
        let mut state = lock(&shared.state);
        state.running -= 1;
        if has_more {
            state.queues.push_back(queue);
        }
        if has_more || state.is_closed {
            shared.wake.notify_all();
        }
    }
}

/// Locks a mutex and ignores poisoning: no code panics while it holds one of these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn jobs_of_a_queue_keep_their_order() {
        let pool = Pool::new(4, 10_000).unwrap();
        let (sender, receiver) = channel();
        let queues: Vec<_> = (0..10).map(|_| SessionQueue::new(Some(0_u32))).collect();
        for round in 0..500 {
            for queue in &queues {
                let sender = sender.clone();
                let job: Job<u32> = Box::new(move |value| {
                    let value = value.as_mut().unwrap();
                    sender.send((round, *value)).unwrap();
                    *value += 1;
                });
                pool.submit(queue, job).unwrap();
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
        pool.submit(&broken, Box::new(|_| panic!("a test of panics"))).unwrap();
        for queue in [&broken, &whole] {
            let sender = sender.clone();
            pool.submit(queue, Box::new(move |value| sender.send(*value).unwrap())).unwrap();
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
        let job: Job<()> = Box::new(move |_| {
            begun_sender.send(()).unwrap();
            held.recv().unwrap();
        });
        pool.submit(&queue, job).unwrap();
        begun.recv_timeout(TIMEOUT).unwrap();
        let accepted = (0..10).filter(|_| pool.submit(&queue, Box::new(|_| {})).is_ok()).count();
        assert_eq!((accepted, pool.load()), (3, (3, 1)));
        assert_eq!(queue.idle_since(), None);
        release.send(()).unwrap();
        let end = Instant::now() + TIMEOUT;
        while pool.load() != (0, 0) && Instant::now() < end {
            std::thread::yield_now();
        }
        assert!(pool.submit(&queue, Box::new(|_| {})).is_ok());
    }

    #[test]
    fn accepted_jobs_run_after_the_pool_is_closed() {
        let pool = Pool::new(2, 100).unwrap();
        let (sender, receiver) = channel();
        let queue = SessionQueue::new(Some(()));
        for number in 0..50 {
            let sender = sender.clone();
            pool.submit(&queue, Box::new(move |_| sender.send(number).unwrap())).unwrap();
        }
        drop(sender);
        pool.close();
        assert_eq!(pool.submit(&queue, Box::new(|_| {})), Err(Full));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    }
}
