//! A worker that is a process: `masque worker`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use masque_memory::peak_resident_bytes;
use masque_model::System;
use masque_verdict::{Meter, Reached};
use timely::communication::Allocator;

use crate::checkpoint::{CheckpointStore, RunId};
use crate::command::{Command, Reply};
use crate::connection::deadline_after;
use crate::memory_watch::{MemoryWatch, is_refusal};
use crate::net::Net;
use crate::peers::{self, Peer};
use crate::protocol::{self, Order, PROTOCOL, Report, Setup};
use crate::supervisor_watch::SupervisorWatch;
use crate::token::Token;
use crate::worker::{Orders, serve};
use crate::{joining, threads};

/// Time between two heartbeats of a worker, and between two of the supervisor.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);
/// A worker that has joined, and has not received its setup, considers the supervisor lost after this time
/// without a message.
const SILENCE_BEFORE_SETUP: Duration = Duration::from_secs(20);
/// Maximum time until the supervisor notices that a worker process has ended.
const LOSS_DETECTION_TIME: Duration = Duration::from_secs(5);
/// Start of the message of timely's panics about lost connections.
const TIMELY_LOST: &str = "timely communication error";
/// Start of the names of timely's threads that send to or receive from another worker. They panic when a
/// connection is lost, and when the rest of this worker does not start.
const TIMELY_CONNECTION_THREADS: [&str; 2] = ["timely:send-", "timely:recv-"];
/// Stack size of the threads that talk to the supervisor, in bytes. Other threads may need much more.
const STACK_BYTES: usize = 2 << 20;
/// Maximum time to wait for a thread that is sending a report, before this process ends without memory.
const MAX_SEND_DELAY: Duration = Duration::from_millis(500);
/// Message of a worker to which the system has refused a thread.
const NO_THREAD: &str = "the system does not let it start a thread";
/// Exit code of a worker without memory.
const NO_MEMORY_EXIT: i32 = 3;

/// The connection of a worker to its supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supervisor {
    /// Through standard input and output: the supervisor has started this process.
    Standard,
    /// At an address, where both prove that they know the token.
    At {
        /// `HOST:PORT`
        address: String,
        /// Token of the supervisor.
        token: Token,
        /// Host name at which other workers reach this one. `None` means the address that the supervisor
        /// sees.
        host: Option<String>,
    },
}

/// Works for a supervisor until it sends no more commands, then ends the process.
///
/// `build` identifies the program, and must be that of the supervisor. `load` creates the system from the
/// payload that the supervisor sends. An error is a message of one line. If the connection to the supervisor
/// is lost, the process ends immediately.
pub fn work(
    supervisor: &Supervisor,
    build: &str,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<(), String> {
    match supervisor {
        Supervisor::Standard => {
            let output = shared(std::io::stdout());
            send(&output, &Report::Hello { protocol: PROTOCOL.to_string() });
            work_for(std::io::stdin(), output, Start { build, token: None, silence: None }, load)
        }
        Supervisor::At { address, token, host } => {
            let stream = joining::join(address, token, host.clone())?;
            let writer = stream.try_clone().map_err(|error| error.to_string())?;
            let start = Start { build, token: Some(token), silence: Some(SILENCE_BEFORE_SETUP) };
            work_for(stream, shared(writer), start, load)
        }
    }
}

/// What a worker knows before it has received its setup.
struct Start<'a> {
    build: &'a str,
    /// The token, if the worker has joined.
    token: Option<&'a Token>,
    /// Time without a message after which the supervisor is lost.
    silence: Option<Duration>,
}

