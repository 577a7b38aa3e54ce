//! The workers, as the supervising process sees them.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use masque_verdict::{Budget, Found, Stop, Why};

use crate::command::{Answer, Command, Costs, Reply};

/// How often the supervisor looks at the clock while it waits.
const PULSE: Duration = Duration::from_millis(20);
/// If so long passes between two looks, it was we who were stopped, and what workers have said
/// meanwhile is still to be heard.
const ABSENCE: Duration = Duration::from_secs(1);
/// What ends a worker may be meant for all of us, and reaches us within this time.
const MOMENT: Duration = Duration::from_millis(500);

/// What happens at a worker.
#[derive(Debug)]
pub(crate) enum Event {
    /// It has answered.
    Reply(Reply),
    /// It lives, and knows of so many states, at all workers, in so many layers.
    Alive { states: u64, layer: u64 },
    /// It listens for other workers at this port.
    Listening(u16),
    /// It is connected to all other workers.
    Ready,
    /// It is gone, and why, if that is known.
    Lost(Option<String>),
}

/// The supervisor's end of a worker.
pub(crate) trait Member: Send {
    /// What to call it.
    fn name(&self) -> String;

    /// Whether it says, again and again, that it lives.
    fn beats(&self) -> bool;

    /// Hands it a command.
    fn command(&mut self, command: &Command) -> io::Result<()>;

    /// Asks it to stop what it does.
    fn stop(&mut self) -> io::Result<()>;

    /// Why it is gone, as far as it can be told.
    fn epitaph(&mut self) -> Option<String> {
        None
    }
}

/// All workers.
pub(crate) struct Crew {
    members: Vec<Box<dyn Member>>,
    events: Receiver<(usize, Event)>,
    /// A worker that says nothing for so long is lost, if it is one that says it lives.
    silence: Duration,
    /// Why nothing can be asked any more: a worker is lost or in trouble, or all were stopped.
    lost: Option<Stop>,
    /// The line about a worker that was lost at the moment when a budget ended.
    missed: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// A limit was hit.
    Stop(Stop),
    /// A worker is lost or in trouble: one line that says so.
    Trouble(String),
}

impl From<Stop> for NoAnswer {
    fn from(stop: Stop) -> NoAnswer {
        NoAnswer::Stop(stop)
    }
}

impl Crew {
    pub(crate) fn new(
        members: Vec<Box<dyn Member>>,
        events: Receiver<(usize, Event)>,
        silence: Duration,
    ) -> Crew {
        Crew { members, events, silence, lost: None, missed: None }
    }

    /// The answers of all workers, in order, and what each has cost.
    pub(crate) fn ask(
        &mut self,
        command: &Command,
        budget: &Budget,
    ) -> Result<Vec<(Answer, Costs)>, NoAnswer> {
        if let Some(stop) = self.lost {
            // A worker that is lost as a share of the time ends seems to be stopped with it. If there is
            // time left, it was not.
            return Err(match self.missed.take().filter(|_| !budget.is_over()) {
                Some(message) => {
                    self.lost = Some(Why::Workers.into());
                    NoAnswer::Trouble(message)
                }
                None => stop.into(),
            });
        }
        budget.check()?;
        for number in 0..self.members.len() {
            // The command may not have arrived because the worker is gone; that will be heard.
            _ = self.members[number].command(command);
        }
        let mut replies: Vec<Option<Reply>> = vec![None; self.members.len()];
        let mut looked = Instant::now();
        let mut heard = vec![looked; self.members.len()];
        let mut stopped = None;
        while replies.iter().any(Option::is_none) {
            let event = self.events.recv_timeout(PULSE);
            if looked.elapsed() >= ABSENCE {
                heard.fill(Instant::now());
            }
            looked = Instant::now();
            match event {
                Ok((number, Event::Reply(reply))) => {
                    heard[number] = looked;
                    replies[number] = Some(reply);
                }
                Ok((number, Event::Alive { states, layer })) => {
                    heard[number] = looked;
                    if number == 0 {
                        let workers = self.members.len() as u64;
                        budget.meter().found(Found { states, layer, workers });
                    }
                }
                Ok((number, Event::Listening(_) | Event::Ready)) => heard[number] = looked,
                Ok((number, Event::Lost(why))) => return Err(self.lose(number, why, budget)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.lose(0, None, budget)),
            }
            let silent =
                |number: &usize| self.members[*number].beats() && heard[*number].elapsed() > self.silence;
            if let Some(number) = (0..self.members.len()).find(silent) {
                let why = format!("it has said nothing for {} s", self.silence.as_secs_f64());
                return Err(self.lose(number, Some(why), budget));
            }
            if let (None, Err(stop)) = (stopped, budget.check()) {
                stopped = Some(stop);
                for member in &mut self.members {
                    _ = member.stop();
                }
            }
        }
        self.answers(replies, stopped)
    }

    fn answers(
        &mut self,
        replies: Vec<Option<Reply>>,
        stopped: Option<Stop>,
    ) -> Result<Vec<(Answer, Costs)>, NoAnswer> {
        let mut answers = Vec::new();
        let mut limit = None;
        for (number, reply) in replies.into_iter().enumerate() {
            match reply {
                Some(Reply::Answer(answer, costs)) => answers.push((answer, costs)),
                Some(Reply::Failed(message)) => {
                    self.lost = Some(Why::Workers.into());
                    return Err(NoAnswer::Trouble(format!("{}: {message}", self.title(number))));
                }
                Some(Reply::Stopped { code, states }) => limit = Some(Reply::stop(code, states)),
                None => {}
            }
        }
        match limit {
            None => Ok(answers),
            // Why it was asked to stop is known here.
            Some(limit) if limit.why == Why::Interrupted => {
                Err(NoAnswer::Stop(Stop { why: stopped.map_or(limit.why, |stop| stop.why), ..limit }))
            }
            Some(limit) => Err(NoAnswer::Stop(limit)),
        }
    }

    fn title(&self, number: usize) -> String {
        format!("worker {} of {} ({})", number + 1, self.members.len(), self.members[number].name())
    }

    fn lose(&mut self, number: usize, why: Option<String>, budget: &Budget) -> NoAnswer {
        let end = our_end(budget);
        self.lost = Some(end.unwrap_or(Why::Workers.into()));
        let title = self.title(number);
        // At the end there is no time for last words.
        let why = why.or_else(|| if end.is_none() { self.members[number].epitaph() } else { None });
        let message = match why {
            Some(why) => format!("{title} is lost: {why}"),
            None => format!("{title} is lost"),
        };
        match end {
            Some(stop) => {
                self.missed = Some(message);
                stop.into()
            }
            None => NoAnswer::Trouble(message),
        }
    }
}

/// Why we are to end, too, if we are: whoever stops a check may stop its workers at the same time, and
/// then none of them is lost.
pub(crate) fn our_end(budget: &Budget) -> Option<Stop> {
    let end = Instant::now() + MOMENT;
    loop {
        match budget.check() {
            Err(stop) => return Some(stop),
            Ok(()) if Instant::now() >= end => return None,
            Ok(()) => std::thread::sleep(PULSE),
        }
    }
}
