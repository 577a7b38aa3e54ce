//! Checks in child processes.
//!
//! Only ending its process reliably stops an engine. So a check runs `masque check` on copies of the texts, which
//! include what is not saved. The process ends when its time is over, when the user cancels, or when the server ends,
//! because its standard input ends then. A child that crashes is a message.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cache_limits;
use crate::findings::{Finding, read_findings};
use crate::verdicts::{PropertyVerdict, read_extents, read_report};

/// Time after its time limit that a process may take to write its report.
const MAX_REPORT_DELAY: Duration = Duration::from_secs(2);
/// Time between two looks at a process.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum bytes of a report.
const MAX_REPORT_BYTES: u64 = 256 << 20;
/// Maximum bytes of error output that are read.
const MAX_ERROR_BYTES: u64 = 64 << 10;
/// Beginning of the names of temporary folders, which `masque broker` removes if a server was killed.
const FOLDER_PREFIX: &str = "masque-broker-lsp-";
/// Name of the lock file in a folder. A folder whose lock is free is left over.
const LOCK_FILE: &str = ".lock";

/// What is asked of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The verdicts.
    Check,
    /// The verdicts, with evidence for each.
    Why,
    /// The verdicts, and then a simulation of the counterexample.
    Simulate,
}

/// A check to run.
#[derive(Clone, Debug)]
pub struct CheckTask {
    /// Number of the check, for its progress.
    pub(crate) id: i32,
    /// First file of the model.
    pub(crate) root: PathBuf,
    /// All texts of the model.
    pub(crate) texts: Vec<(PathBuf, String)>,
    /// Positions of the properties; all if there are none.
    pub(crate) positions: Vec<usize>,
    pub(crate) question: Question,
    /// The `masque` executable.
    pub(crate) program: PathBuf,
    pub(crate) time_limit: Duration,
    /// Megabytes.
    pub(crate) memory_limit: u64,
    /// Engine for ISPL; none for other languages.
    pub(crate) engine: Option<String>,
    /// Folder for pages with evidence and for reports.
    pub(crate) evidence_folder: Option<PathBuf>,
    pub(crate) cancel: Arc<AtomicBool>,
}

/// The result of a check, or a part of it.
#[derive(Clone, Debug)]
pub struct CheckDone {
    pub(crate) id: i32,
    pub(crate) root: PathBuf,
    pub(crate) question: Question,
    pub(crate) positions: Vec<usize>,
    pub(crate) result: CheckResult,
}

/// What a check found.
#[derive(Clone, Debug)]
pub(crate) enum CheckResult {
    /// The verdicts, and the files with evidence.
    Verdicts {
        verdicts: Vec<PropertyVerdict>,
        findings: Vec<Finding>,
        page: Option<PathBuf>,
        report: Option<PathBuf>,
    },
    /// At how many states the properties are true.
    Extents(Vec<Option<String>>),
    /// The model has errors.
    Errors(Vec<String>),
    /// The check was cancelled.
    Cancelled,
    /// The check failed: a crash, or no process.
    Failed(String),
    /// The check has ended; nothing follows.
    End,
}

impl CheckTask {
    /// Runs the check and passes on its results; the last one is [`CheckResult::End`].
    pub fn run(&self, report: &mut dyn FnMut(CheckDone)) {
        let mut send = |result: CheckResult| {
            let (id, root, positions) = (self.id, self.root.clone(), self.positions.clone());
            report(CheckDone { id, root, question: self.question, positions, result });
        };
        match self.check(&mut send) {
            Ok(()) => {}
            Err(_) if self.cancel.load(Ordering::Relaxed) => send(CheckResult::Cancelled),
            Err(message) => send(CheckResult::Failed(message)),
        }
        send(CheckResult::End);
    }

    fn check(&self, send: &mut dyn FnMut(CheckResult)) -> Result<(), String> {
        let start = Instant::now();
        let folder =
            TextFolder::new(&self.texts).map_err(|error| format!("cannot write the texts: {error}"))?;
        let page = self.evidence_folder.as_ref().map(|into| into.join(format!("check-{}.html", self.id)));
        let report = page.as_ref().map(|page| page.with_extension("json"));
        if let Some(page) = &page {
            // Without a page there are still verdicts.
            _ = fs::create_dir_all(page.parent().unwrap_or(Path::new("")));
            _ = fs::remove_file(page);
        }
        if let Some(all) = self.evidence_folder.as_ref().and_then(|folder| folder.parent()) {
            cache_limits::EVIDENCE.enforce(all);
        }
        let mut arguments: Vec<OsString> = vec!["check".into(), "--format=json".into()];
        arguments.extend(["--end-with-input".into(), "--remove-folder".into(), folder.path.clone().into()]);
        arguments
            .push(if self.question == Question::Why { "--evidence=all" } else { "--evidence=failed" }.into());
        if let Some(page) = page.as_ref().filter(|page| page.parent().is_some_and(Path::is_dir)) {
            arguments.extend(["--evidence-format=html".into(), "--evidence-out".into(), page.into()]);
        }
        let only = |position: &usize| format!("--only={position}").into();
        arguments.extend(self.positions.iter().map(only));
        let output = self.child(&folder, arguments, self.time_limit)?;
        let value: Value = serde_json::from_str(&output.text).map_err(|_| output.failure())?;
        let (verdicts, errors) = read_report(&value).ok_or_else(|| output.failure())?;
        if verdicts.is_empty() && !errors.is_empty() {
            send(CheckResult::Errors(errors));
            return Ok(());
        }
        let report = report.filter(|report| fs::write(report, &output.text).is_ok());
        let page = page.filter(|page| page.is_file());
        let needs_extents = self.engine.is_some() && verdicts.iter().any(|verdict| verdict.states.is_none());
        send(CheckResult::Verdicts { verdicts, findings: read_findings(&value), page, report });
        let time_left = self.time_limit.saturating_sub(start.elapsed());
        if needs_extents && time_left > Duration::from_millis(200) {
            self.extents(&folder, time_left, send);
        }
        Ok(())
    }

