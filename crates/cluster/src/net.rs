//! Communication between workers, in rounds.
//!
//! All workers run the same program, and synchronise at the end of every *round*. In a round each does its
//! own work and sends words to others, which receive them before the round ends. At its end every worker
//! has the *vote* of every other worker, a few words, and so all take the same decision about what comes
//! next.
//!
//! The dataflow that carries this has three parts: an input, an exchange that routes a batch to its
//! receiver, and an operator that puts it into an inbox. A round is a timestamp: it is over when timely's
//! progress tracking reports that no message of it is in flight. There is no feedback edge, because the
//! loop is the program itself; so no capability is ever held over a round, and between rounds no message
//! is in flight, which makes checkpoints simple.
//!
//! Timely has no back-pressure. So a task does a few thousand steps, then the worker receives messages, and
//! so on; and the work of a round is bounded, so a slow worker's inbox never holds more than the messages
//! of one round.

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

/// Maximum number of states, or edges, that a task processes in one round.
pub(crate) const STATES_PER_ROUND: usize = 1 << 16;
/// Maximum number of states, or edges, that a task processes before the worker receives messages.
pub(crate) const STATES_PER_STRIDE: usize = 4096;
/// The same for tasks that expand known states again, which takes longer.
pub(crate) const STATES_PER_SHORT_STRIDE: usize = 1024;
/// Flag in the last word of a record that answers a question about a state. An answer has the length of a
/// question, so that records need no tags; its other words have no meaning.
pub(crate) const ANSWER_FLAG: u64 = 1 << 32;
/// Maximum number of words in a batch.
const BATCH_WORDS: usize = 2048;
/// Maximum time that a worker sleeps while it waits for messages.
const MAX_PARK: Duration = Duration::from_millis(100);

/// Words from one worker to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Batch {
    from: u32,
    to: u32,
    is_vote: bool,
    words: Vec<u64>,
}

/// Work that a worker does in rounds.
pub(crate) trait Task {
    /// Prepares for a round.
    fn begin(&mut self) {}

    /// Does a few thousand steps. Returns whether work is left in this round; messages that arrive later
    /// may add some.
    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop>;

    /// Processes words from another worker. Records are never split.
    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop>;

