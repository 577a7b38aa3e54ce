//! Files that are watched for changes, for `masque watch` and `masque explore`.
//!
//! Events of the file system only wake up the thread that waits; whether a file changed is decided by its [`Stamp`].
//! So editors that save by renaming, files that are deleted and created again, and file systems without events are
//! all handled in the same way. Folders are watched, not files, because a file that is replaced is another one to the
//! system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant, SystemTime};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

/// Time without a further change after which a check begins: saving a file may be several events.
const QUIET_TIME: Duration = Duration::from_millis(100);
/// Time after the first change after which a check begins, even if changes go on.
const MAX_WAIT: Duration = Duration::from_millis(500);
/// Time between two looks at the files, for file systems without events.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Time between two looks at the check and at the interrupt flag.
const TICK: Duration = Duration::from_millis(20);

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
pub(super) struct ChangedFiles {
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

impl ChangedFiles {
    pub(super) fn new(files: Vec<PathBuf>) -> ChangedFiles {
        // Only the fact that something happened is of interest, so one event waits for any number.
        let (sender, events) = sync_channel(1);
        let handle = move |event: notify::Result<Event>| {
            if !event.is_ok_and(|event| event.kind.is_access()) {
                _ = sender.try_send(());
            }
        };
        // The library starts a thread and panics if the system refuses it.
        let has_thread = thread::Builder::new().spawn(|| ()).is_ok_and(|thread| thread.join().is_ok());
        let watcher = has_thread.then(|| notify::recommended_watcher(handle).ok()).flatten();
        let (stamps, folders) = (BTreeMap::new(), BTreeSet::new());
        let mut all =
            ChangedFiles { stamps, start: SystemTime::now(), is_changed: false, folders, watcher, events };
        all.add(&files);
        all
    }

    /// Takes the stamps of all files, before a check.
    pub(super) fn look(&mut self) {
        while self.events.try_recv().is_ok() {}
        self.start = SystemTime::now();
        self.is_changed = false;
        self.stamps.iter_mut().for_each(|(path, known)| *known = stamp(path));
        self.watch_folders();
    }

    /// Adds files that a check has read. What was changed after the check began may have been read too early.
    pub(super) fn add(&mut self, files: &[PathBuf]) {
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

    /// The number of watched files.
    pub(super) fn len(&self) -> usize {
        self.stamps.len()
    }

    /// Waits for a change, but not longer than a while. Returns whether there was one.
    pub(super) fn wait_for_a_while(&self, interrupt: &AtomicBool) -> bool {
        let (start, mut last_look) = (Instant::now(), Instant::now());
        let mut is_changed = self.is_changed;
        while !is_changed && start.elapsed() < MAX_WAIT && !interrupt.load(Ordering::Relaxed) {
            is_changed = self.has_change_within(TICK, &mut last_look);
        }
        if is_changed {
            self.settle();
        }
        is_changed
    }

    fn is_changed(&self) -> bool {
        self.is_changed || self.stamps.iter().any(|(path, known)| stamp(path) != *known)
    }

    /// Waits for a change while a check runs. Returns whether the check ended before one.
    pub(super) fn wait_beside<T>(&self, thread: &ScopedJoinHandle<'_, T>, interrupt: &AtomicBool) -> bool {
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
    pub(super) fn wait(&self, interrupt: &AtomicBool) -> bool {
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
    pub(super) fn settle(&self) {
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
