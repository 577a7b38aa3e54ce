//! Workers on threads of their own, and the exchange of messages among them.
//!
//! A worker has its own encoder and works independently, except in [`Team::exchange`]: each worker sends
//! a message, waits, and receives the messages of all. When one worker stops, it notifies the others,
//! and they stop too, even while they wait; so no worker waits forever.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

use masque_verdict::{Budget, Stop, Why};

use crate::space::{Limited, Parcel};

/// Stack sizes to try, in bytes, largest first: the recursion is as deep as there are variables. A stack
/// is only address space until it is used.
const STACK_SIZES: [usize; 3] = [1 << 30, 64 << 20, 8 << 20];

/// A message from one worker to all others.
pub(crate) struct Message {
    /// Some states, if the question is about states.
    pub(crate) states: Option<Parcel>,
    /// A boolean result.
    pub(crate) flag: bool,
}

/// The state shared by all workers while they run.
pub(crate) struct Team {
    budget: Budget,
    /// Budget of the evaluations that end when one worker has found the answer.
    search: Budget,
    /// Whether a worker has found the answer.
    is_answered: AtomicBool,
    round: Mutex<Round>,
    changed: Condvar,
}

/// The current round of exchange.
#[derive(Default)]
struct Round {
    number: u64,
    /// Messages sent so far in this round, by worker.
    sent: Vec<Option<Message>>,
    /// All messages of the previous round.
    last: Arc<[Message]>,
    /// The reason why all workers stop.
    stop: Option<Stop>,
}

impl Team {
    fn new(n_workers: usize, budget: &Budget) -> Team {
        let sent = (0..n_workers).map(|_| None).collect();
        let round = Mutex::new(Round { sent, ..Round::default() });
        let budget = budget.branch();
        let (search, is_answered) = (budget.branch(), AtomicBool::new(false));
        Team { budget, search, is_answered, round, changed: Condvar::new() }
    }

    /// Returns the budget of evaluations that are no longer needed once a worker has found the answer.
    pub(crate) fn search_budget(&self) -> &Budget {
        &self.search
    }

    /// Notifies the other workers that the answer is found: their evaluations end.
    pub(crate) fn answer(&self) {
        self.is_answered.store(true, Relaxed);
        self.search.cancel();
    }

    /// Returns whether a worker has found the answer.
    pub(crate) fn is_answered(&self) -> bool {
        self.is_answered.load(Relaxed)
    }

    /// Sends a message and waits for those of all workers, which are returned in the order of the workers.
    pub(crate) fn exchange(&self, worker: usize, message: Message) -> Limited<Arc<[Message]>> {
        let mut round = self.round();
        if let Some(stop) = round.stop {
            return Err(stop);
        }
        round.sent[worker] = Some(message);
        if round.sent.iter().all(Option::is_some) {
            round.last = round.sent.iter_mut().filter_map(Option::take).collect();
            round.number += 1;
            self.changed.notify_all();
            return Ok(Arc::clone(&round.last));
        }
        // The next round needs this worker's message too, so `last` stays until it has been read here.
        let number = round.number;
        while round.number == number && round.stop.is_none() {
            round = self.changed.wait(round).unwrap_or_else(PoisonError::into_inner);
        }
        match round.stop {
            Some(stop) => Err(stop),
            None => Ok(Arc::clone(&round.last)),
        }
    }

    /// Stops all workers. The reason of the first call is kept.
    fn stop(&self, stop: Stop) {
        self.round().stop.get_or_insert(stop);
        self.changed.notify_all();
        self.budget.cancel();
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the other workers if the thread of one panics.
struct PanicGuard<'t>(&'t Team);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Why::Interrupted.into());
        }
    }
}

