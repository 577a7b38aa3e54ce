//! The supervisor's handle of a worker process: it sends orders, receives reports, and ends the process.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::command::Command;
use crate::connection::{Heard, LastHeard};
use crate::process::HEARTBEAT_INTERVAL;
use crate::protocol::{self, MAX_FIRST_FRAME_BYTES, Order, PROTOCOL, Report};
use crate::worker_set::{Message, POLL_INTERVAL, WorkerHandle};

/// Maximum time that a process may take to end after it has closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A worker process that was started or has joined.
pub(crate) struct WorkerProcess {
    pub(crate) name: String,
    /// Host name at which other workers reach it.
    pub(crate) host: String,
    /// Address at which it listens for other workers.
    pub(crate) bind: String,
    /// Channel to the thread that writes to it, so that a worker that does not read cannot block the
    /// supervisor.
    orders: Sender<Order>,
    heard: LastHeard,
    terminator: Terminator,
    /// The last line that it has written on standard error.
    errors: Arc<Mutex<String>>,
    /// Thread that reads its standard error.
    error_reader: Option<JoinHandle<()>>,
}

impl WorkerProcess {
    /// Starts a process and talks to it through its standard input and output.
    pub(crate) fn spawn(
        mut process: Process,
        index: usize,
        messages: &Sender<(usize, Message)>,
    ) -> io::Result<WorkerProcess> {
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C must reach only the supervisor, which then asks its workers to stop.
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
        let terminator = Terminator::Child(Arc::new(Mutex::new(child)));
        let last_line = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&last_line);
        let keep_last_line = move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if !line.trim().is_empty() {
                    *into.lock().unwrap_or_else(PoisonError::into_inner) = line.trim().to_string();
                }
            }
        };
        let error_reader = Builder::new().name(format!("errors of {index}")).spawn(keep_last_line)?;
        let heard = LastHeard::now();
        let output = Heard { input: output, last: heard.clone() };
        let begin = move |output: &mut dyn Read| read_hello(output);
        let orders = start_threads(output, begin, input, index, messages)?;
        Ok(WorkerProcess {
            name,
            host: "127.0.0.1".to_string(),
            bind: "127.0.0.1:0".to_string(),
            orders,
            heard,
            terminator,
            errors: last_line,
            error_reader: Some(error_reader),
        })
    }

    /// Creates the handle of a process that the user has started and that has connected.
    pub(crate) fn joined(
        stream: TcpStream,
        host: Option<String>,
        index: usize,
        messages: &Sender<(usize, Message)>,
    ) -> io::Result<WorkerProcess> {
        let from = stream.peer_addr()?;
        let ip = if from.is_ipv6() { format!("[{}]", from.ip()) } else { from.ip().to_string() };
        let any = if from.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
        let heard = LastHeard::now();
        let (output, input) = (stream.try_clone()?, stream.try_clone()?);
        let output = Heard { input: output, last: heard.clone() };
        Ok(WorkerProcess {
            name: from.to_string(),
            host: host.unwrap_or(ip),
            bind: any.to_string(),
            orders: start_threads(output, |_| None, input, index, messages)?,
            heard,
            terminator: Terminator::Stream(Arc::new(stream)),
            errors: Arc::default(),
            error_reader: None,
        })
    }

    /// Returns a channel for orders.
    #[cfg(unix)]
    pub(crate) fn orders(&self) -> Sender<Order> {
        self.orders.clone()
    }

    /// Sends an order. If the process is gone, a `Lost` message follows.
    pub(crate) fn send(&self, order: Order) -> io::Result<()> {
        self.orders.send(order).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Returns the last line that it has written on standard error.
    pub(crate) fn last_line(&self) -> Option<String> {
        let line = self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!line.is_empty()).then_some(line)
    }
}

impl WorkerHandle for WorkerProcess {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn last_heard(&self) -> Option<Instant> {
        Some(self.heard.get())
    }

    fn command(&mut self, command: &Command) -> io::Result<()> {
        self.send(Order::Command(command.clone()))
    }

    fn stop(&mut self) -> io::Result<()> {
        self.send(Order::Stop)
    }

    fn exit_reason(&mut self) -> Option<String> {
        let Terminator::Child(child) = &self.terminator else { return None };
        let deadline = Instant::now() + EXIT_TIMEOUT;
        let status = || child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten();
        let is_read = || self.error_reader.as_ref().is_none_or(JoinHandle::is_finished);
        let mut found = status();
        while (found.is_none() || !is_read()) && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
            found = status();
        }
        match (self.last_line(), found) {
            (Some(line), _) => Some(line),
            (None, Some(status)) => Some(status.to_string()),
            (None, None) => None,
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.terminator.terminate();
        if let Terminator::Child(child) = &self.terminator {
            _ = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
        }
    }
}

