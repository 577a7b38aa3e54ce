//! A worker that is a process: `masque worker`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use masque_model::System;
use masque_verdict::Meter;
use timely::communication::Allocator;

use crate::checkpoint::CheckpointStore;
use crate::command::{Command, Reply};
use crate::net::Net;
use crate::protocol::{self, Order, PROTOCOL, Report, Setup};
use crate::worker::{Orders, serve};
use crate::{peers, threads};

/// Time between two heartbeats of a worker.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum time until the supervisor notices that a worker process has ended.
const LOSS_DETECTION_TIME: Duration = Duration::from_secs(5);
/// Start of the message of timely's panics about lost connections.
const TIMELY_LOST: &str = "timely communication error";

/// The connection of a worker to its supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supervisor {
    /// Through standard input and output: the supervisor has started this process.
    Standard,
    /// At an address, with the token that it has printed.
    At {
        /// `HOST:PORT`
        address: String,
        /// Token that the supervisor has printed.
        token: String,
        /// Host name at which other workers reach this one. `None` means the address that the supervisor
        /// sees.
        host: Option<String>,
    },
}

/// Works for a supervisor until it sends no more commands, then ends the process.
///
/// `load` creates the system from the payload that the supervisor sends. An error is a message of one
/// line. If the connection to the supervisor is lost, the process ends immediately.
pub fn work(
    supervisor: &Supervisor,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<(), String> {
    match supervisor {
        Supervisor::Standard => {
            let hello = hello("", None);
            work_for(Box::new(std::io::stdin()), Box::new(std::io::stdout()), &hello, load)
        }
        Supervisor::At { address, token, host } => {
            let cannot =
                |error: std::io::Error| format!("the supervisor at {address} cannot be reached: {error}");
            let stream = TcpStream::connect(address).map_err(cannot)?;
            let writer = stream.try_clone().map_err(cannot)?;
            work_for(Box::new(stream), Box::new(writer), &hello(token, host.clone()), load)
        }
    }
}

fn hello(token: &str, host: Option<String>) -> Report {
    Report::Hello { protocol: PROTOCOL.to_string(), token: token.to_string(), host }
}

/// Installs a panic hook that silences timely's threads, which panic when another worker is killed. The
/// supervisor notices the lost worker and ends this process. If only a connection is lost, the supervisor
/// notices nothing, so this worker reports it after [`LOSS_DETECTION_TIME`].
fn install_panic_hook(output: &Output) {
    let default_hook = std::panic::take_hook();
    let output = Arc::clone(output);
    std::panic::set_hook(Box::new(move |info| {
        let is_lost = info.payload_as_str().is_some_and(|message| message.starts_with(TIMELY_LOST));
        if is_lost {
            std::thread::sleep(LOSS_DETECTION_TIME);
            send(&output, &Report::Failed("its connection to another worker has broken".to_string()));
            loop {
                std::thread::park();
            }
        }
        default_hook(info);
        std::process::exit(101);
    }));
}

/// The worker's output to the supervisor.
type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// Sends a report; returns whether that succeeded.
fn send(output: &Output, report: &Report) -> bool {
    protocol::write(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), report).is_ok()
}

fn work_for(
    mut input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    hello: &Report,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<(), String> {
    let output: Output = Arc::new(Mutex::new(output));
    install_panic_hook(&output);
    let flag = Arc::new(AtomicBool::new(false));
    let (sender, orders) = channel();
    let stop = Arc::clone(&flag);
    let read_orders = move || {
        while let Ok(Some(order)) = protocol::read::<Order>(&mut input) {
            match order {
                Order::Stop => stop.store(true, Ordering::Relaxed),
                order => {
                    stop.store(false, Ordering::Relaxed);
                    _ = sender.send(order);
                }
            }
        }
        // The supervisor is gone.
        std::process::exit(0);
    };
    let meter = Meter::default();
    let (heartbeat_output, heartbeat_meter) = (Arc::clone(&output), meter.clone());
    let send_heartbeats = move || {
        loop {
            let found = heartbeat_meter.read();
            let (states, layer) = found.map_or((0, 0), |found| (found.states, found.layer));
            if !send(&heartbeat_output, &Report::Alive { states, layer }) {
                return;
            }
            std::thread::sleep(HEARTBEAT_INTERVAL);
        }
    };
    send(&output, hello);
    let no_thread = |error: std::io::Error| format!("a thread cannot be started: {error}");
    Builder::new().name("orders".to_string()).spawn(read_orders).map_err(no_thread)?;
    Builder::new().name("heartbeat".to_string()).spawn(send_heartbeats).map_err(no_thread)?;
    let (setup, system, streams) = prepare(&orders, &output, load).inspect_err(|message| {
        send(&output, &Report::Failed(message.clone()));
    })?;
    let part = Mutex::new(Some((setup.memory, setup.checkpoints, orders)));
    let (index, workers, model) = (setup.index, setup.workers, setup.model);
    let work = move |allocator: Allocator| {
        let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((memory, checkpoints, orders)) = part else { return };
        let net = Net::new(allocator, threads::budget(memory, &flag).with_meter(meter.clone()));
        let checkpoints = checkpoints.map(|settings| CheckpointStore::new(settings, model, index, workers));
        send(&output, &Report::Ready);
        serve(&system, net, checkpoints, &mut Commands { orders, output: Arc::clone(&output) });
        // Returning would make timely wait for the other workers, which is not needed.
        std::process::exit(0);
    };
    let guards = peers::run(streams, index, work)?;
    drop(guards);
    Ok(())
}

/// What a worker needs to start: its setup, the system, and the connections to the other workers.
type Prepared = (Setup, Arc<System>, Vec<Option<TcpStream>>);

/// Receives the model and the addresses of the other workers, and connects to them.
fn prepare(
    orders: &Receiver<Order>,
    output: &Output,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<Prepared, String> {
    let unexpected = || "the supervisor has sent an unexpected message".to_string();
    let Ok(Order::Setup(mut setup)) = orders.recv() else { return Err(unexpected()) };
    let deadline = Instant::now() + setup.patience;
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
    let streams = peers::connect(&listener, &addresses, setup.index, &setup.token, deadline)?;
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
            (costs.resident, costs.busy) = (peak_resident_bytes(), cpu_milliseconds());
        }
        send(&self.output, &Report::Reply(reply))
    }
}

/// Returns the peak resident memory of this process; 0 if the operating system does not report it.
fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
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
