//! A worker process, as the supervisor sees it: what it is told, what it says, and its end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::command::Command;
use crate::crew::{Event, Member};
use crate::link::{self, Order, PROTOCOL, Report};

/// How often a process that is about to end is looked at.
const PULSE: Duration = Duration::from_millis(20);
/// How long a process that has closed its output may take to end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A worker process that has been started.
pub(crate) struct Started {
    pub(crate) name: String,
    /// Where other workers find it.
    pub(crate) host: String,
    /// Where it is to listen for them.
    pub(crate) bind: String,
    /// To the thread that writes to it: one that does not read must not keep us waiting.
    orders: Sender<Order>,
    end: End,
    /// The last line it has written on standard error.
    errors: Arc<Mutex<String>>,
    /// Who reads them, to their end.
    reader: Option<JoinHandle<()>>,
}

impl Started {
    /// Starts a process whose standard input and output are the line to a worker.
    pub(crate) fn spawn(
        mut process: Process,
        number: usize,
        events: &Sender<(usize, Event)>,
    ) -> io::Result<Started> {
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
        let name = format!("process {}", child.id());
        // If something fails from here on, its standard input is closed, and it ends.
        let end = End::Child(Arc::new(Mutex::new(child)));
        let last_line = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&last_line);
        let keep = move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if !line.trim().is_empty() {
                    *into.lock().unwrap_or_else(PoisonError::into_inner) = line.trim().to_string();
                }
            }
        };
        let reader = Builder::new().name(format!("errors of {number}")).spawn(keep)?;
        let orders = converse(Box::new(output), Box::new(input), number, events)?;
        Ok(Started {
            name,
            host: "127.0.0.1".to_string(),
            bind: "127.0.0.1:0".to_string(),
            orders,
            end,
            errors: last_line,
            reader: Some(reader),
        })
    }

    /// A process that somebody else has started, and that has joined.
    pub(crate) fn joined(
        stream: TcpStream,
        host: Option<String>,
        number: usize,
        events: &Sender<(usize, Event)>,
    ) -> io::Result<Started> {
        let from = stream.peer_addr()?;
        let ip = if from.is_ipv6() { format!("[{}]", from.ip()) } else { from.ip().to_string() };
        let any = if from.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
        let (output, input) = (Box::new(stream.try_clone()?), Box::new(stream.try_clone()?));
        Ok(Started {
            name: from.to_string(),
            host: host.unwrap_or(ip),
            bind: any.to_string(),
            orders: converse(output, input, number, events)?,
            end: End::Stream(Arc::new(stream)),
            errors: Arc::default(),
            reader: None,
        })
    }

    /// What ends it, for whoever may have to.
    pub(crate) fn end(&self) -> End {
        self.end.clone()
    }

    /// Tells it something. One that is gone will be heard of.
    pub(crate) fn tell(&self, order: Order) -> io::Result<()> {
        self.orders.send(order).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// The last line it has written on standard error.
    pub(crate) fn last_line(&self) -> Option<String> {
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
        self.tell(Order::Command(command.clone()))
    }

    fn stop(&mut self) -> io::Result<()> {
        self.tell(Order::Stop)
    }

    fn epitaph(&mut self) -> Option<String> {
        let End::Child(child) = &self.end else { return None };
        let end = Instant::now() + LAST_WORDS;
        let status = || child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten();
        let is_read = || self.reader.as_ref().is_none_or(JoinHandle::is_finished);
        let mut found = status();
        while (found.is_none() || !is_read()) && Instant::now() < end {
            std::thread::sleep(PULSE);
            found = status();
        }
        match (self.last_line(), found) {
            (Some(line), _) => Some(line),
            (None, Some(status)) => Some(status.to_string()),
            (None, None) => None,
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end.now();
        if let End::Child(child) = &self.end {
            _ = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
        }
    }
}

/// What ends a worker process. A clone ends the same one.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// One that we have started.
    Child(Arc<Mutex<Child>>),
    /// One that has joined: it ends when its line does.
    Stream(Arc<TcpStream>),
}

impl End {
    fn now(&self) {
        // One that has ended needs nothing more.
        match self {
            End::Child(child) => _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill(),
            End::Stream(stream) => _ = stream.shutdown(Shutdown::Both),
        }
    }
}

/// All worker processes of a check, to be ended from wherever the check is left. A clone has the
/// same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes(Arc<Mutex<Living>>);

#[derive(Debug, Default)]
struct Living {
    ends: Vec<End>,
    /// The check is over: none may begin any more.
    is_over: bool,
}

impl Processes {
    /// Adds one; if the check is over, that is its end.
    pub(crate) fn add(&self, started: &Started) {
        let mut living = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match living.is_over {
            true => started.end.now(),
            false => living.ends.push(started.end()),
        }
    }

    /// Ends all, and whatever would begin later.
    pub(crate) fn end(&self) {
        let mut living = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        living.is_over = true;
        living.ends.drain(..).for_each(|end| end.now());
    }
}

/// Hears what a worker says, and writes what it is told, on two threads of their own.
fn converse(
    mut output: Box<dyn Read + Send>,
    mut input: Box<dyn Write + Send>,
    number: usize,
    events: &Sender<(usize, Event)>,
) -> io::Result<Sender<Order>> {
    let (sender, orders): (Sender<Order>, Receiver<Order>) = channel();
    let heard = events.clone();
    let hear = move || {
        loop {
            let event = hear(&mut output);
            let is_last = matches!(event, Event::Lost(_));
            if heard.send((number, event)).is_err() || is_last {
                return;
            }
        }
    };
    let failed = events.clone();
    let write = move || {
        for order in orders {
            match link::write(&mut input, &order) {
                Ok(()) => {}
                // What cannot be said at all is told; a line that is cut is heard at the other end.
                Err(error) if error.kind() == io::ErrorKind::Other => {
                    let why = format!("it cannot be told what to do: {error}");
                    _ = failed.send((number, Event::Lost(Some(why))));
                    return;
                }
                Err(_) => return,
            }
        }
    };
    Builder::new().name(format!("reports of {number}")).spawn(hear)?;
    Builder::new().name(format!("orders to {number}")).spawn(write)?;
    Ok(sender)
}

/// The next that a worker says.
fn hear(output: &mut dyn Read) -> Event {
    match link::read(output) {
        Ok(Some(Report::Hello { protocol, .. })) if protocol != PROTOCOL => {
            Event::Lost(Some(format!("it speaks `{protocol}`, not `{PROTOCOL}`")))
        }
        Ok(Some(Report::Hello { .. })) => Event::Alive { states: 0, layer: 0 },
        Ok(Some(Report::Alive { states, layer })) => Event::Alive { states, layer },
        Ok(Some(Report::Listening(port))) => Event::Listening(port),
        Ok(Some(Report::Ready)) => Event::Ready,
        Ok(Some(Report::Reply(reply))) => Event::Reply(reply),
        Ok(Some(Report::Failed(message))) => Event::Lost(Some(message)),
        Ok(None) | Err(_) => Event::Lost(None),
    }
}
