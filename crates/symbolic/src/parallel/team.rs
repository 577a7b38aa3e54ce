//! Workers on threads of their own, and what they tell each other.
//!
//! A worker has its own encoder and works alone but for [`Team::swap`], where all meet: each brings
//! a message, and each gets the messages of all. Whoever cannot go on says so, which frees those who
//! wait and ends what the others do; so nobody waits for ever.

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

use masque_verdict::{Budget, Stop, Why};

use crate::space::{Limited, Parcel};

/// Stack sizes to try, largest first: diagrams are as deep as there are variables. A stack is
/// address space: memory is taken as it is used.
const STACKS: [usize; 3] = [1 << 30, 64 << 20, 8 << 20];

/// What workers tell each other.
pub(crate) struct Message {
    /// Some states, if the question is about states.
    pub(crate) states: Option<Parcel>,
    /// An answer to the question.
    pub(crate) flag: bool,
}

/// What the workers have in common while they are at work.
pub(crate) struct Team {
    budget: Budget,
    round: Mutex<Round>,
    changed: Condvar,
}

/// Messages on their way.
#[derive(Default)]
struct Round {
    number: u64,
    brought: Vec<Option<Message>>,
    last: Arc<[Message]>,
    stop: Option<Stop>,
}

impl Team {
    fn new(n_workers: usize, budget: &Budget) -> Team {
        let brought = (0..n_workers).map(|_| None).collect();
        let round = Mutex::new(Round { brought, ..Round::default() });
        Team { budget: budget.branch(), round, changed: Condvar::new() }
    }

    /// Brings a message and waits for those of all workers, which come in the order of the workers.
    pub(crate) fn swap(&self, worker: usize, message: Message) -> Limited<Arc<[Message]>> {
        let mut round = self.round();
        if let Some(stop) = round.stop {
            return Err(stop);
        }
        round.brought[worker] = Some(message);
        if round.brought.iter().all(Option::is_some) {
            round.last = round.brought.iter_mut().filter_map(Option::take).collect();
            round.number += 1;
            self.changed.notify_all();
            return Ok(Arc::clone(&round.last));
        }
        // The next round needs our message too, so `last` stays until we have seen it.
        let number = round.number;
        while round.number == number && round.stop.is_none() {
            round = self.changed.wait(round).unwrap_or_else(PoisonError::into_inner);
        }
        match round.stop {
            Some(stop) => Err(stop),
            None => Ok(Arc::clone(&round.last)),
        }
    }

    /// Ends the work of all. The first to say so has the reason.
    fn stop(&self, stop: Stop) {
        self.round().stop.get_or_insert(stop);
        self.changed.notify_all();
        self.budget.cancel();
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker at work; a panic stops the others, too.
struct AtWork<'t>(&'t Team);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Why::Interrupted.into());
        }
    }
}

/// Lets all workers do the same, each on a thread of its own with a large stack, and gives what they
/// come to, in their order; or why the first to stop has stopped. Before anybody begins, `prepare`
/// gets each worker and the budget that ends when one of them stops.
///
/// # Panics
///
/// If a worker does: its bug is handed on.
pub(crate) fn together<W: Send, T: Send>(
    workers: &mut [W],
    budget: &Budget,
    prepare: impl Fn(&W, &Budget),
    work: impl Fn(usize, &mut W, &Team) -> Limited<T> + Sync,
) -> Limited<Vec<T>> {
    budget.check()?;
    let team = Team::new(workers.len(), budget);
    workers.iter().for_each(|worker| prepare(worker, &team.budget));
    let answers: Vec<Option<T>> = scope(|scope| {
        let mut threads = Vec::with_capacity(workers.len());
        for (position, worker) in workers.iter_mut().enumerate() {
            let (team, work) = (&team, &work);
            // A thread that cannot be started gives its worker back for the next try.
            let seat = Arc::new(Mutex::new(Some(worker)));
            let started = STACKS.iter().find_map(|&size| {
                let seat = Arc::clone(&seat);
                let run = move || {
                    let _at_work = AtWork(team);
                    let worker = seat.lock().unwrap_or_else(PoisonError::into_inner).take()?;
                    work(position, worker, team).map_err(|stop| team.stop(stop)).ok()
                };
                Builder::new().name("part".to_string()).stack_size(size).spawn_scoped(scope, run).ok()
            });
            match started {
                Some(thread) => threads.push(thread),
                None => team.stop(Why::Memory.into()),
            }
        }
        let joined: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        joined.into_iter().map(|answer| answer.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let stop = team.round().stop;
    match (stop, answers.into_iter().collect::<Option<Vec<T>>>()) {
        (None, Some(answers)) => Ok(answers),
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
    fn everybody_hears_everybody() {
        for n_workers in 1..6 {
            let mut workers: Vec<usize> = (0..n_workers).collect();
            let heard = together(
                &mut workers,
                &Budget::unlimited(),
                |_, _| {},
                |position, own, team| {
                    let mut heard = Vec::new();
                    for round in 0..20 {
                        let messages = team.swap(position, flag((*own + round) % 3 == 0))?;
                        heard.push(messages.iter().map(|message| message.flag).collect::<Vec<bool>>());
                    }
                    Ok(heard)
                },
            );
            let round = |round| (0..n_workers).map(|own| (own + round) % 3 == 0).collect::<Vec<bool>>();
            let expected: Vec<Vec<bool>> = (0..20).map(round).collect();
            assert_eq!(heard, Ok(vec![expected; n_workers]));
        }
    }

    /// One worker stops while the others wait for it, or are busy: all end, with its reason.
    #[test]
    fn one_reason_stops_all() {
        for who in 0..3 {
            let stopped: Limited<Vec<()>> = together(
                &mut [(); 3],
                &Budget::unlimited(),
                |_, _| {},
                |position, (), team| {
                    team.swap(position, flag(true))?;
                    if position == who {
                        return Err(Why::Memory.into());
                    }
                    if position == (who + 1) % 3 {
                        while team.budget.check().is_ok() {
                            std::thread::yield_now();
                        }
                        return team.budget.check();
                    }
                    team.swap(position, flag(true)).map(|_| ())
                },
            );
            assert_eq!(stopped.map_err(|stop| stop.why), Err(Why::Memory));
        }
    }

    #[test]
    fn the_caller_stops_all() {
        let budget = Budget::unlimited();
        budget.cancel();
        let stopped: Limited<Vec<()>> = together(
            &mut [(); 4],
            &budget,
            |_, _| {},
            |position, (), team| match position {
                0 => team.budget.check(),
                _ => team.swap(position, flag(true)).map(|_| ()),
            },
        );
        assert_eq!(stopped.map_err(|stop| stop.why), Err(Why::Interrupted));
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_bug_is_handed_on() {
        let _: Limited<Vec<()>> = together(
            &mut [(); 3],
            &Budget::unlimited(),
            |_, _| {},
            |position, (), team| {
                assert!(position != 1, "a bug");
                team.swap(position, flag(true)).map(|_| ())
            },
        );
    }
}
