//! The service, independent of the transport: messages become responses.
//!
//! ```text
//! message ─ rpc ─▶ calls ─ begin ─▶ queue of the session, or a child process ─▶ Pending ─▶ response
//! ```
//!
//! `begin` puts calls into their queues before it returns, so calls run in the order of their arrival. The
//! responses are awaited afterwards.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use masque_driver::Roots;
use masque_text::{MemoryPool, MemoryShare};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};

use crate::child::Children;
use crate::fault::Fault;
use crate::journal::{self, Journal};
use crate::limits::Limits;
use crate::log::{Level, Log};
use crate::metrics::{Gauges, Metrics};
use crate::pool::Pool;
use crate::process_memory;
use crate::protocol::Method;
use crate::rpc::{self, Call, Id, Message, Misread};
use crate::session_queue::{Job, Progress, SessionQueue};
use crate::sessions::Sessions;
use crate::ticket::{ClientId, Guard, Holder, Ticket, Tickets};

/// Maximum bytes of a message that is accepted even if all memory is in use.
const FREE_MESSAGE_BYTES: usize = 64 << 10;
/// Bytes of memory that the parameters of a message may need for each of its bytes.
const MEMORY_PER_MESSAGE_BYTE: u64 = 8;

/// The part of the total memory that is for small sessions only.
const SMALL_SESSIONS_PART: u64 = 8;

/// The result of a call.
pub(crate) type Outcome = Result<Box<RawValue>, Fault>;

/// The configuration of a service.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The limits of the service.
    pub limits: Limits,
    /// The log level on standard error.
    pub log: Log,
    /// Folder that imports are read from, besides the texts of a call; without it, no files are read.
    pub root: Option<PathBuf>,
    /// The `masque` executable that checks models in child processes; without it, `check_model` is an error.
    pub program: Option<PathBuf>,
    /// Whether the process does nothing else, so that all memory of the process counts towards the total.
    pub owns_process: bool,
    /// Folder in which sessions are saved, so that they survive a restart; without it, they do not.
    pub state_dir: Option<PathBuf>,
}

/// A service with its sessions, pool threads and child processes.
pub struct Service {
    pub(crate) limits: Limits,
    pub(crate) log: Log,
    pub(crate) pool: Pool,
    pub(crate) sessions: Arc<Sessions>,
    /// Memory of all sessions and calls.
    pub(crate) memory: Arc<MemoryPool>,
    /// Where sessions are saved.
    pub(crate) journal: Option<Journal>,
    pub(crate) children: Arc<Children>,
    /// The folder that imports are read from.
    pub(crate) root: Option<Roots>,
    pub(crate) metrics: Metrics,
    pub(crate) tickets: Arc<Tickets>,
    /// Number of open connections.
    pub(crate) connections: AtomicUsize,
    clients: AtomicU64,
    is_stopping: AtomicBool,
    stop: watch::Sender<bool>,
}

/// A client. It distinguishes calls of different clients that have the same id.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The id of the client.
    pub id: ClientId,
    /// Whether it is the only client, so that it may stop the service and cancel calls by their ids.
    pub is_only: bool,
}

impl Service {
    /// Starts the pool threads. Sessions that were saved are restored first.
    pub fn new(config: Config) -> std::io::Result<Arc<Service>> {
        let limits = config.limits;
        let root = config.root.map(|root| Roots::new(&[root], 0)).transpose()?;
        // The rest is for small sessions, which hold their memory from the beginning.
        let memory = MemoryPool::new(limits.total_memory - limits.total_memory / SMALL_SESSIONS_PART);
        if config.owns_process {
            process_memory::watch(&memory, limits.total_memory)?;
        }
        let folders = root.as_ref().map(|root| root.folders().to_vec()).unwrap_or_default();
        let sessions = Arc::new(Sessions::new(limits.clone(), Arc::clone(&memory)));
        let state_dir = config.state_dir.as_deref();
        let journal =
            state_dir.map(|folder| journal::start(folder, &sessions, &limits, config.log)).transpose()?;
        journal.iter().for_each(|journal| _ = sessions.journal.set(journal.clone()));
        Ok(Arc::new(Service {
            pool: Pool::new(limits.workers, limits.queue)?,
            sessions,
            journal,
            children: Arc::new(Children::new(config.program, folders, &limits, config.log)),
            memory,
            root,
            metrics: Metrics::default(),
            tickets: Arc::default(),
            connections: AtomicUsize::new(0),
            clients: AtomicU64::new(0),
            is_stopping: AtomicBool::new(false),
            stop: watch::Sender::new(false),
            log: config.log,
            limits,
        }))
    }

    /// A new client.
    pub fn client(&self, is_only: bool) -> Client {
        Client { id: ClientId(self.clients.fetch_add(1, Relaxed)), is_only }
    }