    /// Returns the words that all workers get at the end of a round.
    fn vote(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// Words to be sent, by receiver.
pub(crate) struct Outbox {
    open: Vec<Vec<u64>>,
    full: Vec<(usize, Vec<u64>)>,
    n_words: u64,
}

impl Outbox {
    /// Sends a record; its words stay in one batch.
    #[inline]
    pub(crate) fn send(&mut self, to: usize, record: &[u64]) {
        self.send_two(to, record, &[]);
    }

    /// Sends a record that is in two parts.
    #[inline]
    pub(crate) fn send_two(&mut self, to: usize, head: &[u64], tail: &[u64]) {
        let open = &mut self.open[to];
        if open.len() + head.len() + tail.len() > BATCH_WORDS && !open.is_empty() {
            self.full.push((to, std::mem::take(open)));
        }
        if open.capacity() == 0 {
            open.reserve_exact(BATCH_WORDS);
        }
        open.extend_from_slice(head);
        open.extend_from_slice(tail);
        self.n_words += (head.len() + tail.len()) as u64;
    }
}

/// The votes of all workers at the end of a round.
pub(crate) struct Votes {
    /// The vote of each worker, in the order of the workers.
    pub(crate) by_worker: Vec<Vec<u64>>,
    /// Number of words that all workers sent in the round.
    pub(crate) n_sent: u64,
}

impl Votes {
    /// Returns the sum over all workers of the word at an index of their votes.
    pub(crate) fn sum(&self, index: usize) -> u64 {
        self.by_worker.iter().filter_map(|vote| vote.get(index)).sum()
    }
}

/// Messages received in a round.
#[derive(Default)]
struct Received {
    words: VecDeque<Batch>,
    votes: Vec<Batch>,
}

/// Received messages by the parity of the round: a worker is at most one round behind another.
type Inbox = Rc<RefCell<[Received; 2]>>;

/// A worker's connection to the other workers.
pub(crate) struct Net {
    worker: Worker,
    input: InputHandleVec<u64, Batch>,
    probe: ProbeHandle<u64>,
    inbox: Inbox,
    outbox: Outbox,
    round: u64,
    /// A limit that was hit here and that the others do not know yet.
    stop: Option<Stop>,
    /// Whether all workers know the limit that was hit last.
    is_agreed: bool,
    /// The limits of this worker.
    pub(crate) budget: Budget,
    /// Number of words sent to other workers so far.
    pub(crate) n_sent: u64,
}

impl Net {
    /// Connects to the other workers. All must do so, and all must leave together.
    pub(crate) fn new(allocator: Allocator, budget: Budget) -> Net {
        // Without a start time, timely would never let a waiting worker sleep.
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
                            let received = &mut into.borrow_mut()[(*round.time() % 2) as usize];
                            for batch in batches.drain(..) {
                                if batch.is_vote {
                                    received.votes.push(batch);
                                } else {
                                    received.words.push_back(batch);
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

    /// Returns the index of this worker.
    pub(crate) fn index(&self) -> usize {
        self.worker.index()
    }

    /// Returns the number of workers.
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
            let words = self.vote(n_sent, task);
            let own = Batch { from: 0, to: 0, is_vote: true, words };
            self.received().votes.push(own);
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
            self.worker.step_or_park(Some(MAX_PARK));
            self.deliver(task);
        }
        self.deliver(task);
        self.close()
    }

    /// Repeats rounds of a task until no worker has sent anything in one, and the first word of every vote
    /// is 0.
    pub(crate) fn run_until_quiet(&mut self, task: &mut dyn Task) -> Result<(), Stop> {
        loop {
            let votes = self.round(task)?;
            if votes.n_sent == 0 && votes.sum(0) == 0 {
                return Ok(());
            }
        }
    }

    /// Repeats rounds of a task until the first word of every vote is 0. For tasks that send nothing in
    /// response to a message.
    pub(crate) fn run_until_done(&mut self, task: &mut dyn Task) -> Result<(), Stop> {
        while self.round(task)?.sum(0) > 0 {}
        Ok(())
    }

    /// Ends a piece of work that all workers do. Returns the result of this worker, or the same limit at all
    /// workers if one was hit anywhere.
    ///
    /// A worker that stops outside of a round informs the others in the round that they are in; so errors
    /// can be passed on with `?` anywhere.
    pub(crate) fn agree<T>(&mut self, result: Result<T, Stop>) -> Result<T, Stop> {
        let is_agreed = std::mem::take(&mut self.is_agreed);
        let done = match result {
            Err(stop) if is_agreed => return Err(stop),
            Err(stop) => {
                self.stop = Some(stop);
                let agreed = self.gather(Vec::new()).err().unwrap_or(stop);
                // This worker knows how many states it had found.
                Err(Stop { why: agreed.why, ..stop })
            }
            Ok(value) => self.gather(Vec::new()).map(|_| value),
        };
        self.is_agreed = false;
        done
    }

    /// Sends words to all workers; returns those of all workers, in the order of the workers.
    pub(crate) fn gather(&mut self, words: Vec<u64>) -> Result<Vec<Vec<u64>>, Stop> {
        Ok(self.round(&mut VoteOnly(words))?.by_worker)
    }

    /// Returns the sum of a number over all workers.
    pub(crate) fn sum(&mut self, number: u64) -> Result<u64, Stop> {
        Ok(self.gather(vec![number])?.iter().flatten().sum())
    }

    /// Returns whether `here` is true at some worker.
    pub(crate) fn any(&mut self, here: bool) -> Result<bool, Stop> {
        Ok(self.sum(u64::from(here))? > 0)
    }

    /// Returns the least of the rows of all workers.
    pub(crate) fn least(&mut self, row: Option<Vec<u64>>) -> Result<Option<Vec<u64>>, Stop> {
        let rows = self.gather(row.unwrap_or_default())?;
        Ok(rows.into_iter().filter(|row| !row.is_empty()).min())
    }

    /// Returns a vote: the code of the limit that was hit here, or 0; the number of words sent; then the
    /// vote of the task.
    fn vote(&self, n_sent: u64, task: &dyn Task) -> Vec<u64> {
        let mut words = vec![self.stop.map_or(0, stop_code), n_sent];
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
        // Batches are large enough that collecting several of them gains nothing.
        self.input.flush();
    }

    /// Passes the received words to the task. Returns whether there were any.
    fn deliver(&mut self, task: &mut dyn Task) -> bool {
        let mut has_some = false;
        loop {
            let next = self.received().words.pop_front();
            let Some(batch) = next else { return has_some };
            has_some = true;
            if self.stop.is_none()
                && let Err(stop) = task.receive(batch.from as usize, &batch.words)
            {
                self.stop = Some(stop);
            }
        }
    }

    /// Returns the messages received in this round.
    fn received(&self) -> RefMut<'_, Received> {
        RefMut::map(self.inbox.borrow_mut(), |rounds| &mut rounds[(self.round % 2) as usize])
    }

    /// Ends a round: collects the votes.
    fn close(&mut self) -> Result<Votes, Stop> {
        let mut by_worker = vec![Vec::new(); self.peers()];
        let (mut worst, mut n_sent) = (0, 0);
        let votes = std::mem::take(&mut self.received().votes);
        for vote in votes {
            let mut words = vote.words.into_iter();
            worst = worst.max(words.next().unwrap_or(0));
            n_sent += words.next().unwrap_or(0);
            by_worker[vote.from as usize] = words.collect();
        }
        self.round += 1;
        match why_of_code(worst) {
            None => Ok(Votes { by_worker, n_sent }),
            Some(why) => {
                self.stop = None;
                self.is_agreed = true;
                Err(why.into())
            }
        }
    }
}

/// Encodes a limit as a word of a vote. The greatest code of all workers is reported: a memory limit, for
/// example, takes precedence over a deadline that passed at the same time.
pub(crate) fn stop_code(stop: Stop) -> u64 {
    match stop.why {
        Why::Interrupted => 1,
        Why::Timeout => 2,
        Why::States => 3,
        Why::Unsupported => 4,
        Why::Workers => 6,
        _ => 5,
    }
}

/// Decodes [`stop_code`]; 0 is no limit.
pub(crate) fn why_of_code(code: u64) -> Option<Why> {
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

/// A task without work, whose vote is these words.
struct VoteOnly(Vec<u64>);

impl Task for VoteOnly {
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

    /// Runs `work` on `n_workers` workers; returns their results.
    pub(crate) fn workers<T: Send + 'static>(
        n_workers: usize,
        work: impl Fn(Net) -> T + Send + Sync + 'static,
    ) -> Vec<T> {
        let builders = ProcessBuilder::new_bytes_vector(n_workers, Hooks::default().refill, None);
        let builders = builders.into_iter().map(AllocatorBuilder::Process).collect();
        let flag = Arc::new(AtomicBool::new(false));
        let run = move |allocator| {
            let budget = Budget::default().with_cancel(Arc::clone(&flag));
            work(Net::new(allocator, budget))
        };
        initialize_from(builders, Box::new(()), run).unwrap().join().into_iter().map(Result::unwrap).collect()
    }

    /// Sends each number, decreased by one, to the next worker until it is 0; counts the numbers it has had.
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
    fn a_task_ends_when_no_worker_has_work_left() {
        for number in [2, 3, 5] {
            let had = workers(number, |mut net| {
                let (me, peers) = (net.index(), net.peers());
                // More than a batch of them, from one worker.
                let open = if me == 0 { (0..5000).map(|n| n % 7).collect() } else { Vec::new() };
                let mut task = Countdown { me, peers, open, had: 0 };
                net.run_until_quiet(&mut task).unwrap();
                let all = net.sum(task.had).unwrap();
                (all, net.least((me > 0).then(|| vec![9 - me as u64])).unwrap())
            });
            let all: u64 = (0..5000).map(|n| n % 7 + 1).sum();
            let least = vec![10 - number as u64];
            assert!(had.iter().all(|found| *found == (all, Some(least.clone()))), "{number}: {had:?}");
        }
    }

    /// One worker stops outside of a round, while the others are in a round or have finished.
    #[test]
    fn all_stop_for_the_same_reason_and_continue_together() {
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
