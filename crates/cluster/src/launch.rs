//! Starting the worker processes of a run, and watching them.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use masque_verdict::Budget;

use crate::crew::{Crew, Event, Member, NoAnswer, our_end};
use crate::hosts::Host;
use crate::joining::Waiting;
use crate::keep::Checkpoints;
use crate::link::{Order, Setup};
use crate::started::{Processes, Started};

/// How often the clock is looked at while workers start.
const PULSE: Duration = Duration::from_millis(20);

/// How the worker processes of a run are started, and what they are told.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where they are.
    pub places: Places,
    /// The program to start, which then finds itself a worker: `PROGRAM worker`.
    pub program: PathBuf,
    /// How long they may take to start.
    pub patience: Duration,
    /// How long one may say nothing before it is taken for lost.
    pub silence: Duration,
    /// Where checkpoints are kept, if they are.
    pub checkpoints: Option<Checkpoints>,
    /// What the model and the question are, as a number.
    pub model: u64,
    /// What the workers load the model from.
    pub payload: String,
}

/// Where worker processes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// So many on this machine.
    Local(usize),
    /// On other machines, through a launcher: `LAUNCHER.. HOST PROGRAM worker`.
    Hosts {
        /// One worker each.
        hosts: Vec<Host>,
        /// The launcher and its arguments.
        launcher: Vec<String>,
    },
    /// So many that somebody else starts, and that join.
    Joining {
        /// How many.
        workers: usize,
        /// Where to listen for them: `HOST:PORT`.
        listen: String,
        /// What they must show; made up if nothing is said.
        token: Option<String>,
    },
}

impl Launch {
    /// Starts all workers and waits until they are connected to each other. Each is among `processes`
    /// as soon as it is there.
    pub(crate) fn start(&self, budget: &Budget, processes: &Processes) -> Result<Crew, NoAnswer> {
        let deadline = Instant::now() + self.patience;
        let token = match &self.places {
            Places::Joining { token: Some(token), .. } => token.clone(),
            _ => random_token(),
        };
        let (sender, events) = channel();
        let started = match &self.places {
            Places::Local(workers) => self.start_local(*workers, processes, &sender)?,
            Places::Hosts { hosts, launcher } => self.start_on_hosts(hosts, launcher, processes, &sender)?,
            Places::Joining { workers, listen, .. } => {
                let waiting =
                    Waiting { workers: *workers, listen, token: &token, deadline, budget, processes };
                waiting.accept(&sender)?
            }
        };
        let mut starting = Starting { started, events, deadline, patience: self.patience, budget };
        let workers = starting.started.len();
        for index in 0..workers {
            let setup = Setup {
                index,
                workers,
                token: token.clone(),
                bind: starting.started[index].bind.clone(),
                patience: self.patience,
                memory: budget.memory(),
                checkpoints: self.checkpoints.clone(),
                model: self.model,
                payload: self.payload.clone(),
            };
            // One that is gone will be heard of.
            _ = starting.started[index].tell(Order::Setup(Box::new(setup)));
        }
        let ports = starting.wait(|event| match event {
            Event::Listening(port) => Some(*port),
            _ => None,
        })?;
        let address = |(started, port): (&Started, u16)| format!("{}:{port}", started.host);
        let addresses: Vec<String> = starting.started.iter().zip(ports).map(address).collect();
        for started in &starting.started {
            _ = started.tell(Order::Peers(addresses.clone()));
        }
        starting.wait(|event| matches!(event, Event::Ready).then_some(()))?;
        let Starting { started, events, .. } = starting;
        let members = started.into_iter().map(|started| Box::new(started) as Box<dyn Member>).collect();
        Ok(Crew::new(members, events, self.silence))
    }

    fn start_local(
        &self,
        workers: usize,
        processes: &Processes,
        events: &Sender<(usize, Event)>,
    ) -> Result<Vec<Started>, NoAnswer> {
        let start = |number| {
            let mut process = Process::new(&self.program);
            process.arg("worker");
            let started = Started::spawn(process, number, events)?;
            processes.add(&started);
            Ok(started)
        };
        let cannot = |error: io::Error| NoAnswer::Trouble(format!("a worker cannot be started: {error}"));
        (0..workers).map(|number| start(number).map_err(cannot)).collect()
    }

