//! Start of the worker processes of a run.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use masque_verdict::Budget;

use crate::checkpoint::Checkpoints;
use crate::connection::deadline_after;
use crate::hosts::Host;
use crate::joining::Waiting;
use crate::memory_watch::is_refusal;
use crate::protocol::{Order, Setup};
#[cfg(unix)]
use crate::suspension::Suspension;
use crate::token::{Bytes, Digest, Token};
use crate::worker_process::{Processes, WorkerProcess};
use crate::worker_set::{
    CommandError, Message, POLL_INTERVAL, WorkerHandle, WorkerSet, title, wait_for_own_stop,
};

/// Share of the time of silence after which a connection between two workers is lost: the worker that
/// notices it waits for a while before it reports that.
const CONNECTION_SHARE: f64 = 0.6;
/// Minimum time after which a connection between two workers is lost.
const MIN_CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings with which the worker processes of a run are started.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The machines on which the workers run.
    pub places: Placement,
    /// The program to start, usually this one; a worker is `PROGRAM worker`.
    pub program: PathBuf,
    /// Maximum time until all workers have started.
    pub patience: Duration,
    /// A worker that sends no message for this time is lost. Workers on other machines end when the
    /// supervisor sends none for this time.
    pub silence: Duration,
    /// Settings for checkpoints, if the run keeps any.
    pub checkpoints: Option<Checkpoints>,
}

/// A run: how its workers are started, and what they check.
#[derive(Clone, Debug)]
pub struct Launch {
    /// How the workers are started.
    pub plan: Plan,
    /// Identifies the program. Workers and checkpoints must have the same.
    pub build: String,
    /// Digest of the model and the properties, which checkpoints must match.
    pub model: Digest,
    /// The model, in the format that the workers' `load` function reads.
    pub payload: String,
}

/// The machines on which worker processes run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// This number of workers on this machine.
    Local(usize),
    /// On other machines, through a launcher: `LAUNCHER.. HOST PROGRAM worker`.
    Hosts {
        /// The machines, with one worker each.
        hosts: Vec<Host>,
        /// The launcher and its arguments.
        launcher: Vec<String>,
    },
    /// Workers that the user starts, and that connect to the supervisor.
    Joining {
        /// Number of workers.
        workers: usize,
        /// Address at which to listen for them: `HOST:PORT`.
        listen: String,
        /// Token that they must know. `None` means a random one, which is printed.
        token: Option<Token>,
    },
}

impl Launch {
    /// Starts all workers and waits until they are connected to each other. Each is added to `processes`
    /// as soon as it exists.
    pub(crate) fn start(&self, budget: &Budget, processes: &Processes) -> Result<WorkerSet, CommandError> {
        let deadline = deadline_after(self.plan.patience);
        let given = match &self.plan.places {
            Placement::Joining { token, .. } => token.clone(),
            _ => None,
        };
        let no_randomness = |error: io::Error| CommandError::Failed(format!("no random token: {error}"));
        let is_known = given.is_some();
        let token = given.map_or_else(Token::random, Ok).map_err(no_randomness)?;
        let run = Bytes::random().map_err(no_randomness)?;
        let connection_timeout = self.plan.silence.mul_f64(CONNECTION_SHARE).max(MIN_CONNECTION_TIMEOUT);
        let (sender, messages) = channel();
        let processes = match &self.plan.places {
            Placement::Local(workers) => self.start_local(*workers, processes, &sender)?,
            Placement::Hosts { hosts, launcher } => {
                self.start_on_hosts(hosts, launcher, processes, &sender)?
            }
            Placement::Joining { workers, listen, .. } => {
                let waiting = Waiting {
                    workers: *workers,
                    listen,
                    token: &token,
                    is_known,
                    deadline,
                    budget,
                    processes,
                };
                waiting.accept(&sender)?
            }
        };
        let mut starting = Starting { processes, messages, deadline, patience: self.plan.patience, budget };
        let workers = starting.processes.len();
        let has_network = !matches!(self.plan.places, Placement::Local(_));
        // A worker that has joined knows the token; it must not be sent over the network.
        let is_joined = matches!(self.plan.places, Placement::Joining { .. });
        for index in 0..workers {
            let setup = Setup {
                index,
                workers,
                run,
                token: (!is_joined).then(|| token.text().to_string()),
                bind: starting.processes[index].bind.clone(),
                patience: self.plan.patience,
                silence: has_network.then_some(self.plan.silence),
                connection_timeout,
                memory: budget.memory(),
                checkpoints: self.plan.checkpoints.clone(),
                build: self.build.clone(),
                model: self.model,
                payload: self.payload.clone(),
            };
            // Sending fails if the worker is gone; then a `Lost` message follows.
            _ = starting.processes[index].send(Order::Setup(Box::new(setup)));
        }
        let ports = starting.wait(|message| match message {
            Message::Listening(port) => Some(*port),
            _ => None,
        })?;
        let address = |(process, port): (&WorkerProcess, u16)| format!("{}:{port}", process.host);
        let addresses: Vec<String> = starting.processes.iter().zip(ports).map(address).collect();
        for process in &starting.processes {
            _ = process.send(Order::Peers(addresses.clone()));
        }
        starting.wait(|message| matches!(message, Message::Ready).then_some(()))?;
        let Starting { processes, messages, .. } = starting;
        #[cfg(unix)]
        let suspension = has_network
            .then(|| Suspension::announce_to(processes.iter().map(WorkerProcess::orders).collect()));
        let workers =
            processes.into_iter().map(|process| Box::new(process) as Box<dyn WorkerHandle>).collect();
        let workers = WorkerSet::new(workers, messages, self.plan.silence);
        #[cfg(unix)]
        let workers = workers.with_suspension(suspension);
        Ok(workers)
    }

