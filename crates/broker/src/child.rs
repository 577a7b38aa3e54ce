//! Models of the other languages, each checked in a process of its own.
//!
//! A diagram that is being built can only be stopped from outside; so the process is the same
//! program's `check`, and it is ended when its time is up, when it holds too much memory, when the
//! call is cancelled or when the client has gone. Its files live in a folder that goes with it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::fault::{Fault, brief};
use crate::limits::Limits;
use crate::log::Log;
use crate::protocol::CheckModel;
use crate::service::Outcome;
use crate::ticket::Ticket;

/// How long after its own time a process may take to tell what it knows.
const GRACE: Duration = Duration::from_secs(2);
/// How often its memory is looked at.
const PULSE: Duration = Duration::from_millis(50);
/// A report may be so long.
const MOST_REPORT: u64 = 64 << 20;
/// The exit code of a process that found a bug in itself.
const BUG: i32 = 101;
/// Memory that a process has besides what its engines count.
const SLACK: u64 = 128 << 20;

/// Child processes.
#[derive(Debug)]
pub(crate) struct Children {
    program: Option<PathBuf>,
    /// Folders that imports are read from, besides the folder of the model.
    roots: Vec<PathBuf>,
    log: Log,
    seats: Semaphore,
    most_waiting: usize,
    waiting: AtomicUsize,
    running: AtomicUsize,
}

/// What is to be checked, and within what.
pub(crate) struct Task {
    pub(crate) model: CheckModel,
    pub(crate) time: Duration,
    pub(crate) memory: u64,
}

impl Children {
    /// Processes of a program, so many at a time.
    pub(crate) fn new(program: Option<PathBuf>, roots: Vec<PathBuf>, limits: &Limits, log: Log) -> Children {
        Children {
            program,
            roots,
            log,
            seats: Semaphore::new(limits.children),
            most_waiting: limits.queue,
            waiting: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
        }
    }

    /// The processes there are.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Relaxed)
    }

    /// Checks a model; the ticket ends it early, and so does dropping this.
    pub(crate) async fn check(self: Arc<Self>, task: Task, ticket: Arc<Ticket>) -> Outcome {
        let Some(program) = &self.program else {
            return Err(Fault::new(Fault::CHILD, "this service checks no models"));
        };
        let waiting = Counted::new(&self.waiting);
        if self.waiting.load(Relaxed) > self.most_waiting {
            return Err(Fault::busy("children", self.most_waiting));
        }
        let _seat = tokio::select! {
            seat = self.seats.acquire() => seat.map_err(|_| Fault::stopping())?,
            () = ticket.cancelled() => return Err(Fault::cancelled()),
        };
        drop(waiting);
        let _running = Counted::new(&self.running);
        let folder = folder(&task.model)?;
        let mut child =
            command(program, folder.path(), &task, &self.roots).spawn().map_err(|e| failed(&e))?;
        tokio::select! {
            outcome = report(&mut child, &task, self.log) => outcome,
            () = ticket.cancelled() => Err(Fault::cancelled()),
            () = tokio::time::sleep(task.time + GRACE) => {
                let message = format!("the check was ended after {} s", task.time.as_secs_f64());
                Err(Fault::limit("time", message))
            }
        }
        // Whatever was the first, the process ends with `child` and its files with `folder`.
    }
}

