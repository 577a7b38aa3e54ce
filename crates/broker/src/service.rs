//! The service itself, whatever it is spoken to through: messages in, answers out.
//!
//! ```text
//! message ─ rpc ─▶ calls ─ begin ─▶ lane of the session, or a child process ─▶ Pending ─▶ answer
//! ```
//!
//! `begin` puts calls into their lanes before it returns, so calls that arrive in order are done in
//! order; waiting for the answers comes after that.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use masque_driver::Roots;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};

use crate::child::Children;
use crate::fault::Fault;
use crate::lane::{Job, Lane, Pool};
use crate::limits::Limits;
use crate::log::Log;
use crate::metrics::{Gauges, Metrics};
use crate::protocol::Method;
use crate::rpc::{self, Call, Id, Message, Misread};
use crate::sessions::Sessions;
use crate::ticket::{ClientId, Guard, Holder, Ticket, Tickets};

/// What a call comes to.
pub(crate) type Outcome = Result<Box<RawValue>, Fault>;

/// How a service is to be set up.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// What may be used.
    pub limits: Limits,
    /// What is said on standard error.
    pub log: Log,
    /// Folder that imports are read from besides the texts of a call; without one, the disk is not read.
    pub root: Option<PathBuf>,
    /// The program whose `check` command decides models in child processes; without one, no models
    /// are checked.
    pub program: Option<PathBuf>,
}

/// Sessions, workers and child processes.
pub struct Service {
    pub(crate) limits: Limits,
    pub(crate) log: Log,
    pub(crate) pool: Pool,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) children: Arc<Children>,
    /// Where imports are read from.
    pub(crate) root: Option<Roots>,
    pub(crate) metrics: Metrics,
    pub(crate) tickets: Arc<Tickets>,
    /// Open connections.
    pub(crate) connections: AtomicUsize,
    clients: AtomicU64,
    is_stopping: AtomicBool,
    stop: watch::Sender<bool>,
}

/// A client: calls with the same id are told apart by it.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Which one.
    pub id: ClientId,
    /// Whether the service is there for it alone, so that it may end it, and its ids name its calls.
    pub is_only: bool,
}

