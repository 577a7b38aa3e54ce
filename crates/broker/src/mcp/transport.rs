//! Messages of the Model Context Protocol, one per line, between two threads that read and write and the SDK.
//!
//! The SDK starts a task for each request and has no limit on their number. So a request takes a permit, and memory
//! for its text, until its answer is given to the writer; the next request is read only when both are available. A
//! client that never reads answers blocks only its own input.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::fault::Fault;
use crate::rpc::{self, Id, Message};
use crate::service::Service;
use crate::session_queue::lock;
use crate::stdio::{BYTES_PER_UNIT, Line, MAX_OPEN_MESSAGES, read, write};

/// Maximum number of answers that wait for the writer.
const MAX_WAITING_ANSWERS: usize = 64;

/// What a request holds until it is answered: a place among the open requests, and memory.
type Held = Arc<(OwnedSemaphorePermit, OwnedSemaphorePermit)>;

/// The server's end of the connection.
pub(super) struct Lines {
    service: Arc<Service>,
    lines: Receiver<Line>,
    answers: Option<Sender<(String, ())>>,
    /// Requests without an answer, and what each holds.
    open: Arc<Mutex<HashMap<RequestId, Held>>>,
    places: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    max_units: usize,
    /// A request that waits for a place and for memory, and the memory in units.
    waiting: Option<(Box<ClientJsonRpcMessage>, u32)>,
    /// An answer that the transport gives itself, and that waits for the writer.
    refusal: Option<String>,
    /// Whether a request has come that begins a conversation. The SDK ends if a notification comes earlier.
    is_begun: bool,
}

impl Lines {
    /// Starts the threads that read and write. The receiver learns when all answers are written.
    pub(super) fn start<R, W>(
        service: &Arc<Service>,
        input: R,
        output: W,
    ) -> io::Result<(Lines, oneshot::Receiver<()>)>
    where
        R: BufRead + Send + 'static,
        W: Write + Send + 'static,
    {
        let (lines_in, lines) = channel(1);
        let (answers, answers_out) = channel::<(String, ())>(MAX_WAITING_ANSWERS);
        let max_bytes = service.limits.body;
        Builder::new().name("input".to_string()).spawn(move || read(input, max_bytes, &lines_in))?;
        let (done_in, done) = oneshot::channel();
        let writer = Arc::clone(service);
        Builder::new().name("output".to_string()).spawn(move || {
            if write(output, answers_out).is_err() {
                // The output is closed, so no answer can be delivered.
                writer.tickets.cancel(|_| true);
                writer.stop();
            }
            _ = done_in.send(());
        })?;
        let max_units = (service.limits.bodies / BYTES_PER_UNIT).max(1);
        let lines = Lines {
            service: Arc::clone(service),
            lines,
            answers: Some(answers),
            open: Arc::default(),
            places: Arc::new(Semaphore::new(MAX_OPEN_MESSAGES)),
            memory: Arc::new(Semaphore::new(max_units)),
            max_units,
            waiting: None,
            refusal: None,
            is_begun: false,
        };
        Ok((lines, done))
    }

