//! Tests of several models at the same time, each within limits of its own. Results arrive in the order of the models.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

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

impl Default for TestPool {
    /// One model at a time, without limits.
    fn default() -> Self {
        TestPool {
            test: TestRequest::default(),
            jobs: NonZeroUsize::MIN,
            timeout: None,
            memory: None,
            interrupt: Arc::default(),
        }
    }
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
        let limits = Limits::new(self.timeout, self.memory, &self.interrupt);
        test_model(files, &self.test, &Limits { n_checks: n_checks as u64, ..limits })
    }
}

/// The next model that no thread has taken.
fn take<'m>(models: &'m [Vec<PathBuf>], next: &AtomicUsize) -> Option<(usize, &'m [PathBuf])> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    models.get(index).map(|files| (index, files.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool with a number of threads, and five models in a folder.
    fn pool(jobs: usize) -> (TestPool, Vec<Vec<PathBuf>>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let text = "agent a is loop p := any endloop\nproperty x: EF p; // expect: holds\n";
        let models = (1..=5).map(|number| {
            let path = folder.path().join(format!("{number}.bdi"));
            std::fs::write(&path, text).unwrap();
            vec![path]
        });
        let models = models.collect();
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let (test, interrupt) = (TestRequest::default(), Arc::default());
        (TestPool { test, jobs, interrupt, ..TestPool::default() }, models, folder)
    }

    #[test]
    fn results_are_in_the_order_of_the_models() {
        for jobs in [1, 2, 3, 9] {
            let (pool, models, _folder) = pool(jobs);
            let mut names = Vec::new();
            let mut done = |index: usize, tested: Option<Tested>| {
                names.push((index, tested.unwrap().loaded.name()));
                Ok(())
            };
            pool.run(&models, &mut done, &mut |progress| assert_eq!(progress.n_models, 5)).unwrap();
            let expected = models.iter().map(|files| files[0].display().to_string()).enumerate();
            assert_eq!(names, expected.collect::<Vec<_>>(), "{jobs}");
        }
    }

    #[test]
    fn an_interrupt_leaves_the_rest_untested() {
        let (pool, models, _folder) = pool(1);
        let mut tested_models = Vec::new();
        let mut done = |_, tested: Option<Tested>| {
            pool.interrupt.store(true, Ordering::Relaxed);
            tested_models.push(tested.is_some());
            Ok(())
        };
        pool.run(&models, &mut done, &mut |_| {}).unwrap();
        assert_eq!((tested_models.len(), tested_models[0], tested_models[4]), (5, true, false));
    }

    /// An output that cannot be written ends the test.
    #[test]
    fn an_error_ends_the_test() {
        let (pool, models, _folder) = pool(2);
        let mut n_calls = 0;
        let mut done = |_, _| {
            n_calls += 1;
            Err(io::Error::other("full"))
        };
        assert_eq!(pool.run(&models, &mut done, &mut |_| {}).unwrap_err().to_string(), "full");
        assert_eq!(n_calls, 1);
    }

    #[test]
    fn no_models_need_no_threads() {
        let (pool, _, _folder) = pool(2);
        pool.run(&[], &mut |_, _| unreachable!(), &mut |_| {}).unwrap();
    }
}
