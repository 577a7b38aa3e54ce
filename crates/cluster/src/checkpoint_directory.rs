//! The directory of a checkpoint: which files in it are ours, and the lock that keeps other runs out.
//!
//! The supervisor names the directory, and may be on another machine. So a worker writes and removes files
//! only in a directory that is new, empty, or contains a checkpoint, and only files with the names of its
//! own parts.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::manifest::{MANIFEST_NAME, is_manifest};

/// What the name of a lock begins with. Each worker has one, which also marks the directory as ours.
const LOCK_START: &str = "masque-worker-";
/// What the name of a lock ends with.
const LOCK_END: &str = ".lock";
/// The workers of a run that has just ended may hold their locks for this time.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two attempts to lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// A directory that this worker may use.
pub(crate) struct CheckpointDirectory {
    path: PathBuf,
    index: usize,
    /// The lock, which ends with the process. `None` if the file system has no locks.
    _lock: Option<File>,
}

/// Why a worker does not use a directory.
#[derive(Debug)]
pub(crate) enum DirectoryError {
    /// It cannot be created, read or written.
    Io(io::Error),
    /// It contains other files and no checkpoint.
    Foreign,
    /// Another run uses it.
    InUse,
}

impl From<io::Error> for DirectoryError {
    fn from(error: io::Error) -> DirectoryError {
        DirectoryError::Io(error)
    }
}

impl CheckpointDirectory {
    /// Creates the directory if necessary, and locks it for worker `index` of this run.
    pub(crate) fn claim(path: &Path, index: usize) -> Result<CheckpointDirectory, DirectoryError> {
        fs::create_dir_all(path)?;
        if !is_ours(path)? {
            return Err(DirectoryError::Foreign);
        }
        let lock = path.join(format!("{LOCK_START}{index}{LOCK_END}"));
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(lock)?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        let has_lock = loop {
            match file.try_lock() {
                Ok(()) => break true,
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => break false,
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(DirectoryError::InUse);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_INTERVAL),
            }
        };
        Ok(CheckpointDirectory { path: path.to_path_buf(), index, _lock: has_lock.then_some(file) })
    }

    /// Returns the path of the manifest.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.path.join(MANIFEST_NAME)
    }

    /// Returns the path of a part of this worker.
    pub(crate) fn part(&self, kind: &str, number: u64) -> PathBuf {
        self.path.join(format!("{kind}-{}-{number}.part", self.index))
    }

    /// Removes the parts of this worker that are not listed. A file that cannot be removed does no harm.
    pub(crate) fn remove_parts_except(&self, listed: &[PathBuf]) {
        for file in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let is_part = file.file_name().to_str().is_some_and(|name| is_part(name, self.index));
            if is_part && !listed.contains(&file.path()) {
                _ = fs::remove_file(file.path());
            }
        }
    }
}

/// Whether a directory is empty, or contains a lock or a manifest.
fn is_ours(path: &Path) -> io::Result<bool> {
    let mut is_empty = true;
    for file in fs::read_dir(path)? {
        is_empty = false;
        let file = file?;
        let name = file.file_name();
        let name = name.to_str().unwrap_or_default();
        if is_lock(name) || (name == MANIFEST_NAME && is_manifest(&file.path())) {
            return Ok(true);
        }
    }
    Ok(is_empty)
}

fn is_lock(name: &str) -> bool {
    name.strip_prefix(LOCK_START).and_then(|rest| rest.strip_suffix(LOCK_END)).is_some_and(is_number)
}

/// Whether this is the name of a part of a worker: `states-INDEX-NUMBER.part`, or `.tmp` while it is written.
fn is_part(name: &str, index: usize) -> bool {
    let rest = ["states", "labels"].iter().find_map(|kind| name.strip_prefix(kind));
    let number = rest.and_then(|rest| rest.strip_prefix(&format!("-{index}-")));
    let number = number.and_then(|rest| rest.strip_suffix(".part").or(rest.strip_suffix(".tmp")));
    number.is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts() {
        for name in ["states-1-7.part", "labels-1-12.part", "states-1-9999.tmp"] {
            assert!(is_part(name, 1) && !is_part(name, 2), "{name}");
        }
        for name in ["states-1-.part", "states-1-x.part", "states-1-7", "states-1-7.txt", "states.part", ""] {
            assert!(!is_part(name, 1), "{name}");
        }
    }

    #[test]
    fn only_our_parts_in_our_directories() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = folder.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        for name in ["states-0-1.part", "notes.txt", "masque-worker-x.lock"] {
            fs::write(foreign.join(name), "text").unwrap();
        }
        fs::write(foreign.join(MANIFEST_NAME), "{\"format\": \"another\"}").unwrap();
        assert!(matches!(CheckpointDirectory::claim(&foreign, 0), Err(DirectoryError::Foreign)));
        assert_eq!(fs::read_dir(&foreign).unwrap().count(), 4);

        let new = folder.path().join("some/new");
        let directory = CheckpointDirectory::claim(&new, 0).unwrap();
        let names =
            ["states-0-1.part", "states-0-2.part", "labels-0-3.tmp", "states-0-old", "states-1-1.part"];
        for name in names {
            fs::write(new.join(name), "text").unwrap();
        }
        directory.remove_parts_except(&[directory.part("states", 2)]);
        let is_kept = names.map(|name| new.join(name).exists());
        assert_eq!(is_kept, [false, true, false, true, true]);
    }

    #[test]
    fn a_directory_is_used_by_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let first = CheckpointDirectory::claim(folder.path(), 0).unwrap();
        // Another worker of the run.
        CheckpointDirectory::claim(folder.path(), 1).unwrap();
        assert!(matches!(CheckpointDirectory::claim(folder.path(), 0), Err(DirectoryError::InUse)));
        drop(first);
        CheckpointDirectory::claim(folder.path(), 0).unwrap();
    }
}
