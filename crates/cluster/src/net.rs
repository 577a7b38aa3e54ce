//! Rounds: how workers talk.
//!
//! All workers run the same program, and meet at the end of every *round*. In a round each does its
//! own work and sends words to others, which get them in the same round or, at the latest, before it
//! ends. At its end everybody has everybody's *vote*, a few words, and so all take the same decision
//! about what comes next.
//!
//! The dataflow that carries this has three parts: an input, an exchange to the worker a batch is
//! for, and an operator that puts it into an inbox. A round is a timestamp: it is over when timely's
//! progress tracking says that nothing of it is left on its way. There is no feedback edge, since the
//! loop is the program itself; so no capability is ever held over a round, and between rounds nothing
//! is in flight, which is what makes checkpoints simple.
//!
//! Timely has no back-pressure. So a task does a few thousand steps at a time, between which the
//! worker receives, and a round has a bounded amount of work: a slow worker's inbox never holds more
//! than a round's worth.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use masque_verdict::{Budget, Stop, Why};
use serde::{Deserialize, Serialize};
use timely::communication::Allocator;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandleVec, ProbeHandle};
use timely::worker::Worker;

/// Maximum number of states, or edges, that a task of a worker looks at in one round.
pub(crate) const STATES_PER_ROUND: usize = 1 << 16;
/// Maximum number of states, or edges, that a task looks at before the worker receives messages.
pub(crate) const STATES_PER_STRIDE: usize = 4096;
/// The same for tasks that expand known states again, which takes longer.
pub(crate) const STATES_PER_SHORT_STRIDE: usize = 1024;
/// So many words are sent together.
const BATCH: usize = 2048;
/// How long a worker sleeps, at most, before it looks whether something has come.
const NAP: Duration = Duration::from_millis(100);

/// Words from one worker to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Batch {
    from: u32,
    to: u32,
    is_vote: bool,
    words: Vec<u64>,
}

/// What a worker does in rounds.
pub(crate) trait Task {
    /// A round begins.
    fn begin(&mut self) {}

    /// Does a few thousand steps. False if there is nothing left to do in this round, unless
    /// something comes in.
    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop>;

    /// Takes words that a worker has sent, whole records of them.
    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop>;