/// Installs a panic hook that silences timely's threads, which panic when another worker is killed. The
/// supervisor notices the lost worker and ends this process. If only a connection is lost, the supervisor
/// notices nothing, so this worker reports it after [`LOSS_DETECTION_TIME`]. If these threads panic before
/// this worker runs, timely could not start another thread.
fn install_panic_hook(output: &Output, is_running: &Arc<AtomicBool>) {
    let default_hook = std::panic::take_hook();
    let (output, is_running) = (Arc::clone(output), Arc::clone(is_running));
    std::panic::set_hook(Box::new(move |info| {
        let is_lost = info.payload_as_str().is_some_and(|message| message.starts_with(TIMELY_LOST));
        let is_connection = std::thread::current()
            .name()
            .is_some_and(|name| TIMELY_CONNECTION_THREADS.iter().any(|start| name.starts_with(start)));
        if is_connection && !is_lost && !is_running.load(Ordering::Relaxed) {
            end_without_memory(&output, NO_THREAD);
        }
        if is_lost || is_connection {
            std::thread::sleep(LOSS_DETECTION_TIME);
            send(&output, &Report::Failed("its connection to another worker has broken".to_string()));
            loop {
                std::thread::park();
            }
        }
        default_hook(info);
        exit(101);
    }));
}

/// The worker's output to the supervisor.
type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// Sends a report; returns whether that succeeded.
fn send(output: &Output, report: &Report) -> bool {
    // Without the lock: if this thread finds no memory, another one must be able to report that.
    let Ok(frame) = protocol::encode(report) else { return false };
    protocol::write_encoded(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), &frame).is_ok()
}

