//! Work in order: a lane holds a value and the jobs that wait for it.
//!
//! The jobs of one lane run one after the other, in the order in which they came; those of different
//! lanes run side by side. A job that waits holds no thread, so a session with a thousand calls leaves
//! room for the others. Lanes take turns: after each job a lane goes to the end of the row.
//!
//! A job that panics takes the value of its own lane with it and nothing else.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Instant;

/// What is to be done with a lane's value; there is none once the lane is closed or has had a panic.
pub(crate) type Job<T> = Box<dyn FnOnce(&mut Option<T>) + Send>;

/// A value and the jobs that wait for it.
pub(crate) struct Lane<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    value: Option<T>,
    jobs: VecDeque<Job<T>>,
    /// Whether a worker has it, or it stands in the row for one.
    is_busy: bool,
    used: Instant,
}

impl<T: Send + 'static> Lane<T> {
    /// A lane with a value.
    pub(crate) fn new(value: Option<T>) -> Arc<Lane<T>> {
        let inner = Inner { value, jobs: VecDeque::new(), is_busy: false, used: Instant::now() };
        Arc::new(Lane { inner: Mutex::new(inner) })
    }

    /// Since when nothing has been asked of it; none while something is.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let inner = lock(&self.inner);
        (!inner.is_busy && inner.jobs.is_empty()).then_some(inner.used)
    }
}

/// A lane as a worker sees it.
trait Turn: Send + Sync {
    /// Does one job; tells whether there are more.
    fn run(&self) -> bool;
}