/// A counter that counts us while we are there.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn new(counter: &'c AtomicUsize) -> Counted<'c> {
        counter.fetch_add(1, Relaxed);
        Counted(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn failed(error: &std::io::Error) -> Fault {
    Fault::new(Fault::CHILD, format!("the check cannot be started: {error}"))
}

/// A folder with the files of a model.
fn folder(model: &CheckModel) -> Result<TempDir, Fault> {
    let folder = tempfile::Builder::new().prefix("masque-").tempdir().map_err(|e| failed(&e))?;
    for file in &model.files {
        std::fs::write(folder.path().join(&file.name), &file.text).map_err(|e| failed(&e))?;
    }
    Ok(folder)
}

fn command(program: &Path, folder: &Path, task: &Task, roots: &[PathBuf]) -> Command {
    let Task { model, time, memory } = task;
    let mut command = Command::new(program);
    command.args(["check", "--format=json"]);
    command.arg(format!("--timeout={}ms", time.as_millis()));
    command.arg(format!("--memory={memory}"));
    // Imports find the texts of the call first, then files below the root, and nothing else.
    for root in std::iter::once(Path::new(".")).chain(roots.iter().map(PathBuf::as_path)) {
        command.arg("--import-root").arg(root);
    }
    // What comes from outside stands behind a `=`: it cannot become an option of its own.
    let words = [
        ("engine", &model.engine),
        ("at", &model.at),
        ("strategies", &model.strategies),
        ("deadlock", &model.deadlock),
        ("overflow", &model.overflow),
        ("evidence", &model.evidence),
    ];
    for (name, value) in words {
        if let Some(value) = value {
            command.arg(format!("--{name}={value}"));
        }
    }
    for (name, value) in &model.define {
        command.arg(format!("--define={name}={value}"));
    }
    for (name, value) in &model.options {
        command.arg(format!("--option={name}={value}"));
    }
    for formula in &model.properties {
        command.arg(format!("--property={formula}"));
    }
    command.arg("--").args(model.files.iter().map(|file| &file.name)).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("MASQUE_TOKEN").env("NO_COLOR", "1").kill_on_drop(true);
    command
}

/// Waits for the report. A bug that costs the evidence leaves the verdicts; it is logged.
async fn report(child: &mut Child, task: &Task, log: Log) -> Outcome {
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Fault::new(Fault::CHILD, "the check has no output"));
    };
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (stdout.take(MOST_REPORT), stderr.take(64 << 10));
    let reading = async { tokio::join!(stdout.read_to_end(&mut said), stderr.read_to_end(&mut complained)) };
    let id = child.id();
    tokio::select! {
        _ = reading => {}
        () = grows_beyond(id, task.memory.saturating_mul(2).saturating_add(SLACK)) => {
            return Err(Fault::limit("memory", "the check held too much memory and was ended"));
        }
    }
    let status = child.wait().await.map_err(|e| failed(&e))?;
    let text = String::from_utf8_lossy(&said);
    let complaint = String::from_utf8_lossy(&complained);
    if let Ok(report) = RawValue::from_string(compact(&text)) {
        if status.code() == Some(BUG) {
            log.event(&brief(complaint.trim()));
        }
        return Ok(report);
    }
    // The command line says what is wrong, then what would be right, then how to get help.
    let lines = complaint.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let complaint = lines.collect::<Vec<_>>().join(" ");
    let complaint = complaint.trim_start_matches("error: ");
    match status.code() {
        // A word that the command line does not know.
        Some(2) if !complaint.is_empty() => Err(Fault::params(complaint)),
        _ => Err(Fault::new(Fault::CHILD, format!("the check ended with {status}: {}", brief(complaint)))),
    }
}

/// Waits until a process holds more than so many bytes; for ever, where the system does not tell.
async fn grows_beyond(id: Option<u32>, most: u64) {
    /// What the kernel counts in, on all machines where this file exists.
    const PAGE: u64 = 4096;
    loop {
        tokio::time::sleep(PULSE).await;
        let Some(id) = id else { continue };
        let Ok(text) = std::fs::read_to_string(format!("/proc/{id}/statm")) else { continue };
        let resident = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
        if resident.is_some_and(|pages| pages.saturating_mul(PAGE) > most) {
            return;
        }
    }
}

/// JSON in one line: without the space between its parts.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut is_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        if is_string {
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            is_string = c == '"';
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn reports_in_one_line() {
        let rows = [
            ("{\n  \"a\" : [1, 2]\n}\n",      r#"{"a":[1,2]}"#),
            (r#"{"a b": "c  d"}"#,            r#"{"a b":"c  d"}"#),
            (r#"[ "\" x", "\\", " y" ]"#,     r#"["\" x","\\"," y"]"#),
        ];
        for (text, expected) in rows {
            assert_eq!(compact(text), expected);
        }
    }
}