/// Reports that this process has no memory, and ends it.
fn end_without_memory(output: &Output, message: &str) -> ! {
    let deadline = Instant::now() + MAX_SEND_DELAY;
    if let Ok(frame) = protocol::encode(&Report::OutOfMemory(message.to_string())) {
        while Instant::now() < deadline {
            if let Ok(mut output) = output.try_lock() {
                // Sending fails if the supervisor is gone.
                _ = protocol::write_encoded(&mut *output, &frame);
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    _ = writeln!(std::io::stderr(), "error: this worker has no memory: {message}");
    exit(NO_MEMORY_EXIT)
}

fn shared(output: impl Write + Send + 'static) -> Output {
    Arc::new(Mutex::new(Box::new(output)))
}

fn work_for(
    input: impl Read + Send + 'static,
    output: Output,
    start: Start<'_>,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<(), String> {
    let is_running = Arc::new(AtomicBool::new(false));
    install_panic_hook(&output, &is_running);
    let flag = Arc::new(AtomicBool::new(false));
    let watch = SupervisorWatch::new(start.silence);
    let (sender, orders) = channel();
    let (stop, of_reader) = (Arc::clone(&flag), watch.clone());
    let meter = Meter::default();
    let (to_supervisor, progress) = (Arc::clone(&output), meter.clone());
    let memory_watch = MemoryWatch::new();
    let (without_memory, of_watch) = (Arc::clone(&output), memory_watch.clone());
    start_thread("memory", move || end_without_memory(&without_memory, &of_watch.wait()))
        .and_then(|()| start_thread("orders", move || read_orders(input, &sender, &stop, &of_reader)))
        .and_then(|()| start_thread("heartbeat", move || send_heartbeats(&to_supervisor, &progress)))
        .and_then(|()| start_thread("watch", move || watch.end_when_silent()))
        .unwrap_or_else(|_| end_without_memory(&output, NO_THREAD));
    let (setup, system, streams) =
        prepare(&orders, &output, &start, &memory_watch, load).inspect_err(|message| {
            send(&output, &Report::Failed(message.clone()));
        })?;
    let index = setup.index;
    let checkpoints = setup.checkpoints.map(|settings| {
        CheckpointStore::new(settings, RunId { build: setup.build, model: setup.model }, index, setup.workers)
    });
    let part = Mutex::new(Some((setup.memory, checkpoints, orders)));
    let to_supervisor = Arc::clone(&output);
    let work = move |allocator: Allocator| {
        is_running.store(true, Ordering::Relaxed);
        let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((memory, checkpoints, orders)) = part else { return };
        let net = Net::new(allocator, threads::budget(memory, &flag).with_meter(meter.clone()));
        send(&output, &Report::Ready);
        serve(&system, net, checkpoints, &mut Commands { orders, output: Arc::clone(&output) });
        // Returning would make timely wait for the other workers, which is not needed.
        exit(0);
    };
    match peers::run(streams, index, work) {
        Ok(guards) => {
            drop(guards);
            Ok(())
        }
        Err(error) if is_refusal(&error) => end_without_memory(&to_supervisor, NO_THREAD),
        Err(error) => {
            let message = format!("the connections to other workers cannot be used: {error}");
            send(&to_supervisor, &Report::Failed(message.clone()));
            Err(message)
        }
    }
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    Builder::new().name(name.to_string()).stack_size(STACK_BYTES).spawn(work).map(drop)
}

/// Reads orders until the supervisor is gone, then ends the process.
fn read_orders(input: impl Read, sender: &Sender<Order>, stop: &AtomicBool, watch: &SupervisorWatch) -> ! {
    let mut input = watch.listen(input);
    while let Ok(Some(order)) = protocol::read::<Order>(&mut input) {
        watch.receive(matches!(order, Order::Suspended));
        match order {
            Order::Alive | Order::Suspended => {}
            Order::Stop => stop.store(true, Ordering::Relaxed),
            order => {
                if let Order::Setup(setup) = &order {
                    watch.set_limit(setup.silence);
                }
                stop.store(false, Ordering::Relaxed);
                _ = sender.send(order);
            }
        }
    }
    exit(0);
}

/// Sends heartbeats until the supervisor is gone.
fn send_heartbeats(output: &Output, meter: &Meter) {
    loop {
        let (states, layer) = match meter.read() {
            Some(Reached::States(found)) => (found.states, found.layer),
            _ => (0, 0),
        };
        if !send(output, &Report::Alive { states, layer }) {
            return;
        }
        std::thread::sleep(HEARTBEAT_INTERVAL);
    }
}

/// What a worker needs to start: its setup, the system, and the connections to the other workers.
type Prepared = (Setup, Arc<System>, Vec<Option<TcpStream>>);

/// Receives the model and the addresses of the other workers, and connects to them.
fn prepare(
    orders: &Receiver<Order>,
    output: &Output,
    start: &Start<'_>,
    memory_watch: &MemoryWatch,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<Prepared, String> {
    let unexpected = || "the supervisor has sent an unexpected message".to_string();
    let Ok(Order::Setup(mut setup)) = orders.recv() else { return Err(unexpected()) };
    if setup.build != start.build {
        return Err(format!("it is build {} of masque, not {}", start.build, setup.build));
    }
    memory_watch.set_limit(setup.memory);
    let token = match (start.token, &setup.token) {
        (Some(token), None) => token.clone(),
        (None, Some(text)) => Token::new(text).ok_or_else(unexpected)?,
        _ => return Err(unexpected()),
    };
    let deadline = deadline_after(setup.patience);
    let cannot = |error: std::io::Error| format!("it cannot listen at {}: {error}", setup.bind);
    let listener = TcpListener::bind(&setup.bind).map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    send(output, &Report::Listening(port));
    let system = load(&std::mem::take(&mut setup.payload))?;
    let addresses = match orders.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Order::Peers(addresses)) if addresses.len() == setup.workers => addresses,
        Err(RecvTimeoutError::Timeout) => {
            return Err("the other workers have not started in time".to_string());
        }
        _ => return Err(unexpected()),
    };
    let Setup { index, run, connection_timeout, .. } = *setup;
    let peer = Peer { index, addresses: &addresses, run, token: &token, deadline, connection_timeout };
    let streams = peer.connect(&listener)?;
    Ok((*setup, system, streams))
}

/// Commands from the supervisor.
struct Commands {
    orders: Receiver<Order>,
    output: Output,
}

impl Orders for Commands {
    fn next(&mut self) -> Option<Command> {
        match self.orders.recv() {
            Ok(Order::Command(command)) => Some(command),
            _ => None,
        }
    }

    fn reply(&mut self, mut reply: Reply) -> bool {
        if let Reply::Answer(_, costs) = &mut reply {
            (costs.resident, costs.busy) = (peak_resident_bytes().unwrap_or(0), cpu_milliseconds());
        }
        send(&self.output, &Report::Reply(reply))
    }
}

/// Returns the CPU time of all threads of this process; 0 if the operating system does not report it.
fn cpu_milliseconds() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain spaces; user and system time are fields 14 and 15.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = fields.split_whitespace().skip(11).take(2);
    // Linux reports hundredths of a second on every architecture.
    ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}