impl<T: Send + 'static> Turn for Lane<T> {
    fn run(&self) -> bool {
        let (job, mut value) = {
            let mut inner = lock(&self.inner);
            let Some(job) = inner.jobs.pop_front() else {
                inner.is_busy = false;
                return false;
            };
            (job, inner.value.take())
        };
        // What a panic left half done is not looked at again: the value goes.
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

/// Threads that take turns with lanes.
pub(crate) struct Pool {
    row: Arc<Row>,
    most_waiting: usize,
}

struct Row {
    state: Mutex<RowState>,
    wake: Condvar,
}

#[derive(Default)]
struct RowState {
    lanes: VecDeque<Arc<dyn Turn>>,
    waiting: usize,
    running: usize,
    is_closed: bool,
}

/// No more jobs may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The stacks to try for a worker: terms nest as deep as their limits admit.
const STACKS: [usize; 3] = [256 << 20, 64 << 20, 8 << 20];

impl Pool {
    /// A pool with so many threads; so many jobs may wait. If the system gives no thread, the error
    /// says why.
    pub(crate) fn new(n_threads: usize, most_waiting: usize) -> std::io::Result<Pool> {
        let row = Arc::new(Row { state: Mutex::default(), wake: Condvar::new() });
        let pool = Pool { row, most_waiting };
        (0..n_threads.max(1)).try_for_each(|_| start_worker(&pool.row))?;
        Ok(pool)
    }

    /// Adds a job to a lane.
    pub(crate) fn submit<T: Send + 'static>(&self, lane: &Arc<Lane<T>>, job: Job<T>) -> Result<(), Full> {
        {
            let mut state = lock(&self.row.state);
            if state.waiting >= self.most_waiting || state.is_closed {
                return Err(Full);
            }
            state.waiting += 1;
        }
        let mut inner = lock(&lane.inner);
        inner.jobs.push_back(job);
        if !inner.is_busy {
            inner.is_busy = true;
            lock(&self.row.state).lanes.push_back(Arc::clone(lane) as Arc<dyn Turn>);
            self.row.wake.notify_one();
        }
        Ok(())
    }

    /// The jobs that wait, and those that are worked on.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = lock(&self.row.state);
        (state.waiting, state.running)
    }

    /// Takes no more jobs, and ends the threads that have none; the jobs that were accepted are done.
    pub(crate) fn close(&self) {
        lock(&self.row.state).is_closed = true;
        self.row.wake.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

fn start_worker(row: &Arc<Row>) -> std::io::Result<()> {
    let mut last = None;
    for size in STACKS {
        let row = Arc::clone(row);
        match Builder::new().name("worker".to_string()).stack_size(size).spawn(move || work(&row)) {
            Ok(_) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::Error::other("no thread can be started")))
}

fn work(row: &Row) {
    loop {
        let lane = {
            let mut state = lock(&row.state);
            loop {
                if let Some(lane) = state.lanes.pop_front() {
                    state.waiting -= 1;
                    state.running += 1;
                    break lane;
                }
                // A lane whose job runs elsewhere may have more, but then it comes back to the row.
                if state.is_closed && state.running == 0 {
                    row.wake.notify_all();
                    return;
                }
                state = row.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let has_more = lane.run();
        let mut state = lock(&row.state);
        state.running -= 1;
        if has_more {
            state.lanes.push_back(lane);
        }
        if has_more || state.is_closed {
            row.wake.notify_all();
        }
    }
}

/// A lock whose holder panicked is a lock like any other: nothing is left half done under ours.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn jobs_of_a_lane_keep_their_order() {
        let pool = Pool::new(4, 10_000).unwrap();
        let (sender, receiver) = channel();
        let lanes: Vec<_> = (0..10).map(|_| Lane::new(Some(0_u32))).collect();
        for round in 0..500 {
            for (at, lane) in lanes.iter().enumerate() {
                let sender = sender.clone();
                let job: Job<u32> = Box::new(move |value| {
                    let value = value.as_mut().unwrap();
                    sender.send((at, round, *value)).unwrap();
                    *value += 1;
                });
                pool.submit(lane, job).unwrap();
            }
        }
        for _ in 0..5_000 {
            let (_, round, value) = receiver.recv_timeout(SOON).unwrap();
            assert_eq!(round, value);
        }
    }

    #[test]
    fn a_panic_takes_its_own_lane_only() {
        let pool = Pool::new(1, 10).unwrap();
        let (sender, receiver) = channel();
        let (broken, whole) = (Lane::new(Some(1)), Lane::new(Some(2)));
        pool.submit(&broken, Box::new(|_| panic!("a test of panics"))).unwrap();
        for lane in [&broken, &whole] {
            let sender = sender.clone();
            pool.submit(lane, Box::new(move |value| sender.send(*value).unwrap())).unwrap();
        }
        let mut seen = [receiver.recv_timeout(SOON).unwrap(), receiver.recv_timeout(SOON).unwrap()];
        seen.sort();
        assert_eq!(seen, [None, Some(2)]);
    }

    #[test]
    fn no_more_wait_than_may() {
        let pool = Pool::new(1, 3).unwrap();
        let (release, held) = channel::<()>();
        let (begun_sender, begun) = channel();
        let lane = Lane::new(Some(()));
        let job: Job<()> = Box::new(move |_| {
            begun_sender.send(()).unwrap();
            held.recv().unwrap();
        });
        pool.submit(&lane, job).unwrap();
        begun.recv_timeout(SOON).unwrap();
        let accepted = (0..10).filter(|_| pool.submit(&lane, Box::new(|_| {})).is_ok()).count();
        assert_eq!((accepted, pool.load()), (3, (3, 1)));
        assert_eq!(lane.idle_since(), None);
        release.send(()).unwrap();
        let end = Instant::now() + SOON;
        while pool.load() != (0, 0) && Instant::now() < end {
            std::thread::yield_now();
        }
        assert!(pool.submit(&lane, Box::new(|_| {})).is_ok());
    }

    #[test]
    fn what_was_accepted_is_done_at_the_end() {
        let pool = Pool::new(2, 100).unwrap();
        let (sender, receiver) = channel();
        let lane = Lane::new(Some(()));
        for at in 0..50 {
            let sender = sender.clone();
            pool.submit(&lane, Box::new(move |_| sender.send(at).unwrap())).unwrap();
        }
        drop(sender);
        pool.close();
        assert_eq!(pool.submit(&lane, Box::new(|_| {})), Err(Full));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    }
}
