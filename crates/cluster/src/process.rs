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

use crate::command::{Command, Reply};
use crate::keep::Keeper;
use crate::link::{self, Order, PROTOCOL, Report, Setup};
use crate::net::Net;
use crate::worker::{Orders, serve};
use crate::{peers, threads};

/// How often a worker says that it lives.
const BEAT: Duration = Duration::from_millis(500);
/// How long it takes, at most, until the supervisor has noticed that a worker is lost.
const LOSS: Duration = Duration::from_secs(5);
/// What timely's panics about lost connections begin with.
const TIMELY_LOST: &str = "timely communication error";

/// How a worker reaches its supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supervisor {
    /// Through standard input and output: the supervisor has started this process.
    Standard,
    /// At an address, with the token it has shown.
    At {
        /// `HOST:PORT`
        address: String,
        /// What the supervisor has shown.
        token: String,
        /// Where other workers find this one; as the supervisor sees it if nothing is said.
        host: Option<String>,
    },
}

/// Works for a supervisor until it needs nothing more, then ends the process.
///
/// `load` makes the system from what the supervisor sends. An error is one line. If the supervisor
/// goes away, the process ends at once.
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

/// A killed peer makes timely's threads panic. The supervisor will notice who was lost, and end us; so
/// these threads say nothing. If nobody was lost but a connection, there is nobody else to tell it.
fn quiet_panics(line: &Line) {
    let usual = std::panic::take_hook();
    let line = Arc::clone(line);
    std::panic::set_hook(Box::new(move |info| {
        let is_lost = info.payload_as_str().is_some_and(|message| message.starts_with(TIMELY_LOST));
        if is_lost {
            std::thread::sleep(LOSS);
            say(&line, &Report::Failed("its connection to another worker has broken".to_string()));
            loop {
                std::thread::park();
            }
        }
        usual(info);
        std::process::exit(101);
    }));
}

/// The worker's end of the line.
type Line = Arc<Mutex<Box<dyn Write + Send>>>;

fn say(line: &Line, report: &Report) -> bool {
    link::write(&mut *line.lock().unwrap_or_else(PoisonError::into_inner), report).is_ok()
}

fn work_for(
    mut input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    hello: &Report,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<(), String> {
    let line: Line = Arc::new(Mutex::new(output));
    quiet_panics(&line);
    let flag = Arc::new(AtomicBool::new(false));
    let (sender, orders) = channel();
    let stop = Arc::clone(&flag);
    let listen = move || {
        while let Ok(Some(order)) = link::read::<Order>(&mut input) {
            match order {
                Order::Stop => stop.store(true, Ordering::Relaxed),
                order => {
                    stop.store(false, Ordering::Relaxed);
                    _ = sender.send(order);
                }
            }
        }
        // The supervisor is gone, and with it all reason to work.
        std::process::exit(0);
    };
    let meter = Meter::default();
    let (beating, watched) = (Arc::clone(&line), meter.clone());
    let beat = move || {
        loop {
            let found = watched.read();
            let (states, layer) = found.map_or((0, 0), |found| (found.states, found.layer));
            if !say(&beating, &Report::Alive { states, layer }) {
                return;
            }
            std::thread::sleep(BEAT);
        }
    };
    say(&line, hello);
    let no_thread = |error: std::io::Error| format!("a thread cannot be started: {error}");
    Builder::new().name("orders".to_string()).spawn(listen).map_err(no_thread)?;
    Builder::new().name("beat".to_string()).spawn(beat).map_err(no_thread)?;
    let result = begin(&orders, &line, load);
    let (setup, system, streams) = match result {
        Ok(begun) => begun,
        Err(message) => {
            say(&line, &Report::Failed(message.clone()));
            return Err(message);
        }
    };
    let part = Mutex::new(Some((setup.memory, setup.checkpoints, orders)));
    let (index, workers, model) = (setup.index, setup.workers, setup.model);
    let work = move |allocator: Allocator| {
        let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((memory, checkpoints, orders)) = part else { return };
        let net = Net::new(allocator, threads::budget(memory, &flag).with_meter(meter.clone()));
        let keeper = checkpoints.map(|plan| Keeper::new(plan, model, index, workers));
        say(&line, &Report::Ready);
        serve(&system, net, keeper, &mut Commands { orders, line: Arc::clone(&line) });
        // Timely waits for its peers at the end; nothing is left to be done for them.
        std::process::exit(0);
    };
    let guards = peers::run(streams, index, work)?;
    drop(guards);
    Ok(())
}

/// What a worker has when it may begin.
type Begun = (Setup, Arc<System>, Vec<Option<TcpStream>>);

/// Gets the model and the addresses of the others, and connects to them.
fn begin(
    orders: &Receiver<Order>,
    line: &Line,
    load: impl FnOnce(&str) -> Result<Arc<System>, String>,
) -> Result<Begun, String> {
    let strange = || "the supervisor does not say what to do".to_string();
    let Ok(Order::Setup(mut setup)) = orders.recv() else { return Err(strange()) };
    let deadline = Instant::now() + setup.patience;
    let cannot = |error: std::io::Error| format!("it cannot listen at {}: {error}", setup.bind);
    let listener = TcpListener::bind(&setup.bind).map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    say(line, &Report::Listening(port));
    let system = load(&std::mem::take(&mut setup.payload))?;
    let addresses = match orders.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Order::Peers(addresses)) if addresses.len() == setup.workers => addresses,
        Err(RecvTimeoutError::Timeout) => {
            return Err("the other workers have not started in time".to_string());
        }
        _ => return Err(strange()),
    };
    let streams = peers::connect(&listener, &addresses, setup.index, &setup.token, deadline)?;
    Ok((*setup, system, streams))
}

/// Commands from the supervisor.
struct Commands {
    orders: Receiver<Order>,
    line: Line,
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
            (costs.resident, costs.busy) = (resident(), busy());
        }
        say(&self.line, &Report::Reply(reply))
    }
}

/// The most memory this process has had, in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// How many milliseconds the threads of this process have worked; 0 where the system does not tell.
fn busy() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in brackets, may have spaces; user and system time are fields 14 and 15.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = fields.split_whitespace().skip(11).take(2);
    // Linux tells it in hundredths of a second, whatever its clock is.
    ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}