    /// Begins all calls of a message. Must be called within a tokio runtime.
    pub fn begin(self: &Arc<Self>, client: Client, text: &[u8]) -> Pending {
        let begin = |call: Result<Call<'_>, Misread>| match call {
            Ok(call) => self.begin_call(client, call),
            Err(misread) => {
                self.metrics.misread.fetch_add(1, Relaxed);
                self.log.call(|| {
                    let message = format!("a message cannot be parsed: {}", misread.fault.message);
                    (message, [("code", misread.fault.code.into())])
                });
                PendingCall::misread(misread)
            }
        };
        match rpc::read(text, self.limits.batch) {
            Message::Single(call) => Pending { calls: vec![begin(call)], is_batch: false },
            Message::Batch(calls) => {
                Pending { calls: calls.into_iter().map(begin).collect(), is_batch: true }
            }
        }
    }

    fn begin_call(self: &Arc<Self>, client: Client, call: Call<'_>) -> PendingCall {
        let start = Instant::now();
        let Some(method) = Method::from_name(&call.method) else {
            let fault = Fault::method(&call.method, Method::ALL.iter().map(|method| method.name()));
            self.metrics.misread.fetch_add(1, Relaxed);
            return PendingCall::misread_as(call.id, fault);
        };
        let holder = Holder { client: client.id, id: call.id.clone(), session: None };
        let begun = if self.is_stopping.load(Relaxed) {
            Begun::Done(Err(Fault::stopping()))
        } else {
            self.dispatch(client, method, call.params, holder)
        };
        let service = Arc::clone(self);
        PendingCall { id: call.id, begun, record: Some(CallRecord { service, method, start }) }
    }

    /// Adds work to a queue. The result is sent through a channel.
    pub(crate) fn submit<T: Send + 'static>(
        self: &Arc<Self>,
        queue: &Arc<SessionQueue<T>>,
        holder: Holder,
        mut work: impl FnMut(&mut Option<T>, &Ticket) -> Outcome + Send + 'static,
    ) -> Begun {
        let guard = self.tickets.issue(holder);
        let ticket = Arc::clone(&guard.ticket);
        let (sender, receiver) = oneshot::channel();
        let mut sender = Some(sender);
        let run = move |value: &mut Option<T>| {
            let outcome = if ticket.is_cancelled() { Err(Fault::cancelled()) } else { work(value, &ticket) };
            // A call that was stopped without being cancelled has to wait for a thread for long calls.
            let is_stopped = outcome.as_ref().is_err_and(|fault| fault.code == Fault::CANCELLED);
            if is_stopped && ticket.resume() {
                return Progress::Interrupted;
            }
            // Sending fails if the client has disconnected.
            _ = sender.take().map(|sender| sender.send(outcome));
            Progress::Done
        };
        let job = Job { ticket: Arc::clone(&guard.ticket), work: Box::new(run) };
        match self.pool.submit(queue, job) {
            Ok(()) => Begun::Waiting(receiver, guard),
            Err(_) => Begun::Done(Err(Fault::busy("queue", self.limits.queue))),
        }
    }

    /// Takes memory for a message of this many bytes and its parameters, until the response is sent.
    pub(crate) fn message_memory(&self, bytes: usize) -> Result<MemoryShare, Fault> {
        let share = MemoryShare::new(&self.memory);
        let is_small = bytes <= FREE_MESSAGE_BYTES;
        if is_small || share.hold(bytes as u64 * MEMORY_PER_MESSAGE_BYTE) {
            return Ok(share);
        }
        Err(Fault::busy("memory", usize::try_from(self.limits.total_memory).unwrap_or(usize::MAX)))
    }

    /// The current state of the service in numbers.
    pub fn gauges(&self) -> Gauges {
        let (waiting, running) = self.pool.load();
        let (sessions, session_bytes) = self.sessions.size();
        Gauges {
            sessions,
            session_bytes,
            waiting,
            running,
            long: self.pool.n_long(),
            calls: self.tickets.count(),
            children: self.children.running(),
            connections: self.connections.load(Relaxed),
        }
    }

    /// Counters and gauges in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.metrics.text(self.gauges())
    }

    /// Closes sessions that have been idle for too long.
    pub fn sweep(&self) {
        let n_closed = self.sessions.sweep();
        if n_closed > 0 {
            self.metrics.expired.fetch_add(n_closed as u64, Relaxed);
            let message = format!("{n_closed} idle session(s) closed");
            self.log.report(Level::Info, "idle-closed", &message, &[("sessions", n_closed.into())]);
        }
    }

    /// Stops the service: tasks that wait in [`Service::stopped`] continue.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the service is stopped.
    pub async fn stopped(&self) {
        // The sender lives as long as the service.
        _ = self.stop.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }

    /// Refuses further calls, waits at most the grace time for calls in progress, and cancels the rest.
    pub async fn finish(&self) {
        self.refuse_calls();
        let is_quiet = || self.tickets.count() == 0;
        if !self.wait_until(is_quiet).await {
            let n_cancelled = self.tickets.cancel(|_| true);
            let message = format!("{n_cancelled} call(s) cancelled");
            self.log.report(Level::Info, "cancelled", &message, &[("calls", n_cancelled.into())]);
            self.wait_until(is_quiet).await;
        }
        self.pool.close();
    }

    /// Waits until all connections are closed, at most the grace time.
    pub(crate) async fn wait_for_connections(&self) {
        self.wait_until(|| self.connections.load(Relaxed) == 0).await;
    }

    /// Makes all further calls fail with the error that the service is stopping.
    pub(crate) fn refuse_calls(&self) {
        self.is_stopping.store(true, Relaxed);
    }

    /// Whether further calls are refused.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Relaxed)
    }

    /// Waits until a condition is true, at most the grace time. Returns whether it is.
    async fn wait_until(&self, condition: impl Fn() -> bool) -> bool {
        const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(5);
        let end = Instant::now() + self.limits.grace;
        while !condition() {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        true
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.tickets.cancel(|_| true);
    }
}