/// Runs `work` for each worker on a thread of its own with a large stack. Returns the results in the order
/// of the workers, or the reason why the first of them stopped. Before any thread starts, `prepare` is
/// called for each worker with the budget that ends when one of them stops.
///
/// # Panics
///
/// Panics if a worker panics.
pub(crate) fn run_workers<W: Send, T: Send>(
    workers: &mut [W],
    budget: &Budget,
    prepare: impl Fn(&W, &Budget),
    work: impl Fn(usize, &mut W, &Team) -> Limited<T> + Sync,
) -> Limited<Vec<T>> {
    budget.check()?;
    let team = Team::new(workers.len(), budget);
    workers.iter().for_each(|worker| prepare(worker, &team.budget));
    let results: Vec<Option<T>> = scope(|scope| {
        let mut threads = Vec::with_capacity(workers.len());
        for (index, worker) in workers.iter_mut().enumerate() {
            let (team, work) = (&team, &work);
            // If a thread cannot be started, its worker stays here for the next attempt.
            let slot = Arc::new(Mutex::new(Some(worker)));
            let started = STACK_SIZES.iter().find_map(|&size| {
                let slot = Arc::clone(&slot);
                let run = move || {
                    let _guard = PanicGuard(team);
                    let worker = slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
                    work(index, worker, team).map_err(|stop| team.stop(stop)).ok()
                };
                Builder::new().name("part".to_string()).stack_size(size).spawn_scoped(scope, run).ok()
            });
            match started {
                Some(thread) => threads.push(thread),
                None => team.stop(Why::Memory.into()),
            }
        }
        let joined: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        joined.into_iter().map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let stop = team.round().stop;
    match (stop, results.into_iter().collect::<Option<Vec<T>>>()) {
        (None, Some(results)) => Ok(results),
        (stop, _) => Err(stop.unwrap_or(Why::Interrupted.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(flag: bool) -> Message {
        Message { states: None, flag }
    }

    #[test]
    fn every_worker_receives_all_messages() {
        for n_workers in 1..6 {
            let mut workers: Vec<usize> = (0..n_workers).collect();
            let received = run_workers(
                &mut workers,
                &Budget::unlimited(),
                |_, _| {},
                |index, own, team| {
                    let mut received = Vec::new();
                    for round in 0..20 {
                        let messages = team.exchange(index, flag((*own + round) % 3 == 0))?;
                        received.push(messages.iter().map(|message| message.flag).collect::<Vec<bool>>());
                    }
                    Ok(received)
                },
            );
            let round = |round| (0..n_workers).map(|own| (own + round) % 3 == 0).collect::<Vec<bool>>();
            let expected: Vec<Vec<bool>> = (0..20).map(round).collect();
            assert_eq!(received, Ok(vec![expected; n_workers]));
        }
    }

    /// One worker stops while another waits for it and a third is busy: all stop, with its reason.
    #[test]
    fn one_worker_stops_all() {
        for stopping in 0..3 {
            let stopped: Limited<Vec<()>> = run_workers(
                &mut [(); 3],
                &Budget::unlimited(),
                |_, _| {},
                |index, (), team| {
                    team.exchange(index, flag(true))?;
                    if index == stopping {
                        return Err(Why::Memory.into());
                    }
                    if index == (stopping + 1) % 3 {
                        while team.budget.check().is_ok() {
                            std::thread::yield_now();
                        }
                        return team.budget.check();
                    }
                    team.exchange(index, flag(true)).map(|_| ())
                },
            );
            assert_eq!(stopped.map_err(|stop| stop.why), Err(Why::Memory));
        }
    }

    #[test]
    fn the_caller_stops_all() {
        let budget = Budget::unlimited();
        budget.cancel();
        let stopped: Limited<Vec<()>> = run_workers(
            &mut [(); 4],
            &budget,
            |_, _| {},
            |index, (), team| match index {
                0 => team.budget.check(),
                _ => team.exchange(index, flag(true)).map(|_| ()),
            },
        );
        assert_eq!(stopped.map_err(|stop| stop.why), Err(Why::Interrupted));
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_is_propagated() {
        let _: Limited<Vec<()>> = run_workers(
            &mut [(); 3],
            &Budget::unlimited(),
            |_, _| {},
            |index, (), team| {
                assert!(index != 1, "a bug");
                team.exchange(index, flag(true)).map(|_| ())
            },
        );
    }
}
