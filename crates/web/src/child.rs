//! A process that holds a model, as the server sees it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;

use crate::model_process::CANCEL;
use crate::protocol::{Ask, Line, ProgressInfo, Reply};

/// Maximum bytes of a line from a process.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Time that a process has to stop its work after a request to stop. Then it is killed.
const MAX_STOP_DELAY: Duration = Duration::from_secs(1);

/// The program that holds models, and its arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The `masque` executable.
    pub path: PathBuf,
    /// Arguments that make it serve a model on standard input.
    pub args: Vec<OsString>,
}

/// Why a process gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoReply {
    /// The user cancelled the request.
    Cancelled,
    /// The process could not be started, or ended: a message.
    Failed(String),
}

/// One process, started when it is needed. Requests wait for each other.
pub(crate) struct ModelChild {
    program: Program,
    running: Mutex<Option<Running>>,
    cancel: Notify,
}

struct Running {
    // Dropping it kills the process.
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The beginning of a line that was read when a request was cancelled.
    partial_line: Vec<u8>,
    /// Whether a request was sent whose reply has not been read. If the browser closes a connection, no task waits for
    /// the reply any more, and it must not be taken for that of the next request.
    is_unanswered: bool,
    /// Number of the process, counted from 1: what a process numbers, such as states, is valid in it only.
    generation: u64,
}

/// A process that is ready for requests, and locked for others.
pub(crate) struct Ready<'c> {
    running: tokio::sync::MutexGuard<'c, Option<Running>>,
    cancel: &'c Notify,
}

impl ModelChild {
    pub(crate) fn new(program: &Program) -> ModelChild {
        ModelChild { program: program.clone(), running: Mutex::default(), cancel: Notify::new() }
    }

    /// Waits for the process, which is started if there is none. A new process gets the request `load` first, if there
    /// is one.
    pub(crate) async fn ready(&self, load: Option<&Ask>) -> Result<Ready<'_>, NoReply> {
        let mut running = self.running.lock().await;
        if let Some(known) = running.as_mut()
            && known.child.try_wait().is_ok_and(|status| status.is_none())
        {
            let is_unanswered = known.is_unanswered;
            let mut ready = Ready { running, cancel: &self.cancel };
            if !is_unanswered || ready.stop_request(&mut |_| {}).await.is_ok() {
                return Ok(ready);
            }
            running = ready.running;
        }
        *running = Some(start(&self.program).map_err(|error| NoReply::Failed(error.to_string()))?);
        let mut ready = Ready { running, cancel: &self.cancel };
        if let Some(load) = load {
            ready.ask(load, &mut |_| {}).await?;
        }
        Ok(ready)
    }

    /// Cancels the current request, if there is one.
    pub(crate) fn cancel(&self) {
        self.cancel.notify_waiters();
    }

    /// Ends the process.
    pub(crate) async fn stop(&self) {
        self.cancel();
        if let Some(mut running) = self.running.lock().await.take() {
            _ = running.child.kill().await;
        }
    }
}

impl Ready<'_> {
    /// The number of the process.
    pub(crate) fn generation(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.generation)
    }

    /// Sends a request and waits for the reply. If it is cancelled, the process gets a short time to reply with what
    /// it has; otherwise it is killed, and the next request starts another.
    pub(crate) async fn ask(
        &mut self,
        ask: &Ask,
        progress: &mut (dyn FnMut(ProgressInfo) + Send),
    ) -> Result<Reply, NoReply> {
        let Some(running) = self.running.as_mut() else { return Err(NoReply::Cancelled) };
        let mut cancelled = std::pin::pin!(self.cancel.notified());
        cancelled.as_mut().enable();
        running.is_unanswered = true;
        if let Err(error) = running.send(&serde_json::to_string(ask).unwrap_or_default()).await {
            return Err(self.failed(&error.to_string()).await);
        }
        let reply = tokio::select! {
            reply = running.reply(progress) => Some(reply),
            () = cancelled => None,
        };
        match reply {
            Some(Ok(reply)) => Ok(reply),
            Some(Err(message)) => Err(self.failed(&message).await),
            None => self.stop_request(progress).await,
        }
    }

    /// Stops the current request and returns its reply, or kills the process.
    async fn stop_request(
        &mut self,
        progress: &mut (dyn FnMut(ProgressInfo) + Send),
    ) -> Result<Reply, NoReply> {
        let Some(running) = self.running.as_mut() else { return Err(NoReply::Cancelled) };
        _ = running.send(CANCEL).await;
        match timeout(MAX_STOP_DELAY, running.reply(progress)).await {
            Ok(Ok(reply)) => Ok(reply),
            _ => {
                self.end().await;
                Err(NoReply::Cancelled)
            }
        }
    }

    async fn failed(&mut self, message: &str) -> NoReply {
        self.end().await;
        NoReply::Failed(message.to_string())
    }

    async fn end(&mut self) {
        if let Some(mut running) = self.running.take() {
            _ = running.child.kill().await;
        }
    }
}

impl Running {
    async fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.input.write_all(line.as_bytes()).await?;
        self.input.write_all(b"\n").await?;
        self.input.flush().await
    }

    async fn reply(&mut self, progress: &mut (dyn FnMut(ProgressInfo) + Send)) -> Result<Reply, String> {
        loop {
            let mut limited = (&mut self.output).take(MAX_LINE_BYTES);
            // If this is cancelled, the bytes that were read stay in the buffer.
            match limited.read_until(b'\n', &mut self.partial_line).await {
                Ok(0) => return Err("the process of the model ended unexpectedly".to_string()),
                Err(error) => return Err(format!("the process of the model cannot be read: {error}")),
                Ok(_) => {}
            }
            let line = std::mem::take(&mut self.partial_line);
            match serde_json::from_slice(&line) {
                Ok(Line::Progress(info)) => progress(info),
                Ok(Line::Reply(reply)) => {
                    self.is_unanswered = false;
                    return Ok(*reply);
                }
                Err(error) => return Err(format!("the process of the model wrote something else: {error}")),
            }
        }
    }
}

fn start(program: &Program) -> std::io::Result<Running> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let mut command = Command::new(&program.path);
    command.args(&program.args).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::ErrorKind::BrokenPipe.into());
    };
    let generation = STARTED.fetch_add(1, Ordering::Relaxed) + 1;
    let (output, partial_line) = (BufReader::new(output), Vec::new());
    Ok(Running { child, input, output, partial_line, is_unanswered: false, generation })
}
