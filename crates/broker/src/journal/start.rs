//! The folder of the journal: its lock, its first file, and the sessions that are restored from it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::frames::{End, append, extents, frame, header, read};
use super::index::Index;
use super::record::{Record, RestoreLimits, restored, shown};
use super::writer::Writer;
use super::{Journal, Unsaved};
use crate::limits::Limits;
use crate::log::{Level, Log};
use crate::pool::STACK_SIZES;
use crate::sessions::Sessions;

/// Name of the file with the records.
const JOURNAL_FILE: &str = "journal";
/// Name of the file whose lock shows that a service uses the folder.
const LOCK_FILE: &str = "lock";
/// Time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Opens the journal in a folder, restores its sessions, and starts its thread.
///
/// # Errors
///
/// If another service uses the folder, if the journal is damaged or has another version, if a session cannot be
/// restored, or if the limits do not admit all sessions.
pub(crate) fn start(folder: &Path, sessions: &Sessions, limits: &Limits, log: Log) -> io::Result<Journal> {
    let (orders, receiver) = channel();
    let session = masque_lcc::Limits { states: Some(limits.states), memory: Some(limits.memory) };
    let restore_limits = RestoreLimits { session, time: limits.time };
    let journal = Journal { orders, limits: restore_limits, log };
    let lock = locked(folder)?;
    let mut writer = opened(folder, log)?;
    with_large_stack(|| restore(&mut writer, sessions, restore_limits, folder, log))??;
    if writer.has_dead_records() {
        writer.rewrite();
    }
    let run = move || run(writer, &receiver, lock);
    Builder::new().name("journal".to_string()).spawn(run)?;
    Ok(journal)
}

/// Executes orders until the service ends; the folder is locked as long.
fn run(writer: Writer, orders: &Receiver<super::Order>, lock: File) {
    writer.run(orders);
    drop(lock);
}

/// Creates the folder, unless it exists, and locks it.
fn locked(folder: &Path) -> io::Result<File> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| named(folder, &error))?;
    let path = folder.join(LOCK_FILE);
    let file = options().truncate(false).open(&path).map_err(|error| named(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another `masque broker` uses the folder {}", shown(folder));
            Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
        }
        Err(TryLockError::Error(error)) => Err(named(&path, &error)),
    }
}

/// Options to create a file that only its owner may read.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file that only its owner may read. An existing file is emptied.
pub(super) fn create(path: &Path) -> io::Result<File> {
    options().truncate(true).open(path)
}

/// Makes a new name of a file durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Opens the file of the journal, and creates it if there is none. A torn end is cut off.
pub(super) fn opened(folder: &Path, log: Log) -> io::Result<Writer> {
    let path = folder.join(JOURNAL_FILE);
    // A rewrite was not finished.
    _ = fs::remove_file(path.with_extension("new"));
    let error = |error: io::Error| named(&path, &error);
    let file = match OpenOptions::new().read(true).write(true).open(&path) {
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => create_journal(&path).map_err(error)?,
        other => other.map_err(error)?,
    };
    let mut index = Index::default();
    let End { valid, torn } =
        read(&path, &file, |offset, records| add_records(&path, &mut index, offset, records))?;
    if torn > 0 {
        file.set_len(valid).and_then(|()| file.sync_all()).map_err(error)?;
        let message = format!(
            "{} ended in an incomplete record, which is cut off: {torn} bytes from byte {valid} on",
            shown(&path)
        );
        log.report(
            Level::Warning,
            "torn-record",
            &message,
            &[("bytes", torn.into()), ("offset", valid.into())],
        );
    }
    Ok(Writer::new(path, file, valid, index, log))
}

/// Creates a journal without records, at once or not at all.
fn create_journal(path: &Path) -> io::Result<File> {
    let new_path = path.with_extension("new");
    let mut file = create(&new_path)?;
    let count = Record::Count { opened: 0 }.line().map_err(io::Error::other)?;
    append(&mut file, 0, &[header(), frame(&count)?].concat())?;
    file.sync_all()?;
    fs::rename(&new_path, path)?;
    sync_folder(path)?;
    Ok(file)
}

/// Adds the records of a frame to the index.
fn add_records(path: &Path, index: &mut Index, offset: u64, records: &[u8]) -> io::Result<()> {
    for (extent, line) in extents(offset, records) {
        let refused = |why: &str| {
            let (path, at) = (shown(path), extent.offset);
            let message = format!("{path} has a record at byte {at} that this program cannot use: {why}");
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let record = Record::parse(line).map_err(|why| refused(&why))?;
        if !index.accepts(record.session(), record.kind()) {
            return Err(refused("its session is not open, or is opened twice"));
        }
        index.add(record.session(), record.kind(), extent);
    }
    Ok(())
}

/// Restores all sessions.
fn restore(
    writer: &mut Writer,
    sessions: &Sessions,
    limits: RestoreLimits,
    folder: &Path,
    log: Log,
) -> io::Result<()> {
    let names: Vec<String> = writer.index().sessions().cloned().collect();
    sessions.set_count(writer.index().opened);
    let mut reported = Instant::now();
    for (n_restored, name) in names.iter().enumerate() {
        if reported.elapsed() >= REPORT_INTERVAL {
            reported = Instant::now();
            report(log, "restoring", n_restored, names.len());
        }
        let lines = writer.read(name).map_err(|why: Unsaved| io::Error::other(why.to_string()))?;
        let session = restored(&lines, limits).map_err(|why| unrestored(name, folder, &why))?;
        sessions.restore(name, session).map_err(|fault| unrestored(name, folder, &fault.message))?;
    }
    if !names.is_empty() {
        report(log, "restored", names.len(), names.len());
    }
    Ok(())
}

fn report(log: Log, event: &'static str, n_restored: usize, n_sessions: usize) {
    let message = format!("{n_restored} of {n_sessions} session(s) restored");
    let fields = [("restored", n_restored.into()), ("sessions", n_sessions.into())];
    log.report(Level::Info, event, &message, &fields);
}

fn unrestored(session: &str, folder: &Path, why: &str) -> io::Error {
    let folder = shown(folder);
    let message = format!(
        "session {session} cannot be restored from {folder}: {why}. Nothing was changed. Use the version and the limits \
         of the service that saved it, or give another folder to start without sessions"
    );
    io::Error::other(message)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", shown(path)))
}

/// Runs work on a thread with a large stack, because terms may be deeply nested.
fn with_large_stack<T: Send>(mut work: impl FnMut() -> T + Send) -> io::Result<T> {
    let mut last = None;
    for size in STACK_SIZES {
        let ended = std::thread::scope(|scope| {
            let thread = Builder::new().stack_size(size).spawn_scoped(scope, &mut work);
            thread.map(std::thread::ScopedJoinHandle::join)
        });
        match ended {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(_)) => {
                return Err(io::Error::other("a session cannot be restored: this is a bug in Masque"));
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("no thread can be started")))
}

/// The file with the records in a folder.
#[cfg(test)]
pub(super) fn journal_path(folder: &Path) -> std::path::PathBuf {
    folder.join(JOURNAL_FILE)
}