    /// What all are to know at the end of a round.
    fn vote(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// What is to be sent, by receiver.
pub(crate) struct Outbox {
    open: Vec<Vec<u64>>,
    full: Vec<(usize, Vec<u64>)>,
    n_words: u64,
}

impl Outbox {
    /// Sends a record: its words stay together.
    #[inline]
    pub(crate) fn send(&mut self, to: usize, record: &[u64]) {
        self.send_two(to, record, &[]);
    }

    /// Sends a record that is in two parts.
    #[inline]
    pub(crate) fn send_two(&mut self, to: usize, head: &[u64], tail: &[u64]) {
        let open = &mut self.open[to];
        if open.len() + head.len() + tail.len() > BATCH && !open.is_empty() {
            self.full.push((to, std::mem::take(open)));
        }
        if open.capacity() == 0 {
            open.reserve_exact(BATCH);
        }
        open.extend_from_slice(head);
        open.extend_from_slice(tail);
        self.n_words += (head.len() + tail.len()) as u64;
    }
}

/// The votes of all workers at the end of a round.
pub(crate) struct Votes {
    /// Each worker's, in order.
    pub(crate) by_worker: Vec<Vec<u64>>,
    /// The words that were sent in the round, by all.
    pub(crate) n_sent: u64,
}

impl Votes {
    /// The sum over all workers of a word of their votes.
    pub(crate) fn sum(&self, position: usize) -> u64 {
        self.by_worker.iter().filter_map(|vote| vote.get(position)).sum()
    }
}

/// What has come in a round.
#[derive(Default)]
struct Arrived {
    words: VecDeque<Batch>,
    votes: Vec<Batch>,
}

/// By the parity of the round: a worker is at most one round behind another.
type Inbox = Rc<RefCell<[Arrived; 2]>>;

/// A worker's place among the others.
pub(crate) struct Net {
    worker: Worker,
    input: InputHandleVec<u64, Batch>,
    probe: ProbeHandle<u64>,
    inbox: Inbox,
    outbox: Outbox,
    round: u64,
    /// A limit that was hit here and that the others do not know of yet.
    stop: Option<Stop>,
    /// Whether all workers know of the limit that was hit last.
    is_agreed: bool,
    /// What may cut the work of a round short.
    pub(crate) budget: Budget,
    /// Words sent to other workers so far.
    pub(crate) n_sent: u64,
}

impl Net {
    /// Joins the others. All must do so, and none may leave before the rest.
    pub(crate) fn new(allocator: Allocator, budget: Budget) -> Net {
        // Without a clock of its own a worker would never sleep while it waits.
        let mut worker = Worker::new(timely::WorkerConfig::default(), allocator, Some(Instant::now()));
        let inbox: Inbox = Rc::default();
        let into = Rc::clone(&inbox);
        let (input, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let (input, stream) = scope.new_input();
            let route = Exchange::new(|batch: &Batch| u64::from(batch.to));
            let received =
                stream.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(route, "inbox", move |_, _| {
                    move |arriving, _| {
                        arriving.for_each(|round, batches| {
                            let arrived = &mut into.borrow_mut()[(*round.time() % 2) as usize];
                            for batch in batches.drain(..) {
                                match batch.is_vote {
                                    true => arrived.votes.push(batch),
                                    false => arrived.words.push_back(batch),
                                }
                            }
                        });
                    }
                });
            (input, received.probe().0)
        });
        let outbox = Outbox { open: vec![Vec::new(); worker.peers()], full: Vec::new(), n_words: 0 };
        Net { worker, input, probe, inbox, outbox, round: 0, stop: None, is_agreed: false, budget, n_sent: 0 }
    }

    /// This worker's number.
    pub(crate) fn index(&self) -> usize {
        self.worker.index()
    }

    /// How many workers there are.
    pub(crate) fn peers(&self) -> usize {
        self.worker.peers()
    }

    /// Does one round of a task. If a limit was hit anywhere, all workers stop, for the same reason.
    pub(crate) fn round(&mut self, task: &mut dyn Task) -> Result<Votes, Stop> {
        task.begin();
        let mut is_working = true;
        while is_working {
            is_working = self.stop.is_none() && self.work(task);
            if self.peers() > 1 && (is_working || !self.outbox.full.is_empty()) {
                self.send();
                self.worker.step();
            }
            is_working |= self.deliver(task) && self.stop.is_none();
        }
        let n_sent = self.outbox.n_words;
        self.n_sent += n_sent;
        self.outbox.n_words = 0;
        if self.peers() == 1 {
            // Nobody to talk to.
            let words = self.vote(n_sent, task);
            let alone = Batch { from: 0, to: 0, is_vote: true, words };
            self.arrived().votes.push(alone);
            return self.close();
        }
        for to in 0..self.peers() {
            let rest = std::mem::take(&mut self.outbox.open[to]);
            if !rest.is_empty() {
                self.send_batch(to, false, rest);
            }
            let words = self.vote(n_sent, task);
            self.send_batch(to, true, words);
        }
        self.input.advance_to(self.round + 1);
        self.worker.step();
        while self.probe.less_than(&(self.round + 1)) {
            self.worker.step_or_park(Some(NAP));
            self.deliver(task);
        }
        self.deliver(task);
        self.close()
    }

    /// Rounds of a task until nobody has sent anything in one, and every first word of a vote is 0.
    pub(crate) fn run(&mut self, task: &mut dyn Task) -> Result<(), Stop> {
        loop {
            let votes = self.round(task)?;
            if votes.n_sent == 0 && votes.sum(0) == 0 {
                return Ok(());
            }
        }
    }

    /// Rounds of a task until every first word of a vote is 0: what is sent causes nothing to be sent.
    pub(crate) fn work_off(&mut self, task: &mut dyn Task) -> Result<(), Stop> {
        while self.round(task)?.sum(0) > 0 {}
        Ok(())
    }

    /// Ends a piece of work that all workers do: with what it came to here, or for all in the same
    /// way if a limit was hit anywhere.
    ///
    /// One that stops outside of a round tells the others in the round that they are in; so wherever
    /// an error is found it can be handed on with `?`.
    pub(crate) fn agree<T>(&mut self, result: Result<T, Stop>) -> Result<T, Stop> {
        let is_agreed = std::mem::take(&mut self.is_agreed);
        let done = match result {
            Err(stop) if is_agreed => return Err(stop),
            Err(stop) => {
                self.stop = Some(stop);
                let agreed = self.gather(Vec::new()).err().unwrap_or(stop);
                // What was found by then is known here.
                Err(Stop { why: agreed.why, ..stop })
            }
            Ok(value) => self.gather(Vec::new()).map(|_| value),
        };
        self.is_agreed = false;
        done
    }

    /// Tells all workers some words, and gets theirs, in order.
    pub(crate) fn gather(&mut self, words: Vec<u64>) -> Result<Vec<Vec<u64>>, Stop> {
        Ok(self.round(&mut Tell(words))?.by_worker)
    }

    /// The sum of a number over all workers.
    pub(crate) fn sum(&mut self, number: u64) -> Result<u64, Stop> {
        Ok(self.gather(vec![number])?.iter().flatten().sum())
    }

    /// Whether something is so at some worker.
    pub(crate) fn any(&mut self, here: bool) -> Result<bool, Stop> {
        Ok(self.sum(u64::from(here))? > 0)
    }

    /// The least row of all workers' least ones.
    pub(crate) fn least(&mut self, row: Option<Vec<u64>>) -> Result<Option<Vec<u64>>, Stop> {
        let rows = self.gather(row.unwrap_or_default())?;
        Ok(rows.into_iter().filter(|row| !row.is_empty()).min())
    }

    /// A vote: the limit that was hit here, if one was; the words sent; then the task's own.
    fn vote(&self, n_sent: u64, task: &dyn Task) -> Vec<u64> {
        let mut words = vec![self.stop.map_or(0, code), n_sent];
        words.extend(task.vote());
        words
    }

    fn work(&mut self, task: &mut dyn Task) -> bool {
        match self.budget.check().and_then(|()| task.work(&mut self.outbox)) {
            Ok(more) => more,
            Err(stop) => {
                self.stop = Some(stop);
                false
            }
        }
    }

    /// Sends the batches that are full.
    fn send(&mut self) {
        let mut full = std::mem::take(&mut self.outbox.full);
        for (to, words) in full.drain(..) {
            self.send_batch(to, false, words);
        }
        self.outbox.full = full;
    }

    fn send_batch(&mut self, to: usize, is_vote: bool, words: Vec<u64>) {
        self.input.send(Batch { from: self.index() as u32, to: to as u32, is_vote, words });
        // Batches are large enough to travel alone.
        self.input.flush();
    }

    /// Hands the words that have come to the task. Answers whether there were any.
    fn deliver(&mut self, task: &mut dyn Task) -> bool {
        let mut has_some = false;
        loop {
            let next = self.arrived().words.pop_front();
            let Some(batch) = next else { return has_some };
            has_some = true;
            if self.stop.is_none()
                && let Err(stop) = task.receive(batch.from as usize, &batch.words)
            {
                self.stop = Some(stop);
            }
        }
    }

    /// What has come in this round.
    fn arrived(&self) -> RefMut<'_, Arrived> {
        RefMut::map(self.inbox.borrow_mut(), |rounds| &mut rounds[(self.round % 2) as usize])
    }

