//! `masque watch`: checks files again whenever they change.
//!
//! A check runs on a thread of its own, while this one waits for changes. Events of the file system only wake it
//! up; whether a file changed is decided by its [`Stamp`]. So editors that save by renaming, files that are
//! deleted and created again, and file systems without events are all handled in the same way. Folders are
//! watched, not files, because a file that is replaced is another one to the system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail};
use masque_driver::OrderChoice;
use masque_report::{RunReport, changes};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::check::{Checked, check_files};
use crate::args::{CheckArgs, CheckFormat, EvidenceAs, WatchArgs};
use crate::safe_writer::SafeWriter;
use crate::{Context, Exit};

/// Time without a further change after which a check begins: saving a file may be several events.
const QUIET_TIME: Duration = Duration::from_millis(100);
/// Time after the first change after which a check begins, even if changes go on.
const MAX_WAIT: Duration = Duration::from_millis(500);
/// Time between two looks at the files, for file systems without events.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Time between two looks at the check and at the interrupt flag.
const TICK: Duration = Duration::from_millis(20);
/// Stack of the thread that runs a check, in bytes.
const STACK_BYTES: usize = 16 << 20;
/// Clears the screen and its history, and moves the cursor to its beginning.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

/// `watch FILE..`: checks, and waits for a change, until it is interrupted.
pub fn watch(
    args: &WatchArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let args = &args.check;
    refuse(args)?;
    let mut files = Files::new(named_files(args));
    let mut last: Option<Vec<RunReport>> = None;
    loop {
        files.look();
        let Some(done) = check_until_changed(args, context, &mut files)? else {
            if context.interrupt.load(Ordering::Relaxed) {
                return Ok(Exit::Interrupted);
            }
            files.settle();
            continue;
        };
        let Finished { report, errors, result } = done;
        if io::stdout().is_terminal() {
            write!(out, "{CLEAR}")?;
        }
        out.write_all(&report)?;
        err.write_all(&errors)?;
        let out: &mut dyn Write = &mut SafeWriter::new(out, context.text.color);
        match result {
            // The arguments stay as they are, so an error that is there from the beginning would never go away.
            Err(error) if last.is_none() => return Err(error),
            Err(error) => writeln!(out, "error: {error:#}")?,
            Ok(checked) => {
                files.add(&checked.files);
                if let Some(last) = &last {
                    writeln!(out)?;
                    let is_several = checked.reports.len() > 1;
                    context.text.changes(out, &changes(last, &checked.reports), is_several)?;
                }
                last = Some(checked.reports);
            }
        }
        let n_files = files.stamps.len();
        writeln!(out, "watching {n_files} {}; Ctrl-C ends", if n_files == 1 { "file" } else { "files" })?;
        out.flush()?;
        if !files.wait(&context.interrupt) {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Refuses options of `check` that do not suit a report that is written again and again.
fn refuse(args: &CheckArgs) -> anyhow::Result<()> {
    if args.files.iter().any(|path| path == Path::new("-")) {
        bail!("standard input cannot be watched; give a file");
    }
    if args.format != CheckFormat::Text {
        bail!("`masque watch` writes its report as text; `masque check` has other formats");
    }
    if args.evidence_format != EvidenceAs::Text && args.evidence_out.is_none() {
        bail!(
            "`masque watch` writes evidence in other formats than text only to a file: add `--evidence-out FILE`"
        );
    }
    Ok(())
}

/// The files that the command line names.
fn named_files(args: &CheckArgs) -> Vec<PathBuf> {
    let model = &args.question.model;
    let mut files = [args.files.as_slice(), model.property_files.as_slice()].concat();
    if let OrderChoice::File(path) = &args.work.order {
        files.push(path.clone());
    }
    files
}

/// A check that ended, with its output.
struct Finished {
    report: Vec<u8>,
    errors: Vec<u8>,
    result: anyhow::Result<Checked>,
}

/// Checks the files. Returns nothing if a file changed meanwhile, or after an interrupt; then the check is stopped.
fn check_until_changed(
    args: &CheckArgs,
    context: &Context,
    files: &mut Files,
) -> anyhow::Result<Option<Finished>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let inner = Context { interrupt: Arc::clone(&cancel), ..context.clone() };
    thread::scope(|scope| {
        let work = || check_quietly(args, &inner);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = thread.context("cannot start a thread")?;
        let is_stopped = !files.wait_beside(&thread, &context.interrupt);
        cancel.store(is_stopped, Ordering::Relaxed);
        let finished = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok((!is_stopped).then_some(finished))
    })
}

/// Checks the files and keeps the output.
fn check_quietly(args: &CheckArgs, context: &Context) -> Finished {
    let (mut report, mut errors) = (Vec::new(), Vec::new());
    let has_color = context.text.color;
    let (out, err) =
        (&mut SafeWriter::new(&mut report, has_color), &mut SafeWriter::new(&mut errors, has_color));
    let result = check_files(args, context, out, err);
    Finished { report, errors, result }
}

/// What shows whether a file changed: its time of change, its size and its identity; none if there is no file.
type Stamp = Option<(Option<SystemTime>, u64, u64)>;

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let identity = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let identity = 0;
    Some((metadata.modified().ok(), metadata.len(), identity))
}

/// The watched files.
struct Files {
    /// The stamps when the last check began.
    stamps: BTreeMap<PathBuf, Stamp>,
    /// Time at which the last check began.
    start: SystemTime,
    /// Whether a file changed before it was watched.
    is_changed: bool,
    /// Folders that are watched.
    folders: BTreeSet<PathBuf>,
    /// The source of events; none if the system has none to offer, or no more.
    watcher: Option<RecommendedWatcher>,
    events: Receiver<()>,
}

impl Files {
    fn new(files: Vec<PathBuf>) -> Files {
        // Only the fact that something happened is of interest, so one event waits for any number.
        let (sender, events) = sync_channel(1);
        let handle = move |event: notify::Result<Event>| {
            if !event.is_ok_and(|event| event.kind.is_access()) {
                _ = sender.try_send(());
            }
        };
        let watcher = notify::recommended_watcher(handle).ok();
        let (stamps, folders) = (BTreeMap::new(), BTreeSet::new());
        let mut all = Files { stamps, start: SystemTime::now(), is_changed: false, folders, watcher, events };
        all.add(&files);
        all
    }

    /// Takes the stamps of all files, before a check.
    fn look(&mut self) {
        while self.events.try_recv().is_ok() {}
        self.start = SystemTime::now();
        self.is_changed = false;
        self.stamps.iter_mut().for_each(|(path, known)| *known = stamp(path));
        self.watch_folders();
    }

    /// Adds files that a check has read. What was changed after the check began may have been read too early.
    fn add(&mut self, files: &[PathBuf]) {
        for path in files.iter().filter(|path| !path.as_os_str().is_empty()) {
            if !self.stamps.contains_key(path) {
                let new = stamp(path);
                self.is_changed |= new.and_then(|(time, ..)| time).is_some_and(|time| time > self.start);
                self.stamps.insert(path.clone(), new);
            }
        }
        self.watch_folders();
    }

    /// Watches the folders of all files, and again those that were deleted and created.
    fn watch_folders(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        self.folders.retain(|folder| folder.is_dir());
        for path in self.stamps.keys() {
            let folder = match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            // A folder that cannot be watched is looked at from time to time, as all are.
            if !self.folders.contains(folder) && watcher.watch(folder, RecursiveMode::NonRecursive).is_ok() {
                self.folders.insert(folder.to_path_buf());
            }
        }
    }

    fn is_changed(&self) -> bool {
        self.is_changed || self.stamps.iter().any(|(path, known)| stamp(path) != *known)
    }

    /// Waits for a change while a check runs. Returns whether the check ended before one.
    fn wait_beside<T>(&self, thread: &ScopedJoinHandle<'_, T>, interrupt: &AtomicBool) -> bool {
        let mut last_look = Instant::now();
        loop {
            if thread.is_finished() {
                return !interrupt.load(Ordering::Relaxed);
            }
            if interrupt.load(Ordering::Relaxed) || self.has_change_within(TICK, &mut last_look) {
                return false;
            }
        }
    }

    /// Waits until files have changed and the changes are over. Returns false after an interrupt.
    fn wait(&self, interrupt: &AtomicBool) -> bool {
        let mut last_look = Instant::now();
        while !self.is_changed && !self.has_change_within(TICK, &mut last_look) {
            if interrupt.load(Ordering::Relaxed) {
                return false;
            }
        }
        self.settle();
        !interrupt.load(Ordering::Relaxed)
    }

    /// Waits until changes are over, but not longer than the maximum.
    fn settle(&self) {
        let first = Instant::now();
        while first.elapsed() < MAX_WAIT && self.events.recv_timeout(QUIET_TIME).is_ok() {}
    }

    /// Waits for an event for a while. Looks at the files after an event, and from time to time.
    fn has_change_within(&self, time: Duration, last_look: &mut Instant) -> bool {
        let is_event = match self.events.recv_timeout(time) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(time);
                false
            }
        };
        if !is_event && last_look.elapsed() < POLL_INTERVAL {
            return false;
        }
        *last_look = Instant::now();
        self.is_changed()
    }
}