/// A message whose calls are in progress. Dropping it cancels them.
pub struct Pending {
    calls: Vec<PendingCall>,
    is_batch: bool,
}

impl Pending {
    /// Waits for the responses, in the order of the calls; none if there were only notifications.
    pub async fn answer(self) -> Option<String> {
        let mut answers = Vec::new();
        for call in self.calls {
            answers.extend(call.answer().await);
        }
        if self.is_batch { rpc::answers(&answers) } else { answers.pop() }
    }
}

/// A call in progress.
struct PendingCall {
    id: Option<Id>,
    begun: Begun,
    record: Option<CallRecord>,
}

/// Data of a call for metrics and the log.
struct CallRecord {
    service: Arc<Service>,
    method: Method,
    start: Instant,
}

/// The state of a call that was begun.
pub(crate) enum Begun {
    /// Its result is known.
    Done(Outcome),
    /// It waits or is in progress.
    Waiting(oneshot::Receiver<Outcome>, Guard),
}

impl PendingCall {
    fn misread(misread: Misread) -> PendingCall {
        // A call that cannot be parsed gets a response even without an id: it may not be a notification.
        PendingCall { id: Some(misread.id), begun: Begun::Done(Err(misread.fault)), record: None }
    }

    fn misread_as(id: Option<Id>, fault: Fault) -> PendingCall {
        PendingCall { id, begun: Begun::Done(Err(fault)), record: None }
    }

    async fn answer(self) -> Option<String> {
        let outcome = match self.begun {
            Begun::Done(outcome) => outcome,
            Begun::Waiting(receiver, guard) => {
                let outcome = receiver.await;
                drop(guard);
                // The sender was dropped without a result: the work panicked.
                outcome.unwrap_or_else(|_| Err(Fault::internal("the work ended without a result")))
            }
        };
        if let Some(CallRecord { service, method, start }) = self.record {
            let time = start.elapsed();
            service.metrics.answered(method, outcome.is_ok(), time);
            if outcome.as_ref().is_err_and(|fault| fault.code == Fault::INTERNAL) {
                service.metrics.bugs.fetch_add(1, Relaxed);
            }
            service.log.call(|| {
                let result = outcome.as_ref().map_or_else(|fault| fault.message.as_str(), |_| "ok");
                let (name, ms) = (method.name(), time.as_secs_f64() * 1e3);
                let code = outcome.as_ref().err().map(|fault| fault.code);
                let fields = [("method", name.into()), ("ms", ms.into()), ("code", code.into())];
                (format!("{name} in {ms:.1} ms: {result}"), fields)
            });
        }
        self.id.map(|id| rpc::answer(&id, &outcome))
    }
}

/// Parses the parameters of a method. Missing parameters count as an empty object.
pub(crate) fn params<P: DeserializeOwned>(raw: Option<&RawValue>) -> Result<P, Fault> {
    let text = raw.map_or("{}", RawValue::get);
    if text.starts_with('[') {
        return Err(Fault::params("`params` must be an object with the parameters by name"));
    }
    serde_json::from_str(text).map_err(|error| Fault::params(error.to_string()))
}

/// A result as JSON.
pub(crate) fn result(value: &impl Serialize) -> Outcome {
    serde_json::value::to_raw_value(value).map_err(|error| Fault::internal(&error.to_string()))
}