    /// Counts the states at which the properties are true. A failure leaves the verdicts without counts.
    fn extents(&self, folder: &TextFolder, time: Duration, send: &mut dyn FnMut(CheckResult)) {
        let mut arguments: Vec<OsString> =
            vec!["why".into(), "--format=json".into(), "--end-with-input".into()];
        let only = |position: &usize| format!("--only={position}").into();
        arguments.extend(self.positions.iter().map(only));
        let output = self.child(folder, arguments, time);
        let report = output.ok().and_then(|output| serde_json::from_str::<Value>(&output.text).ok());
        if let Some(report) = report {
            send(CheckResult::Extents(read_extents(&report)));
        }
    }

    /// Runs the program in the folder until it ends or must end.
    fn child(
        &self,
        folder: &TextFolder,
        mut arguments: Vec<OsString>,
        time: Duration,
    ) -> Result<Output, String> {
        arguments.push(format!("--timeout={}ms", time.as_millis().max(1)).into());
        arguments.push(format!("--memory={}M", self.memory_limit.max(1)).into());
        arguments.extend(self.engine.iter().map(|engine| format!("--engine={engine}").into()));
        arguments.extend(["--".into(), folder.file(&self.root).into_os_string()]);
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&folder.path).env("NO_COLOR", "1").env_remove("GITHUB_ACTIONS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child =
            command.spawn().map_err(|error| format!("cannot start `{}`: {error}", self.program.display()))?;
        let mut child = Killed(child);
        // The process ends when its input does, so the input stays open until the process has ended.
        let _input = child.0.stdin.take();
        let text = read_on_thread(child.0.stdout.take(), MAX_REPORT_BYTES);
        let errors = read_on_thread(child.0.stderr.take(), MAX_ERROR_BYTES);
        let end = Instant::now() + time + MAX_REPORT_DELAY;
        let status = loop {
            match child.0.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if self.cancel.load(Ordering::Relaxed) => {
                    return Err("the check was cancelled".to_string());
                }
                None if Instant::now() >= end => {
                    return Err(format!("the check exceeded its time limit of {} s", time.as_secs_f64()));
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        };
        let joined = |thread: Option<std::thread::JoinHandle<String>>| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        Ok(Output { text: joined(text), errors: joined(errors), status: status.to_string() })
    }
}

/// What a process wrote.
struct Output {
    text: String,
    errors: String,
    status: String,
}

impl Output {
    fn failure(&self) -> String {
        let first = self.errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
        let first = first.trim_start_matches("error: ");
        format!("the check ended with {}{}{first}", self.status, if first.is_empty() { "" } else { ": " })
    }
}

/// A process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn read_on_thread(
    stream: Option<impl Read + Send + 'static>,
    max_bytes: u64,
) -> Option<std::thread::JoinHandle<String>> {
    let stream = stream?;
    let read = move || {
        let mut bytes = Vec::new();
        // What was read before an error is reported.
        _ = stream.take(max_bytes).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    std::thread::Builder::new().name("check-output".to_string()).spawn(read).ok()
}

/// A temporary folder with copies of texts, until it is dropped.
struct TextFolder {
    path: PathBuf,
    /// Folder that contains all files of the model; copies have the same relative paths.
    base: PathBuf,
    _lock: File,
}

impl TextFolder {
    fn new(texts: &[(PathBuf, String)]) -> io::Result<TextFolder> {
        let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir()?;
        let lock = File::create_new(folder.path().join(LOCK_FILE))?;
        lock.try_lock()?;
        let base = common_folder(texts.iter().map(|(path, _)| path.as_path()));
        let folder = TextFolder { path: folder.keep(), base, _lock: lock };
        for (path, text) in texts {
            let copy = folder.path.join(folder.file(path));
            fs::create_dir_all(copy.parent().unwrap_or(&folder.path))?;
            fs::write(copy, text)?;
        }
        Ok(folder)
    }

    /// The path of a copy, relative to the folder.
    fn file(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.base).unwrap_or(path).to_path_buf()
    }
}

impl Drop for TextFolder {
    fn drop(&mut self) {
        // The process may be removing it, too.
        _ = fs::remove_dir_all(&self.path);
    }
}

/// The deepest folder that contains all files.
fn common_folder<'p>(mut paths: impl Iterator<Item = &'p Path>) -> PathBuf {
    let first = paths.next().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    paths.fold(first, |mut folder, path| {
        while !path.starts_with(&folder) {
            folder.pop();
        }
        folder
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_keep_their_relative_paths() {
        let texts =
            [("/m/main.ispl".into(), "main".to_string()), ("/m/parts/a.ispl".into(), "a".to_string())];
        let folder = TextFolder::new(&texts).unwrap();
        assert_eq!(fs::read_to_string(folder.path.join("parts/a.ispl")).unwrap(), "a");
        assert_eq!(folder.file(Path::new("/m/main.ispl")), Path::new("main.ispl"));
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists());
    }
}