impl Service {
    /// Starts the workers.
    pub fn new(config: Config) -> std::io::Result<Arc<Service>> {
        let limits = config.limits;
        let root = config.root.map(|root| Roots::new(&[root], 0)).transpose()?;
        let folders = root.as_ref().map(|root| root.folders().to_vec()).unwrap_or_default();
        Ok(Arc::new(Service {
            pool: Pool::new(limits.workers, limits.queue)?,
            sessions: Arc::new(Sessions::new(limits.clone())),
            children: Arc::new(Children::new(config.program, folders, &limits, config.log)),
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

    /// A client that has not been there before.
    pub fn client(&self, is_only: bool) -> Client {
        Client { id: ClientId(self.clients.fetch_add(1, Relaxed)), is_only }
    }

    /// Begins all calls of a message. Needs a tokio runtime around it.
    pub fn begin(self: &Arc<Self>, client: Client, text: &[u8]) -> Pending {
        let begin = |call: Result<Call<'_>, Misread>| match call {
            Ok(call) => self.begin_call(client, call),
            Err(misread) => {
                self.metrics.misread.fetch_add(1, Relaxed);
                self.log.call(|| format!("a message is not understood: {}", misread.fault.message));
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
        let begun = match self.is_stopping.load(Relaxed) {
            true => Begun::Done(Err(Fault::stopping())),
            false => self.dispatch(client, method, call.params, holder),
        };
        let service = Arc::clone(self);
        PendingCall { id: call.id, begun, told: Some(Told { service, method, start }) }
    }

    /// Puts work on a lane; the answer comes through a channel.
    pub(crate) fn submit<T: Send + 'static>(
        self: &Arc<Self>,
        lane: &Arc<Lane<T>>,
        holder: Holder,
        work: impl FnOnce(&mut Option<T>, &Ticket) -> Outcome + Send + 'static,
    ) -> Begun {
        let guard = self.tickets.issue(holder);
        let ticket = Arc::clone(&guard.ticket);
        let (sender, receiver) = oneshot::channel();
        let job: Job<T> = Box::new(move |value| {
            let outcome = match ticket.is_cancelled() {
                true => Err(Fault::cancelled()),
                false => work(value, &ticket),
            };
            // A client that has gone away reads no answer.
            _ = sender.send(outcome);
        });
        match self.pool.submit(lane, job) {
            Ok(()) => Begun::Waiting(receiver, guard),
            Err(_) => Begun::Done(Err(Fault::busy("queue", self.limits.queue))),
        }
    }

    /// What is so at the moment.
    pub fn gauges(&self) -> Gauges {
        let (waiting, running) = self.pool.load();
        let (sessions, session_bytes) = self.sessions.size();
        Gauges {
            sessions,
            session_bytes,
            waiting,
            running,
            calls: self.tickets.count(),
            children: self.children.running(),
            connections: self.connections.load(Relaxed),
        }
    }

    /// Counters and gauges in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.metrics.text(self.gauges())
    }

    /// Closes sessions that nobody has used for too long.
    pub fn sweep(&self) {
        let n_closed = self.sessions.sweep();
        if n_closed > 0 {
            self.metrics.expired.fetch_add(n_closed as u64, Relaxed);
            self.log.event(&format!("{n_closed} idle session(s) closed"));
        }
    }

    /// Asks the service to end: whoever waits in [`Service::stopped`] goes on.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the service is to end.
    pub async fn stopped(&self) {
        // The sender lives as long as the service.
        _ = self.stop.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }

    /// Begins no more calls; waits for those under way, at most for the grace, then cancels them.
    pub async fn finish(&self) {
        self.refuse_calls();
        let is_quiet = || self.tickets.count() == 0;
        if !self.is_so_within_grace(is_quiet).await {
            let n_cancelled = self.tickets.cancel(|_| true);
            self.log.event(&format!("{n_cancelled} call(s) cancelled"));
            self.is_so_within_grace(is_quiet).await;
        }
        self.pool.close();
    }

    /// Waits until all connections are closed, at most for the grace.
    pub(crate) async fn hang_up(&self) {
        self.is_so_within_grace(|| self.connections.load(Relaxed) == 0).await;
    }

    /// From now on a call is answered by saying that the service is about to end.
    pub(crate) fn refuse_calls(&self) {
        self.is_stopping.store(true, Relaxed);
    }

    /// Whether no more calls are begun.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Relaxed)
    }

    async fn is_so_within_grace(&self, is_so: impl Fn() -> bool) -> bool {
        const PULSE: std::time::Duration = std::time::Duration::from_millis(5);
        let end = Instant::now() + self.limits.grace;
        while !is_so() {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(PULSE).await;
        }
        true
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.tickets.cancel(|_| true);
    }
}

/// A message whose calls are under way. Dropped, it cancels them.
pub struct Pending {
    calls: Vec<PendingCall>,
    is_batch: bool,
}

impl Pending {
    /// Waits for the answers, in the order of the calls; none if there were only notifications.
    pub async fn answer(self) -> Option<String> {
        let mut answers = Vec::new();
        for call in self.calls {
            answers.extend(call.answer().await);
        }
        if self.is_batch { rpc::answers(&answers) } else { answers.pop() }
    }
}

/// A call under way.
struct PendingCall {
    id: Option<Id>,
    begun: Begun,
    told: Option<Told>,
}

/// Who is told of the answer besides the client.
struct Told {
    service: Arc<Service>,
    method: Method,
    start: Instant,
}

/// How far a call has come.
pub(crate) enum Begun {
    /// It is answered.
    Done(Outcome),
    /// It waits, or is worked on.
    Waiting(oneshot::Receiver<Outcome>, Guard),
}

impl PendingCall {
    fn misread(misread: Misread) -> PendingCall {
        // What cannot be read is answered even without an id: it may not be a notification.
        PendingCall { id: Some(misread.id), begun: Begun::Done(Err(misread.fault)), told: None }
    }

    fn misread_as(id: Option<Id>, fault: Fault) -> PendingCall {
        PendingCall { id, begun: Begun::Done(Err(fault)), told: None }
    }

    async fn answer(self) -> Option<String> {
        let outcome = match self.begun {
            Begun::Done(outcome) => outcome,
            Begun::Waiting(receiver, guard) => {
                let outcome = receiver.await;
                drop(guard);
                // The sender is gone without a word: the work panicked.
                outcome.unwrap_or_else(|_| Err(Fault::internal("the work ended without an answer")))
            }
        };
        if let Some(Told { service, method, start }) = self.told {
            let time = start.elapsed();
            service.metrics.answered(method, outcome.is_ok(), time);
            if outcome.as_ref().is_err_and(|fault| fault.code == Fault::INTERNAL) {
                service.metrics.bugs.fetch_add(1, Relaxed);
            }
            service.log.call(|| {
                let said = outcome.as_ref().map_or_else(|fault| fault.message.as_str(), |_| "ok");
                format!("{} in {:.1} ms: {said}", method.name(), time.as_secs_f64() * 1e3)
            });
        }
        self.id.map(|id| rpc::answer(&id, &outcome))
    }
}

/// The parameters of a method; none are those of an empty object.
pub(crate) fn params<P: DeserializeOwned>(raw: Option<&RawValue>) -> Result<P, Fault> {
    let text = raw.map_or("{}", RawValue::get);
    if text.starts_with('[') {
        return Err(Fault::params("parameters are given by name, in an object"));
    }
    serde_json::from_str(text).map_err(|error| Fault::params(error.to_string()))
}

/// A result as JSON.
pub(crate) fn result(value: &impl Serialize) -> Outcome {
    serde_json::value::to_raw_value(value).map_err(|error| Fault::internal(&error.to_string()))
}
