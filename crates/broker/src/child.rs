//! Child processes, each of which checks a model in any language.
//!
//! Only ending its process reliably stops an engine that builds a decision diagram. So a model is checked by the
//! `check` command of the `masque` executable. The process is killed when its time is over, when it uses too much
//! memory, when the call is cancelled, or when the client disconnects. Its files are in a temporary folder.
//!
//! If the service is killed, the standard input of the process ends. The process then removes its folder and ends,
//! and with it the processes that it has started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::fault::{Fault, brief};
use crate::limits::Limits;
use crate::log::{Level, Log};
use crate::protocol::{CheckModel, File};
use crate::service::Outcome;
use crate::ticket::Ticket;
use crate::work_folder::WorkFolder;

/// Time after its time limit that a process may take to write its report.
const MAX_REPORT_DELAY: Duration = Duration::from_secs(2);
/// Time between two measurements of a process's memory.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum bytes of a report.
const MAX_REPORT_BYTES: u64 = 64 << 20;
/// Maximum bytes of error output that are read.
const MAX_ERROR_BYTES: u64 = 64 << 10;
/// Exit code of a process that found a bug in Masque.
const BUG_EXIT_CODE: i32 = 101;
/// Bytes that a process may use besides the data that its engines count.
const EXTRA_BYTES: u64 = 128 << 20;

/// Child processes.
#[derive(Debug)]
pub(crate) struct Children {
    program: Option<PathBuf>,
    /// Folders that imports are read from, besides the folder of the model.
    roots: Vec<PathBuf>,
    log: Log,
    permits: Semaphore,
    max_waiting: usize,
    waiting: AtomicUsize,
    running: AtomicUsize,
}

/// A model to check, and the limits of the check.
pub(crate) struct Task {
    pub(crate) model: CheckModel,
    pub(crate) time: Duration,
    pub(crate) memory: u64,
}

/// Makes the command line of a child process from the path of its folder.
pub(crate) type ChildArguments = Box<dyn FnOnce(&Path) -> Vec<OsString> + Send>;

/// Work for a child process.
pub(crate) struct ChildWork {
    /// Files that the process finds in its working folder.
    pub(crate) files: Vec<File>,
    /// Its command line, for the path of that folder.
    pub(crate) arguments: ChildArguments,
    /// Time that it may take, from the moment it starts.
    pub(crate) time: Duration,
    /// Maximum bytes of the data that its engines count.
    pub(crate) memory: u64,
}

/// The result of a child process that ended by itself.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Children {
    /// Child processes that run this program; at most `limits.children` run at the same time.
    pub(crate) fn new(program: Option<PathBuf>, roots: Vec<PathBuf>, limits: &Limits, log: Log) -> Children {
        Children {
            program,
            roots,
            log,
            permits: Semaphore::new(limits.children),
            max_waiting: limits.queue,
            waiting: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
        }
    }

    /// The number of running processes.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Relaxed)
    }

    /// Checks a model. Cancelling the ticket or dropping the future ends the process.
    pub(crate) async fn check(self: Arc<Self>, task: Task, ticket: Arc<Ticket>) -> Outcome {
        let Task { model, time, memory } = task;
        let words = check_arguments(&model, (time, memory), &self.roots);
        let arguments = |folder: &Path| {
            let own = ["check", "--format=json", "--end-with-input", "--remove-folder"].map(OsString::from);
            own.into_iter().chain([folder.into()]).chain(words).collect()
        };
        let work = ChildWork { files: model.files, arguments: Box::new(arguments), time, memory };
        report(self.run(work, &ticket).await?, self.log)
    }

    /// Runs a child process to its end. Cancelling the ticket or dropping the future ends the process.
    pub(crate) async fn run(&self, work: ChildWork, ticket: &Ticket) -> Result<Ended, Fault> {
        let Some(program) = &self.program else {
            return Err(Fault::new(Fault::CHILD, "this service is not configured to check models"));
        };
        let waiting = Counted::new(&self.waiting);
        if self.waiting.load(Relaxed) > self.max_waiting {
            return Err(Fault::busy("children", self.max_waiting));
        }
        let _permit = tokio::select! {
            permit = self.permits.acquire() => permit.map_err(|_| Fault::stopping())?,
            () = ticket.cancelled() => return Err(Fault::cancelled()),
        };
        drop(waiting);
        let _running = Counted::new(&self.running);
        let ChildWork { files, arguments, time, memory } = work;
        let folder = WorkFolder::new(&files).map_err(|e| failed(&e))?;
        let arguments = arguments(folder.path());
        let mut child = command(program, folder.path(), arguments).spawn().map_err(|e| failed(&e))?;
        // The process ends when its input does, so its input is open until it has ended.
        let _input = child.stdin.take();
        tokio::select! {
            ended = ended(&mut child, memory) => ended,
            () = ticket.cancelled() => Err(Fault::cancelled()),
            () = tokio::time::sleep(time + MAX_REPORT_DELAY) => {
                let message = format!("the check exceeded its time limit of {} s", time.as_secs_f64());
                Err(Fault::limit("time", message))
            }
        }
        // In each case, dropping `child` kills the process, and dropping `folder` removes its files.
    }
}

