//! Tests of several models at the same time, each within limits of its own. Results arrive in the order of the models.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::check::Limits;
use crate::test_run::{TestRequest, Tested, test_model};

/// Stack size of the threads in bytes. Models are loaded and checked on other threads.
const STACK_BYTES: usize = 8 << 20;
/// Time between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How models are tested.
#[derive(Clone, Debug)]
pub struct TestPool {
    /// What is asked of each model.
    pub test: TestRequest,
    /// Number of models that are tested at the same time.
    pub jobs: NonZeroUsize,
    /// Time limit of each model.
    pub timeout: Option<Duration>,
    /// Memory limit of each model, in bytes.
    pub memory: Option<u64>,
    /// Flag that becomes true when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
}

/// The progress of a pool.
#[derive(Clone, Copy, Debug)]
pub struct TestProgress<'m> {
    /// Number of models that have been tested.
    pub n_done: usize,
    /// Number of all models.
    pub n_models: usize,
    /// The model that was begun first among those that are not done.
    pub current: Option<&'m [PathBuf]>,
}

impl TestPool {
    /// Tests models. `done` receives the result of each in the order of the models, or `None` for a model that was
    /// not begun because the user interrupted. `observe` is called several times a second.
    ///
    /// # Errors
    ///
    /// If a thread or a process cannot be started, or if `done` fails; models that are not begun are then left out.
    ///
    /// # Panics
    ///
    /// If an engine panics.
    pub fn run(
        &self,
        models: &[Vec<PathBuf>],
        done: &mut dyn FnMut(usize, Option<Tested>) -> io::Result<()>,
        observe: &mut dyn FnMut(TestProgress<'_>),
    ) -> io::Result<()> {
        let n_threads = self.jobs.get().min(models.len());
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..n_threads {
                let (sender, next, is_over) = (sender.clone(), &next, &is_over);
                let work = move || {
                    while let Some((index, files)) = take(models, next) {
                        let is_stopped =
                            is_over.load(Ordering::Relaxed) || self.interrupt.load(Ordering::Relaxed);
                        let result = (!is_stopped).then(|| self.test_one(files, n_threads));
                        if sender.send((index, result)).is_err() {
                            break;
                        }
                    }
                };
                let thread = Builder::new().name("test".to_string()).stack_size(STACK_BYTES);
                if let Err(error) = thread.spawn_scoped(scope, work) {
                    is_over.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let (mut n_done, mut result) = (0, Ok(()));
            loop {
                match receiver.recv_timeout(PROGRESS_INTERVAL) {
                    Ok((index, tested)) => drop(waiting.insert(index, tested)),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return result,
                }
                while let Some(tested) = waiting.remove(&n_done) {
                    if result.is_ok() {
                        result = tested.transpose().and_then(|tested| done(n_done, tested));
                    }
                    if result.is_err() {
                        is_over.store(true, Ordering::Relaxed);
                    }
                    n_done += 1;
                }
                let n_tested = n_done + waiting.len();
                let current = models.get(n_done).map(Vec::as_slice);
                observe(TestProgress { n_done: n_tested, n_models: models.len(), current });
            }
        })
    }

    fn test_one(&self, files: &[PathBuf], n_checks: usize) -> io::Result<Tested> {
        let limits = Limits {
            deadline: self.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            memory: self.memory,
            interrupt: Arc::clone(&self.interrupt),
            n_checks: n_checks as u64,
            ..Limits::default()
        };
        test_model(files, &self.test, &limits)
    }
}

/// The next model that no thread has taken.
fn take<'m>(models: &'m [Vec<PathBuf>], next: &AtomicUsize) -> Option<(usize, &'m [PathBuf])> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    models.get(index).map(|files| (index, files.as_slice()))
}