    /// Counts the votes.
    fn close(&mut self) -> Result<Votes, Stop> {
        let mut by_worker = vec![Vec::new(); self.peers()];
        let (mut worst, mut n_sent) = (0, 0);
        let votes = std::mem::take(&mut self.arrived().votes);
        for vote in votes {
            let mut words = vote.words.into_iter();
            worst = worst.max(words.next().unwrap_or(0));
            n_sent += words.next().unwrap_or(0);
            by_worker[vote.from as usize] = words.collect();
        }
        self.round += 1;
        match why(worst) {
            None => Ok(Votes { by_worker, n_sent }),
            Some(why) => {
                self.stop = None;
                self.is_agreed = true;
                Err(why.into())
            }
        }
    }
}

/// A limit as a word of a vote. A limit of memory is told before a deadline that passed meanwhile.
pub(crate) fn code(stop: Stop) -> u64 {
    match stop.why {
        Why::Interrupted => 1,
        Why::Timeout => 2,
        Why::States => 3,
        Why::Unsupported => 4,
        Why::Workers => 6,
        _ => 5,
    }
}

pub(crate) fn why(code: u64) -> Option<Why> {
    match code {
        0 => None,
        1 => Some(Why::Interrupted),
        2 => Some(Why::Timeout),
        3 => Some(Why::States),
        4 => Some(Why::Unsupported),
        6 => Some(Why::Workers),
        _ => Some(Why::Memory),
    }
}