/// Guard that increments a counter now and decrements it on drop.
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
    Fault::new(Fault::CHILD, format!("cannot start the check: {error}"))
}

fn command(program: &Path, folder: &Path, arguments: Vec<OsString>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("MASQUE_TOKEN").env("NO_COLOR", "1").kill_on_drop(true);
    command
}

/// The arguments of `check` for a model and its limits.
fn check_arguments(model: &CheckModel, (time, memory): (Duration, u64), roots: &[PathBuf]) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        vec![format!("--timeout={}ms", time.as_millis()).into(), format!("--memory={memory}B").into()];
    // Imports are searched in the texts of the call, then below the root folder.
    for root in std::iter::once(Path::new(".")).chain(roots.iter().map(PathBuf::as_path)) {
        words.extend(["--import-root".into(), root.into()]);
    }
    // Values from the client follow a `=`, so that they cannot be parsed as other options.
    let single = [
        ("engine", &model.engine),
        ("at", &model.at),
        ("strategies", &model.strategies),
        ("deadlock", &model.deadlock),
        ("overflow", &model.overflow),
        ("evidence", &model.evidence),
    ];
    words.extend(
        single.iter().filter_map(|(name, value)| Some(format!("--{name}={}", (*value).as_ref()?).into())),
    );
    words.extend(model.define.iter().map(|(name, value)| format!("--define={name}={value}").into()));
    words.extend(model.options.iter().map(|(name, value)| format!("--option={name}={value}").into()));
    words.extend(model.properties.iter().map(|formula| format!("--property={formula}").into()));
    words.push("--".into());
    words.extend(model.files.iter().map(|file| OsString::from(&file.name)));
    words
}

/// Reads the output of a process until it ends, unless it uses too much memory.
async fn ended(child: &mut Child, memory: u64) -> Result<Ended, Fault> {
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Fault::new(Fault::CHILD, "the check has no output"));
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (stdout.take(MAX_REPORT_BYTES), stderr.take(MAX_ERROR_BYTES));
    let reading = async { tokio::join!(stdout.read_to_end(&mut output), stderr.read_to_end(&mut errors)) };
    let id = child.id();
    tokio::select! {
        _ = reading => {}
        () = exceeds_memory(id, memory.saturating_mul(2).saturating_add(EXTRA_BYTES)) => {
            return Err(Fault::limit("memory", "the check exceeded its memory limit"));
        }
    }
    let status = child.wait().await.map_err(|e| failed(&e))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ended { status, output: text(&output), errors: text(&errors) })
}

/// The report of `check`. A bug that affects only evidence is logged; the verdicts are returned.
fn report(ended: Ended, log: Log) -> Outcome {
    let Ended { status, output, errors } = ended;
    if let Ok(report) = RawValue::from_string(compact(&output)) {
        if status.code() == Some(BUG_EXIT_CODE) {
            log.report(Level::Error, "bug", &brief(errors.trim()), &[]);
        }
        return Ok(report);
    }
    // The first paragraph of a usage error is the message; hints follow after a blank line.
    let lines = errors.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let message = lines.collect::<Vec<_>>().join(" ");
    let message = message.trim_start_matches("error: ");
    match status.code() {
        // The command line refused the value of an option.
        Some(2) if !message.is_empty() => Err(Fault::params(message)),
        _ => Err(Fault::new(Fault::CHILD, format!("the check ended with {status}: {}", brief(message)))),
    }
}

/// Waits until a process and the processes that it has started use more than `max_bytes` of memory together;
/// forever on systems without `/proc`.
async fn exceeds_memory(id: Option<u32>, max_bytes: u64) {
    loop {
        tokio::time::sleep(MEMORY_POLL_INTERVAL).await;
        if id.is_some_and(|id| resident_bytes(id) > max_bytes) {
            return;
        }
    }
}

/// The memory of a process and of its descendants, in bytes; 0 if it is unknown.
fn resident_bytes(process: u32) -> u64 {
    let mut processes = vec![process];
    let mut bytes = 0;
    let mut done = 0;
    while let Some(&process) = processes.get(done) {
        done += 1;
        bytes += own_bytes(process).unwrap_or(0);
        processes.extend(started_by(process));
    }
    bytes
}

/// The memory of a process, in bytes.
fn own_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = resident.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The processes that the threads of a process have started.
fn started_by(process: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// JSON in one line, without blanks between its parts.
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

    /// The memory of a process includes that of the processes it has started.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_of_a_process_tree() {
        let mut shell = std::process::Command::new("sh");
        let mut shell = shell.args(["-c", "sleep 30 & sleep 30 & wait"]).spawn().unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while started_by(shell.id()).len() < 2 {
            assert!(std::time::Instant::now() < end, "the processes do not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let (all, own, started) = (resident_bytes(shell.id()), own_bytes(shell.id()), started_by(shell.id()));
        for process in &started {
            std::process::Command::new("kill").arg(process.to_string()).status().unwrap();
        }
        shell.wait().unwrap();
        assert!(all > own.unwrap() && own.unwrap() > 0, "{all} {own:?}");
    }

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
