//! A thread that keeps a data structure, such as the encoding of a system, and answers questions about it.
//!
//! An encoding borrows the system it encodes, so the two cannot be fields of one struct. Here they are variables
//! of one thread, which also has the large stack that engines need. The thread is started by the first question
//! and stays until the `Resident` is dropped. A question that does not end shortly after its deadline is abandoned
//! together with the thread, and the next question starts a new one.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use masque_memory::Supervision;
use masque_verdict::{Budget, Stop, Why};

use crate::check::Limits;
use crate::helper_thread::{self, Wait};

/// A question with the budget of its answer. It sends its answer itself.
pub(crate) type Question<A> = (A, Budget);

/// A thread that answers questions of type `A`.
pub(crate) struct Resident<A> {
    thread: Option<Running<A>>,
}

struct Running<A> {
    questions: Sender<Question<A>>,
    handle: JoinHandle<()>,
}

impl<A: Send + 'static> Resident<A> {
    pub(crate) fn new() -> Resident<A> {
        Resident { thread: None }
    }

    /// Whether the thread runs, so that what it keeps is there.
    pub(crate) fn is_warm(&self) -> bool {
        self.thread.as_ref().is_some_and(|running| !running.handle.is_finished())
    }

    /// Asks a question. `serve` is what the thread runs if it has to be started: it answers the questions that it
    /// receives until there are no more. `question` receives the channel for the answer.
    ///
    /// # Panics
    ///
    /// If the thread panics while it answers.
    pub(crate) fn ask<T: Send + 'static>(
        &mut self,
        limits: &Limits,
        serve: impl FnOnce(&Receiver<Question<A>>) + Clone + Send + 'static,
        question: impl FnOnce(Sender<Result<T, Stop>>) -> A,
    ) -> Result<T, Why> {
        let supervision = Supervision::begin();
        if !self.is_warm() {
            self.thread = Some(start(serve).ok_or(Why::Memory)?);
        }
        let Some(running) = &self.thread else { return Err(Why::Memory) };
        let budget = limits.budget();
        let (sender, answers) = channel();
        // If the thread has just ended, the answer channel closes, which is noticed below.
        _ = running.questions.send((question(sender), budget.clone()));
        let mut answer = None;
        let end = helper_thread::wait(limits, &budget, &supervision, &answers, &mut |received| {
            answer = answer.take().or(received);
        });
        match (end, answer) {
            (_, Some(answer)) => answer.map_err(|stop: Stop| stop.why),
            (Wait::Stopped(why), None) => {
                // The question goes on; no thread waits for it.
                self.thread = None;
                Err(why)
            }
            (Wait::Ended(why), None) => {
                self.end_with_panic();
                Err(why.unwrap_or(Why::Memory))
            }
        }
    }

    /// Waits for the end of a thread that gave no answer, and panics if it did.
    fn end_with_panic(&mut self) {
        let Some(Running { questions, handle }) = self.thread.take() else { return };
        drop(questions);
        if let Err(panic) = handle.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

fn start<A: Send + 'static>(
    serve: impl FnOnce(&Receiver<Question<A>>) + Clone + Send + 'static,
) -> Option<Running<A>> {
    let (sender, receiver) = channel();
    // The thread may be tried with several sizes of its stack, so the receiver is shared among the attempts.
    let receiver = Arc::new(Mutex::new(receiver));
    let (handle, _) = helper_thread::spawn(move |_: &Sender<()>| {
        serve(&receiver.lock().unwrap_or_else(PoisonError::into_inner));
    })?;
    Some(Running { questions: sender, handle })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::{Duration, Instant};

    use super::*;

    enum Sum {
        Add(u64, Sender<Result<u64, Stop>>),
        Forever(Sender<Result<u64, Stop>>),
    }

    fn keep_sum(questions: &Receiver<Question<Sum>>) {
        let mut sum = 0;
        for (question, budget) in questions {
            match question {
                Sum::Add(number, answer) => {
                    sum += number;
                    _ = answer.send(Ok(sum));
                }
                Sum::Forever(answer) => {
                    while budget.check().is_ok() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    _ = answer.send(Err(Why::Timeout.into()));
                }
            }
        }
    }

    #[test]
    fn the_thread_keeps_its_data_from_question_to_question() {
        let mut resident = Resident::new();
        let mut add = |number| resident.ask(&Limits::default(), keep_sum, |to| Sum::Add(number, to)).unwrap();
        assert_eq!([add(1), add(2), add(3)], [1, 3, 6]);
        assert!(resident.is_warm());
    }

    #[test]
    fn a_stopped_question_leaves_the_thread_usable() {
        let mut resident = Resident::new();
        let soon = Limits { deadline: Some(Instant::now() + Duration::from_millis(20)), ..Limits::default() };
        assert_eq!(resident.ask(&soon, keep_sum, Sum::Forever), Err(Why::Timeout));
        let limits = Limits::default();
        limits.interrupt.store(true, Ordering::Relaxed);
        assert!(resident.ask(&limits, keep_sum, Sum::Forever).is_err());
        assert_eq!(resident.ask(&Limits::default(), keep_sum, |to| Sum::Add(5, to)), Ok(5));
    }

    #[test]
    #[should_panic(expected = "made up")]
    fn a_panic_of_the_thread_is_passed_on() {
        let mut resident: Resident<Sum> = Resident::new();
        _ = resident.ask(&Limits::default(), |_| panic!("made up"), |to| Sum::Add(1, to));
    }
}