    /// Finds out what a line is: a message for the SDK, or an answer that says why it is none.
    fn classify(&mut self, line: Line) -> Option<ClientJsonRpcMessage> {
        let text = match line {
            Line::TooLong => {
                let max = self.service.limits.body;
                let fault =
                    Fault::limit("body", format!("the message is too large; the maximum is {max} bytes"));
                self.refusal = Some(rpc::answer(&Id::null(), &Err(fault)));
                return None;
            }
            Line::Text(text) => text,
        };
        if text.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let units = text.len().div_ceil(BYTES_PER_UNIT).clamp(1, self.max_units);
        match serde_json::from_slice::<ClientJsonRpcMessage>(&text) {
            Ok(message @ JsonRpcMessage::Request(_)) => {
                self.waiting = Some((Box::new(message), u32::try_from(units).unwrap_or(u32::MAX)));
                None
            }
            Ok(JsonRpcMessage::Notification(message)) => {
                if let ClientNotification::CancelledNotification(cancelled) = &message.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // The SDK gives no answer to a cancelled request.
                    lock(&self.open).remove(id);
                }
                self.is_begun.then_some(JsonRpcMessage::Notification(message))
            }
            // The server asks the client for nothing, so an answer of the client belongs to no request.
            Ok(_) => None,
            Err(error) => {
                self.refusal = refusal(&text, &error.to_string());
                None
            }
        }
    }

    /// Gives the waiting request its place and its memory, or refuses it because its id is in use.
    async fn admit(&mut self) -> Option<ClientJsonRpcMessage> {
        let units = self.waiting.as_ref()?.1;
        // Both wait without a loss if this future is dropped meanwhile.
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let memory = Arc::clone(&self.memory).acquire_many_owned(units).await.ok()?;
        let held: Held = Arc::new((place, memory));
        let (mut message, _) = self.waiting.take()?;
        if let JsonRpcMessage::Request(request) = &mut *message {
            self.is_begun |= begins(&request.request);
            let mut open = lock(&self.open);
            if open.contains_key(&request.id) {
                let id = serde_json::to_value(&request.id).unwrap_or_default();
                let error = serde_json::json!({ "code": Fault::INVALID, "message": "a request with this id is in progress" });
                self.refusal =
                    Some(serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
                return None;
            }
            open.insert(request.id.clone(), Arc::clone(&held));
            // The work of a cancelled request ends a little later than the request.
            request.request.extensions_mut().insert(held);
        }
        Some(*message)
    }
}

/// Whether the SDK begins a conversation with a request: `initialize`, or since 2026 any request with complete metadata.
fn begins(request: &ClientRequest) -> bool {
    let (meta, required) = (request.get_meta(), ProtocolVersion::V_2026_07_28);
    let is_known =
        meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => is_known && meta.missing_required_keys(&required).is_empty(),
    }
}

/// The answer to a line that is no message of the protocol; none to a notification.
fn refusal(text: &[u8], error: &str) -> Option<String> {
    let (id, fault) = match rpc::read(text, usize::MAX) {
        Message::Single(Ok(call)) => {
            let message =
                format!("the parameters of `{}` cannot be read: {error}", crate::fault::brief(&call.method));
            (call.id?, Fault::params(message))
        }
        Message::Single(Err(misread)) => (misread.id, misread.fault),
        Message::Batch(_) => (Id::null(), Fault::invalid("the protocol has no batches")),
    };
    // Ids are texts and whole numbers here; a client could not read any other.
    let is_id = serde_json::from_str::<RequestId>(id.as_json()).is_ok();
    let id = if is_id { id } else { Id::null() };
    Some(rpc::answer(&id, &Err(fault)))
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (answers, open) = (self.answers.clone(), Arc::clone(&self.open));
        async move {
            let id = match &item {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            };
            let text = serde_json::to_string(&item)?;
            drop(item);
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let sent = answers.ok_or_else(closed)?.send((text, ())).await;
            if let Some(id) = id {
                lock(&open).remove(&id);
            }
            sent.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        // This future may be dropped while it waits: what it has read is kept in `waiting` and `refusal`.
        loop {
            if self.refusal.is_some() {
                let permit = self.answers.as_ref()?.reserve().await.ok()?;
                permit.send((self.refusal.take()?, ()));
            }
            if self.waiting.is_some() {
                match self.admit().await {
                    Some(message) => return Some(message),
                    None => continue,
                }
            }
            let Some(line) = self.lines.recv().await else {
                // The input has ended: calls in progress get a moment to finish.
                let all = u32::try_from(MAX_OPEN_MESSAGES).unwrap_or(u32::MAX);
                _ = tokio::time::timeout(self.service.limits.grace, self.places.acquire_many(all)).await;
                self.service.tickets.cancel(|_| true);
                return None;
            };
            if let Some(message) = self.classify(line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.answers = None;
        Ok(())
    }
}
