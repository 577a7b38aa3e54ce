//! Starting the worker processes of a run, and watching them.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use masque_verdict::Budget;

use crate::command::Command;
use crate::crew::{Crew, Event, Member, NoAnswer};
use crate::hosts::Host;
use crate::keep::Checkpoints;
use crate::link::{self, Order, PROTOCOL, Report, Setup};

/// How often the clock is looked at while workers start.
const PULSE: Duration = Duration::from_millis(20);
/// How long whoever joins may take to say who it is.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// How long a process that has closed its output may take to end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How the worker processes of a run are started, and what they are told.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where they are.
    pub places: Places,
    /// The program to start, which then finds itself a worker: `PROGRAM worker`.
    pub program: PathBuf,
    /// How long they may take to start.
    pub patience: Duration,
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

/// A worker process that has been started.
struct Started {
    name: String,
    /// Where other workers find it.
    host: String,
    /// Where it is to listen for them.
    bind: String,
    input: Box<dyn Write + Send>,
    child: Option<Child>,
    /// The last line it has written on standard error.
    errors: Arc<Mutex<String>>,
    /// Who reads them, to their end.
    reader: Option<JoinHandle<()>>,
}

impl Launch {
    /// Starts all workers and waits until they are connected to each other.
    pub(crate) fn start(&self, memory: Option<u64>, budget: &Budget) -> Result<Crew, NoAnswer> {
        let deadline = Instant::now() + self.patience;
        let token = match &self.places {
            Places::Joining { token: Some(token), .. } => token.clone(),
            _ => random_token(),
        };
        let (sender, events) = channel();
        let started = match &self.places {
            Places::Local(workers) => self.start_local(*workers, &sender)?,
            Places::Hosts { hosts, launcher } => self.start_on_hosts(hosts, launcher, &sender)?,
            Places::Joining { workers, listen, .. } => {
                let waiting = Waiting { workers: *workers, listen, token: &token, deadline, budget };
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
                memory,
                checkpoints: self.checkpoints.clone(),
                model: self.model,
                payload: self.payload.clone(),
            };
            // One that is gone will be heard of.
            _ = link::write(&mut starting.started[index].input, &Order::Setup(Box::new(setup)));
        }
        let ports = starting.wait(|event| match event {
            Event::Listening(port) => Some(*port),
            _ => None,
        })?;
        let address = |(started, port): (&Started, u16)| format!("{}:{port}", started.host);
        let addresses: Vec<String> = starting.started.iter().zip(ports).map(address).collect();
        for started in &mut starting.started {
            _ = link::write(&mut started.input, &Order::Peers(addresses.clone()));
        }
        starting.wait(|event| matches!(event, Event::Ready).then_some(()))?;
        let Starting { started, events, .. } = starting;
        let members = started.into_iter().map(|started| Box::new(started) as Box<dyn Member>).collect();
        Ok(Crew::new(members, events))
    }

    fn start_local(&self, workers: usize, events: &Sender<(usize, Event)>) -> Result<Vec<Started>, NoAnswer> {
        let start = |number| {
            let mut process = Process::new(&self.program);
            process.arg("worker");
            let mut started = spawn(process, number, events)?;
            let id = started.child.as_ref().map_or(0, Child::id);
            started.name = format!("process {id}");
            Ok(started)
        };
        let cannot = |error: io::Error| NoAnswer::Trouble(format!("a worker cannot be started: {error}"));
        (0..workers).map(|number| start(number).map_err(cannot)).collect()
    }

    fn start_on_hosts(
        &self,
        hosts: &[Host],
        launcher: &[String],
        events: &Sender<(usize, Event)>,
    ) -> Result<Vec<Started>, NoAnswer> {
        let [command, arguments @ ..] = launcher else {
            return Err(NoAnswer::Trouble("there is no launcher to start workers with".to_string()));
        };
        let start = |(number, host): (usize, &Host)| {
            let mut process = Process::new(command);
            process.args(arguments).arg(host.name.trim_matches(['[', ']']));
            process.arg(&self.program).arg("worker");
            let cannot =
                |error| NoAnswer::Trouble(format!("the launcher `{command}` cannot be started: {error}"));
            let mut started = spawn(process, number, events).map_err(cannot)?;
            started.name = host.name.clone();
            started.host = host.name.clone();
            let any = if host.name.starts_with('[') { "[::]" } else { "0.0.0.0" };
            started.bind = format!("{any}:{}", host.port.unwrap_or(0));
            Ok(started)
        };
        hosts.iter().enumerate().map(start).collect()
    }
}

/// Starts a process whose standard input and output are the line to a worker.
fn spawn(mut process: Process, number: usize, events: &Sender<(usize, Event)>) -> io::Result<Started> {
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C is for the supervisor, which then tells its workers to stop.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    let mut child = process.spawn()?;
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let last_line = Arc::new(Mutex::new(String::new()));
    listen(Box::new(output), number, events.clone())?;
    let into = Arc::clone(&last_line);
    let keep = move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if !line.trim().is_empty() {
                *into.lock().unwrap_or_else(PoisonError::into_inner) = line.trim().to_string();
            }
        }
    };
    let reader = Builder::new().name(format!("errors of {number}")).spawn(keep)?;
    Ok(Started {
        name: String::new(),
        host: "127.0.0.1".to_string(),
        bind: "127.0.0.1:0".to_string(),
        input: Box::new(input),
        child: Some(child),
        errors: last_line,
        reader: Some(reader),
    })
}

