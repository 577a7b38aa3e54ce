//! The supervisor's view of all workers: it sends each command to all of them and waits for their replies.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use masque_verdict::{Budget, Found, Stop, Why};

use crate::command::{Answer, Command, Costs, Reply};
#[cfg(unix)]
use crate::suspension::Suspension;

/// Time between two checks of the clock, the budget or a socket while waiting.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// If more time than this passes between two polls, this process itself was suspended, and the messages
/// that workers have sent meanwhile are still unread.
const SUSPENSION_THRESHOLD: Duration = Duration::from_secs(1);
/// A signal that ends a worker may have been sent to the supervisor too, and arrives within this time.
const SIGNAL_DELAY: Duration = Duration::from_millis(500);

/// A message from a worker, or about it.
#[derive(Debug)]
pub(crate) enum Message {
    /// The reply to a command.
    Reply(Reply),
    /// A heartbeat, with the number of states that all workers have found and the number of layers.
    Alive { states: u64, layer: u64 },
    /// The worker listens for other workers at this port.
    Listening(u16),
    /// The worker is connected to all other workers.
    Ready,
    /// The worker is gone; the reason, if it is known.
    Lost(Option<String>),
    /// The worker is gone because it has no memory: a message of one line.
    OutOfMemory(String),
}

/// The supervisor's handle of a worker.
pub(crate) trait WorkerHandle: Send {
    /// Returns the name for messages to the user.
    fn name(&self) -> String;

    /// Returns when its last byte arrived; `None` if it sends no heartbeats.
    fn last_heard(&self) -> Option<Instant>;

    /// Sends a command.
    fn command(&mut self, command: &Command) -> io::Result<()>;

    /// Asks the worker to cancel the current command.
    fn stop(&mut self) -> io::Result<()>;

    /// Returns why the worker has ended, if that can be found out.
    fn exit_reason(&mut self) -> Option<String> {
        None
    }
}

/// All workers of a run.
pub(crate) struct WorkerSet {
    workers: Vec<Box<dyn WorkerHandle>>,
    messages: Receiver<(usize, Message)>,
    /// A worker that sends heartbeats is lost if no message arrives for this time.
    silence: Duration,
    /// Reason why no further command is possible: a worker is lost or has failed, or all were stopped.
    lost: Option<Stop>,
    /// The message about a worker that was lost just when a budget ended.
    loss_at_stop: Option<String>,
    /// Announces to workers on other machines that this process is about to be suspended.
    #[cfg(unix)]
    _suspension: Option<Suspension>,
}

/// Reason why a command has no answer.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// A limit was hit.
    Stop(Stop),
    /// A worker is lost or has failed: a message of one line.
    Failed(String),
    /// A worker has no memory: a message of one line.
    OutOfMemory(String),
}

impl From<Stop> for CommandError {
    fn from(stop: Stop) -> CommandError {
        CommandError::Stop(stop)
    }
}

impl WorkerSet {
    pub(crate) fn new(
        workers: Vec<Box<dyn WorkerHandle>>,
        messages: Receiver<(usize, Message)>,
        silence: Duration,
    ) -> WorkerSet {
        WorkerSet {
            workers,
            messages,
            silence,
            lost: None,
            loss_at_stop: None,
            #[cfg(unix)]
            _suspension: None,
        }
    }

    /// Keeps the handler of Ctrl-Z while there are workers.
    #[cfg(unix)]
    pub(crate) fn with_suspension(self, suspension: Option<Suspension>) -> WorkerSet {
        WorkerSet { _suspension: suspension, ..self }
    }