/// Nothing to do, but something to say.
struct Tell(Vec<u64>);

impl Task for Tell {
    fn work(&mut self, _: &mut Outbox) -> Result<bool, Stop> {
        Ok(false)
    }

    fn receive(&mut self, _: usize, _: &[u64]) -> Result<(), Stop> {
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        self.0.clone()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use timely::communication::allocator::ProcessBuilder;
    use timely::communication::{AllocatorBuilder, Hooks, initialize_from};

    use super::*;

    /// What each of so many workers comes to.
    pub(crate) fn workers<T: Send + 'static>(
        number: usize,
        work: impl Fn(Net) -> T + Send + Sync + 'static,
    ) -> Vec<T> {
        let builders = ProcessBuilder::new_bytes_vector(number, Hooks::default().refill, None);
        let builders = builders.into_iter().map(AllocatorBuilder::Process).collect();
        let flag = Arc::new(AtomicBool::new(false));
        let run = move |allocator| {
            let budget = Budget::default().with_cancel(Arc::clone(&flag));
            work(Net::new(allocator, budget))
        };
        initialize_from(builders, Box::new(()), run).unwrap().join().into_iter().map(Result::unwrap).collect()
    }

    /// Sends numbers round and round, each one less, until they are 0; counts what it has had.
    struct Countdown {
        me: usize,
        peers: usize,
        open: Vec<u64>,
        had: u64,
    }

    impl Task for Countdown {
        fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
            for number in self.open.drain(..) {
                self.had += 1;
                if number > 0 {
                    out.send((self.me + 1) % self.peers, &[number - 1]);
                }
            }
            Ok(false)
        }

        fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
            assert_eq!((from + 1) % self.peers, self.me);
            self.open.extend(words);
            Ok(())
        }

        fn vote(&self) -> Vec<u64> {
            vec![self.open.len() as u64]
        }
    }

    #[test]
    fn a_task_ends_when_nobody_has_anything_left() {
        for number in [2, 3, 5] {
            let had = workers(number, |mut net| {
                let (me, peers) = (net.index(), net.peers());
                // More than a batch of them, from one worker.
                let open = if me == 0 { (0..5000).map(|n| n % 7).collect() } else { Vec::new() };
                let mut task = Countdown { me, peers, open, had: 0 };
                net.run(&mut task).unwrap();
                let all = net.sum(task.had).unwrap();
                (all, net.least((me > 0).then(|| vec![9 - me as u64])).unwrap())
            });
            let all: u64 = (0..5000).map(|n| n % 7 + 1).sum();
            let least = vec![10 - number as u64];
            assert!(had.iter().all(|found| *found == (all, Some(least.clone()))), "{number}: {had:?}");
        }
    }

    /// One worker stops outside of a round, while the others are in one, or at their end.
    #[test]
    fn all_stop_for_the_same_reason_and_go_on_together() {
        for rounds in 0..4 {
            let found = workers(3, move |mut net| {
                let me = net.index();
                let piece = |net: &mut Net| {
                    for round in 0..3 {
                        if me == 1 && round == rounds {
                            return Err(Stop::from(Why::Memory));
                        }
                        net.sum(1)?;
                    }
                    Ok(me)
                };
                let result = piece(&mut net);
                let first = net.agree(result);
                let result = net.sum(2).map(|sum| sum as usize);
                (first.map_err(|stop| stop.why), net.agree(result).unwrap())
            });
            for (me, (first, second)) in found.into_iter().enumerate() {
                assert_eq!(first, if rounds < 3 { Err(Why::Memory) } else { Ok(me) }, "{rounds}");
                assert_eq!(second, 6);
            }
        }
    }
}