    fn start_local(
        &self,
        workers: usize,
        processes: &Processes,
        messages: &Sender<(usize, Message)>,
    ) -> Result<Vec<WorkerProcess>, CommandError> {
        let start = |index| {
            let mut command = Process::new(&self.plan.program);
            command.arg("worker");
            let process = WorkerProcess::spawn(command, index, messages)?;
            processes.add(&process);
            Ok(process)
        };
        let cannot = |error: io::Error| {
            let message = format!("a worker cannot be started: {error}");
            if is_refusal(&error) {
                CommandError::OutOfMemory(message)
            } else {
                CommandError::Failed(message)
            }
        };
        (0..workers).map(|index| start(index).map_err(cannot)).collect()
    }

    fn start_on_hosts(
        &self,
        hosts: &[Host],
        launcher: &[String],
        processes: &Processes,
        messages: &Sender<(usize, Message)>,
    ) -> Result<Vec<WorkerProcess>, CommandError> {
        let [launcher, arguments @ ..] = launcher else {
            return Err(CommandError::Failed("no launcher to start workers with is given".to_string()));
        };
        let program = match Path::new(launcher).file_name() {
            // ssh joins its arguments by spaces and passes them to a shell on the other machine.
            Some(name) if name == "ssh" => shell_word(self.plan.program.as_os_str()),
            _ => self.plan.program.clone().into_os_string(),
        };
        let start = |(index, host): (usize, &Host)| {
            let mut command = Process::new(launcher);
            command.args(arguments).arg(host.name.trim_matches(['[', ']']));
            command.arg(&program).arg("worker");
            let cannot =
                |error| CommandError::Failed(format!("the launcher `{launcher}` cannot be started: {error}"));
            let mut process = WorkerProcess::spawn(command, index, messages).map_err(cannot)?;
            processes.add(&process);
            process.name = host.name.clone();
            process.host = host.name.clone();
            let any = if host.name.starts_with('[') { "[::]" } else { "0.0.0.0" };
            process.bind = format!("{any}:{}", host.port.unwrap_or(0));
            Ok(process)
        };
        hosts.iter().enumerate().map(start).collect()
    }
}

/// Quotes a word for a shell. A name that is not valid Unicode is returned unchanged.
fn shell_word(word: &OsStr) -> OsString {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    match word.to_str() {
        // Between single quotes only the single quote is special; it is written outside of them.
        Some(text) if text.is_empty() || !text.chars().all(is_plain) => {
            format!("'{}'", text.replace('\'', "'\\''")).into()
        }
        _ => word.to_os_string(),
    }
}

/// Workers that are starting.
struct Starting<'a> {
    processes: Vec<WorkerProcess>,
    messages: Receiver<(usize, Message)>,
    deadline: Instant,
    patience: Duration,
    budget: &'a Budget,
}

impl Starting<'_> {
    /// Waits until every worker has sent a message that `wanted` accepts.
    fn wait<T>(&mut self, wanted: impl Fn(&Message) -> Option<T>) -> Result<Vec<T>, CommandError> {
        let mut received: Vec<Option<T>> = self.processes.iter().map(|_| None).collect();
        while let Some(missing) = received.iter().position(Option::is_none) {
            match self.messages.recv_timeout(POLL_INTERVAL) {
                Ok((index, Message::Lost(why))) => return Err(self.lose(index, why)),
                Ok((index, Message::OutOfMemory(why))) => {
                    return Err(CommandError::OutOfMemory(format!("{}: {why}", self.title(index))));
                }
                Ok((index, message)) => {
                    if let Some(found) = wanted(&message) {
                        received[index] = Some(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.lose(missing, None)),
            }
            self.budget.check()?;
            if Instant::now() >= self.deadline {
                let (title, patience) = (self.title(missing), self.patience.as_secs_f64());
                let last_line =
                    self.processes[missing].last_line().map_or(String::new(), |line| format!(": {line}"));
                let message = format!("{title} has not started within {patience} s{last_line}");
                return Err(CommandError::Failed(message));
            }
        }
        Ok(received.into_iter().flatten().collect())
    }

    fn title(&self, index: usize) -> String {
        title(index, self.processes.len(), &self.processes[index].name)
    }

    fn lose(&mut self, index: usize, why: Option<String>) -> CommandError {
        if let Some(stop) = wait_for_own_stop(self.budget) {
            return stop.into();
        }
        let title = self.title(index);
        CommandError::Failed(match why.or_else(|| self.processes[index].exit_reason()) {
            Some(why) => format!("{title} could not start: {why}"),
            None => format!("{title} could not start"),
        })
    }
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