    fn start_on_hosts(
        &self,
        hosts: &[Host],
        launcher: &[String],
        processes: &Processes,
        events: &Sender<(usize, Event)>,
    ) -> Result<Vec<Started>, NoAnswer> {
        let [command, arguments @ ..] = launcher else {
            return Err(NoAnswer::Trouble("there is no launcher to start workers with".to_string()));
        };
        let program = match Path::new(command).file_name() {
            // It hands its arguments to a shell on the other machine, joined by spaces.
            Some(name) if name == "ssh" => shell_word(self.program.as_os_str()),
            _ => self.program.clone().into_os_string(),
        };
        let start = |(number, host): (usize, &Host)| {
            let mut process = Process::new(command);
            process.args(arguments).arg(host.name.trim_matches(['[', ']']));
            process.arg(&program).arg("worker");
            let cannot =
                |error| NoAnswer::Trouble(format!("the launcher `{command}` cannot be started: {error}"));
            let mut started = Started::spawn(process, number, events).map_err(cannot)?;
            processes.add(&started);
            started.name = host.name.clone();
            started.host = host.name.clone();
            let any = if host.name.starts_with('[') { "[::]" } else { "0.0.0.0" };
            started.bind = format!("{any}:{}", host.port.unwrap_or(0));
            Ok(started)
        };
        hosts.iter().enumerate().map(start).collect()
    }
}

/// What a shell reads as this one word. A name that is no text is left as it is.
fn shell_word(word: &OsStr) -> OsString {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    match word.to_str() {
        // Nothing is special between single quotes but these; each is put outside of them.
        Some(text) if text.is_empty() || !text.chars().all(is_plain) => {
            format!("'{}'", text.replace('\'', "'\\''")).into()
        }
        _ => word.to_os_string(),
    }
}

/// Workers on their way.
struct Starting<'a> {
    started: Vec<Started>,
    events: Receiver<(usize, Event)>,
    deadline: Instant,
    patience: Duration,
    budget: &'a Budget,
}

impl Starting<'_> {
    /// Waits until all workers have told what is wanted.
    fn wait<T>(&mut self, wanted: impl Fn(&Event) -> Option<T>) -> Result<Vec<T>, NoAnswer> {
        let mut told: Vec<Option<T>> = self.started.iter().map(|_| None).collect();
        while let Some(missing) = told.iter().position(Option::is_none) {
            match self.events.recv_timeout(PULSE) {
                Ok((number, Event::Lost(why))) => return Err(self.lose(number, why)),
                Ok((number, event)) => {
                    if let Some(found) = wanted(&event) {
                        told[number] = Some(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.lose(missing, None)),
            }
            self.budget.check()?;
            if Instant::now() >= self.deadline {
                let (title, patience) = (self.title(missing), self.patience.as_secs_f64());
                let said =
                    self.started[missing].last_line().map_or(String::new(), |line| format!(": {line}"));
                let message = format!("{title} has not started within {patience} s{said}");
                return Err(NoAnswer::Trouble(message));
            }
        }
        Ok(told.into_iter().flatten().collect())
    }

    fn title(&self, number: usize) -> String {
        format!("worker {} of {} ({})", number + 1, self.started.len(), self.started[number].name)
    }

    fn lose(&mut self, number: usize, why: Option<String>) -> NoAnswer {
        if let Some(stop) = our_end(self.budget) {
            return stop.into();
        }
        let title = self.title(number);
        NoAnswer::Trouble(match why.or_else(|| self.started[number].epitaph()) {
            Some(why) => format!("{title} could not start: {why}"),
            None => format!("{title} could not start"),
        })
    }
}

/// What nobody guesses: the standard library's hashers have random keys.
fn random_token() -> String {
    (0..2_u8).map(|n| format!("{:016x}", RandomState::new().hash_one(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        for (word, expected) in [
            ("/usr/bin/masque-1.0", "/usr/bin/masque-1.0"),
            ("/my tools/masque", "'/my tools/masque'"),
            ("/it's/$HOME", "'/it'\\''s/$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(OsStr::new(word)), expected);
        }
    }
}