    /// Sends a command to all workers; returns their answers and costs, in the order of the workers.
    pub(crate) fn ask(
        &mut self,
        command: &Command,
        budget: &Budget,
    ) -> Result<Vec<(Answer, Costs)>, CommandError> {
        if let Some(stop) = self.lost {
            // A worker that was lost when a share of the time ended looked as if it was stopped with it. If
            // the new budget still has time, that was not the cause.
            if !budget.is_over()
                && let Some(message) = self.loss_at_stop.take()
            {
                self.lost = Some(Why::Workers.into());
                return Err(CommandError::Failed(message));
            }
            return Err(stop.into());
        }
        budget.check()?;
        for worker in &mut self.workers {
            // Sending fails if the worker is gone; then a `Lost` message follows.
            _ = worker.command(command);
        }
        let mut replies: Vec<Option<Reply>> = vec![None; self.workers.len()];
        let mut polled = Instant::now();
        // The time of silence counts from here.
        let mut resumed = polled;
        let mut stopped = None;
        while replies.iter().any(Option::is_none) {
            let message = self.messages.recv_timeout(POLL_INTERVAL);
            if polled.elapsed() >= SUSPENSION_THRESHOLD {
                resumed = Instant::now();
            }
            polled = Instant::now();
            match message {
                Ok((index, Message::Reply(reply))) => replies[index] = Some(reply),
                Ok((0, Message::Alive { states, layer })) => {
                    let workers = self.workers.len() as u64;
                    budget.meter().found(Found { states, layer, workers });
                }
                Ok((_, Message::Alive { .. } | Message::Listening(_) | Message::Ready)) => {}
                Ok((index, Message::Lost(why))) => return Err(self.lose(index, why, budget)),
                Ok((index, Message::OutOfMemory(why))) => {
                    self.lost = Some(Why::Memory.into());
                    return Err(CommandError::OutOfMemory(format!("{}: {why}", self.title(index))));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.lose(0, None, budget)),
            }
            if let Some(index) = self.silent_since(resumed) {
                let why = format!("it has sent nothing for {} s", self.silence.as_secs_f64());
                return Err(self.lose(index, Some(why), budget));
            }
            if let (None, Err(stop)) = (stopped, budget.check()) {
                stopped = Some(stop);
                for worker in &mut self.workers {
                    _ = worker.stop();
                }
            }
        }
        self.answers(replies, stopped)
    }

    /// Returns a worker from which nothing has arrived for too long, since this time or later.
    fn silent_since(&self, start: Instant) -> Option<usize> {
        let is_silent = |heard: Instant| heard.max(start).elapsed() > self.silence;
        self.workers.iter().position(|worker| worker.last_heard().is_some_and(is_silent))
    }

    fn answers(
        &mut self,
        replies: Vec<Option<Reply>>,
        stopped: Option<Stop>,
    ) -> Result<Vec<(Answer, Costs)>, CommandError> {
        let mut answers = Vec::new();
        let mut limit = None;
        for (index, reply) in replies.into_iter().enumerate() {
            match reply {
                Some(Reply::Answer(answer, costs)) => answers.push((answer, costs)),
                Some(Reply::Failed(message)) => {
                    self.lost = Some(Why::Workers.into());
                    return Err(CommandError::Failed(format!("{}: {message}", self.title(index))));
                }
                Some(Reply::Stopped { code, states }) => limit = Some(Reply::stop(code, states)),
                None => {}
            }
        }
        match limit {
            None => Ok(answers),
            // Only the supervisor knows why it asked the workers to stop.
            Some(limit) if limit.why == Why::Interrupted => {
                Err(CommandError::Stop(Stop { why: stopped.map_or(limit.why, |stop| stop.why), ..limit }))
            }
            Some(limit) => Err(CommandError::Stop(limit)),
        }
    }

    fn title(&self, index: usize) -> String {
        title(index, self.workers.len(), &self.workers[index].name())
    }

    /// Records that a worker is lost; no further command is possible.
    fn lose(&mut self, index: usize, why: Option<String>, budget: &Budget) -> CommandError {
        let own_stop = wait_for_own_stop(budget);
        self.lost = Some(own_stop.unwrap_or(Why::Workers.into()));
        let title = self.title(index);
        // Asking for the reason takes time, which there is not when the check itself ends.
        let why = why.or_else(|| if own_stop.is_none() { self.workers[index].exit_reason() } else { None });
        let message = match why {
            Some(why) => format!("{title} is lost: {why}"),
            None => format!("{title} is lost"),
        };
        match own_stop {
            Some(stop) => {
                self.loss_at_stop = Some(message);
                stop.into()
            }
            None => CommandError::Failed(message),
        }
    }
}

/// Returns the name of a worker for messages to the user.
pub(crate) fn title(index: usize, n_workers: usize, name: &str) -> String {
    format!("worker {} of {n_workers} ({name})", index + 1)
}

/// Waits for [`SIGNAL_DELAY`]; returns why this process is to stop as well, if it is. A user who stops a
/// check may stop its workers with the same signal, and then none of them counts as lost.
pub(crate) fn wait_for_own_stop(budget: &Budget) -> Option<Stop> {
    let end = Instant::now() + SIGNAL_DELAY;
    loop {
        match budget.check() {
            Err(stop) => return Some(stop),
            Ok(()) if Instant::now() >= end => return None,
            Ok(()) => std::thread::sleep(POLL_INTERVAL),
        }
    }
}