/// Ends a worker process. Clones refer to the same process.
#[derive(Clone, Debug)]
enum Terminator {
    /// A process that the supervisor has started.
    Child(Arc<Mutex<Child>>),
    /// A process that has joined: it ends when its connection is closed.
    Stream(Arc<TcpStream>),
}

impl Terminator {
    fn terminate(&self) {
        // An error means that the process has ended already.
        match self {
            Terminator::Child(child) => _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill(),
            Terminator::Stream(stream) => _ = stream.shutdown(Shutdown::Both),
        }
    }
}

/// All worker processes of a check, so that any thread can end them. Clones share the processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes(Arc<Mutex<RunningProcesses>>);

#[derive(Debug, Default)]
struct RunningProcesses {
    terminators: Vec<Terminator>,
    /// Whether the check has ended, so that no process may start.
    is_over: bool,
}

impl Processes {
    /// Adds a process, or ends it if the check has ended.
    pub(crate) fn add(&self, process: &WorkerProcess) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_over {
            process.terminator.terminate();
        } else {
            running.terminators.push(process.terminator.clone());
        }
    }

    /// Ends all processes, and those that are added later.
    pub(crate) fn end(&self) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.is_over = true;
        running.terminators.drain(..).for_each(|terminator| terminator.terminate());
    }
}

/// Starts two threads: one reads the reports of a worker, after what `begin` reads; the other writes orders
/// to it, and heartbeats when there are none.
fn start_threads(
    mut output: impl Read + Send + 'static,
    begin: impl FnOnce(&mut dyn Read) -> Option<Message> + Send + 'static,
    mut input: impl Write + Send + 'static,
    index: usize,
    messages: &Sender<(usize, Message)>,
) -> io::Result<Sender<Order>> {
    let (sender, orders): (Sender<Order>, Receiver<Order>) = channel();
    let received = messages.clone();
    let read = move || {
        let mut first = begin(&mut output);
        loop {
            let message = first.take().unwrap_or_else(|| read_message(&mut output));
            let is_last = matches!(message, Message::Lost(_) | Message::OutOfMemory(_));
            if received.send((index, message)).is_err() || is_last {
                return;
            }
        }
    };
    let failed = messages.clone();
    let write = move || {
        while let Some(order) = next_order(&orders) {
            match protocol::write(&mut input, &order) {
                Ok(()) => {}
                // An order that cannot be encoded is reported here; the reading thread reports a closed
                // connection.
                Err(error) if error.kind() == io::ErrorKind::Other => {
                    let why = format!("a command cannot be sent to it: {error}");
                    _ = failed.send((index, Message::Lost(Some(why))));
                    return;
                }
                Err(_) => return,
            }
        }
    };
    Builder::new().name(format!("reports of {index}")).spawn(read)?;
    Builder::new().name(format!("orders to {index}")).spawn(write)?;
    Ok(sender)
}

/// Waits for the next order, or for the time of the next heartbeat; returns `None` if there will be no more
/// orders.
fn next_order(orders: &Receiver<Order>) -> Option<Order> {
    match orders.recv_timeout(HEARTBEAT_INTERVAL) {
        Ok(order) => Some(order),
        Err(RecvTimeoutError::Timeout) => Some(Order::Alive),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// Reads the first report of a process that the supervisor has started. Returns a message if it is not the
/// expected one: the launcher may have started something else.
fn read_hello(output: &mut dyn Read) -> Option<Message> {
    match protocol::read_at_most(output, MAX_FIRST_FRAME_BYTES) {
        Ok(Some(Report::Hello { protocol })) if protocol == PROTOCOL => None,
        Ok(Some(Report::Hello { protocol })) => {
            Some(Message::Lost(Some(format!("it speaks `{protocol}`, not `{PROTOCOL}`"))))
        }
        _ => Some(Message::Lost(None)),
    }
}

/// Reads the next report of a worker.
fn read_message(output: &mut dyn Read) -> Message {
    match protocol::read(output) {
        Ok(Some(Report::Alive { states, layer })) => Message::Alive { states, layer },
        Ok(Some(Report::Listening(port))) => Message::Listening(port),
        Ok(Some(Report::Ready)) => Message::Ready,
        Ok(Some(Report::Reply(reply))) => Message::Reply(reply),
        Ok(Some(Report::Failed(message))) => Message::Lost(Some(message)),
        Ok(Some(Report::OutOfMemory(message))) => Message::OutOfMemory(message),
        Ok(Some(Report::Hello { .. }) | None) | Err(_) => Message::Lost(None),
    }
}