/// Hears what a worker says, on a thread of its own.
fn listen(mut output: Box<dyn Read + Send>, number: usize, events: Sender<(usize, Event)>) -> io::Result<()> {
    let hear = move || {
        loop {
            let event = match link::read(&mut output) {
                Ok(Some(Report::Hello { protocol, .. })) if protocol != PROTOCOL => {
                    Event::Lost(Some(format!("it speaks `{protocol}`, not `{PROTOCOL}`")))
                }
                Ok(Some(Report::Hello { .. } | Report::Alive)) => Event::Alive,
                Ok(Some(Report::Listening(port))) => Event::Listening(port),
                Ok(Some(Report::Ready)) => Event::Ready,
                Ok(Some(Report::Reply(reply))) => Event::Reply(reply),
                Ok(Some(Report::Failed(message))) => Event::Lost(Some(message)),
                Ok(None) | Err(_) => Event::Lost(None),
            };
            let is_last = matches!(event, Event::Lost(_));
            if events.send((number, event)).is_err() || is_last {
                return;
            }
        }
    };
    Builder::new().name(format!("reports of {number}")).spawn(hear).map(drop)
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
        let title = self.title(number);
        NoAnswer::Trouble(match why.or_else(|| self.started[number].epitaph()) {
            Some(why) => format!("{title} could not start: {why}"),
            None => format!("{title} could not start"),
        })
    }
}

impl Started {
    fn last_line(&self) -> Option<String> {
        let line = self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!line.is_empty()).then_some(line)
    }
}

impl Member for Started {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn beats(&self) -> bool {
        true
    }

    fn command(&mut self, command: &Command) -> io::Result<()> {
        link::write(&mut self.input, &Order::Command(command.clone()))
    }

    fn stop(&mut self) -> io::Result<()> {
        link::write(&mut self.input, &Order::Stop)
    }

    fn epitaph(&mut self) -> Option<String> {
        let end = Instant::now() + LAST_WORDS;
        let child = self.child.as_mut()?;
        let mut status = child.try_wait().ok().flatten();
        let is_read = || self.reader.as_ref().is_none_or(JoinHandle::is_finished);
        while (status.is_none() || !is_read()) && Instant::now() < end {
            std::thread::sleep(PULSE);
            status = child.try_wait().ok().flatten();
        }
        match (self.last_line(), status) {
            (Some(line), _) => Some(line),
            (None, Some(status)) => Some(status.to_string()),
            (None, None) => None,
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A worker ends when its line does; one that does not listen is ended.
        self.input = Box::new(io::sink());
        if let Some(child) = &mut self.child {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// Workers that others start, and that are waited for.
struct Waiting<'a> {
    workers: usize,
    listen: &'a str,
    token: &'a str,
    deadline: Instant,
    budget: &'a Budget,
}

impl Waiting<'_> {
    fn accept(&self, events: &Sender<(usize, Event)>) -> Result<Vec<Started>, NoAnswer> {
        let cannot = |error| NoAnswer::Trouble(format!("workers cannot join at {}: {error}", self.listen));
        let listener = TcpListener::bind(self.listen).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        // Whoever starts the workers must know how; a supervisor that nobody reads waits all the same.
        let how = format!("masque worker --join {address} --token {}", self.token);
        _ = writeln!(io::stderr(), "waiting for {} workers: {how}", self.workers);
        let mut started = Vec::new();
        while started.len() < self.workers {
            match listener.accept() {
                Ok((stream, _)) => {
                    // A stranger is sent away without a word.
                    if let Ok(joined) = self.meet(stream, started.len(), events) {
                        started.push(joined);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PULSE),
                Err(error) => return Err(cannot(error)),
            }
            self.budget.check()?;
            if Instant::now() >= self.deadline {
                let (joined, all) = (started.len(), self.workers);
                let message = format!("{joined} of {all} workers have joined at {address} in time");
                return Err(NoAnswer::Trouble(message));
            }
        }
        Ok(started)
    }

    fn meet(
        &self,
        mut stream: TcpStream,
        number: usize,
        events: &Sender<(usize, Event)>,
    ) -> io::Result<Started> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(INTRODUCTION))?;
        let Some(Report::Hello { protocol, token, host }) = link::read(&mut stream)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if token != self.token || protocol != PROTOCOL {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        stream.set_read_timeout(None)?;
        let from = stream.peer_addr()?;
        let ip = if from.is_ipv6() { format!("[{}]", from.ip()) } else { from.ip().to_string() };
        let any = if from.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
        listen(Box::new(stream.try_clone()?), number, events.clone())?;
        Ok(Started {
            name: from.to_string(),
            host: host.unwrap_or(ip),
            bind: any.to_string(),
            input: Box::new(stream),
            child: None,
            errors: Arc::default(),
            reader: None,
        })
    }
}

/// What nobody guesses: the standard library's hashers have random keys.
fn random_token() -> String {
    (0..2_u8).map(|n| format!("{:016x}", RandomState::new().hash_one(n))).collect()
}
