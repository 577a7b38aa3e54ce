//! The temporary folders of child processes. None outlives the service for long, even if it is killed.
//!
//! A folder has a lock file, which its owner holds locked. The system frees the lock when the owner ends, however
//! that happens, so a folder whose lock is free is left over. The child process that works in it removes it when
//! its input ends, and the next service that starts removes all that remain.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::protocol::File as ModelFile;

/// Beginning of the name of a folder whose lock was taken before it got this name.
const PREFIX: &str = "masque-broker-";
/// Beginning of the name of a folder whose lock may not be taken yet. It has no files of clients.
const NEW_PREFIX: &str = ".masque-broker-";
/// Name of the lock file. Files of models cannot have it.
const LOCK_FILE: &str = ".lock";
/// Age from which a folder without a lock is left over.
const MAX_LOCK_DELAY: Duration = Duration::from_secs(60);

/// A temporary folder with the files of a model, until it is dropped.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    path: PathBuf,
    _lock: File,
}

impl WorkFolder {
    /// Creates a folder with files, which only their owner may read.
    pub(crate) fn new(files: &[ModelFile]) -> io::Result<WorkFolder> {
        let new = tempfile::Builder::new().prefix(NEW_PREFIX).tempdir()?;
        let lock = File::create_new(new.path().join(LOCK_FILE))?;
        lock.try_lock()?;
        let folder = WorkFolder { path: renamed(new)?, _lock: lock };
        for file in files {
            let path = folder.path.join(&file.name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, &file.text)?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // The child process may be removing it, too.
        _ = fs::remove_dir_all(&self.path);
    }
}

/// Gives a new folder, whose lock is taken, its final name.
fn renamed(new: TempDir) -> io::Result<PathBuf> {
    let name = new.path().file_name().and_then(OsStr::to_str).unwrap_or_default();
    let path = new.path().with_file_name(name.trim_start_matches('.'));
    fs::rename(new.path(), &path)?;
    // It no longer has the name under which it would be removed.
    _ = new.keep();
    Ok(path)
}

/// Whether the name of a folder begins like this.
fn has_prefix(folder: &Path, prefix: &str) -> bool {
    folder.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(prefix))
}

/// Removes the temporary folder of a service, unless the service still exists. Returns whether the folder was
/// removed.
pub fn remove_abandoned_folder(folder: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(folder) else { return false };
    let is_abandoned = if has_prefix(folder, PREFIX) {
        File::open(folder.join(LOCK_FILE)).is_ok_and(|lock| lock.try_lock().is_ok())
    } else {
        has_prefix(folder, NEW_PREFIX) && is_old(&metadata)
    };
    metadata.is_dir() && is_abandoned && fs::remove_dir_all(folder).is_ok()
}

fn is_old(metadata: &Metadata) -> bool {
    let age = metadata.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    age.is_some_and(|age| age > MAX_LOCK_DELAY)
}

/// Removes the folders that services of the same user have left over, and returns their number.
pub(crate) fn sweep() -> usize {
    let Ok(own) = tempfile::tempfile().and_then(|file| file.metadata()) else { return 0 };
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return 0 };
    let folders = entries.flatten().map(|entry| entry.path());
    let folders = folders.filter(|path| has_prefix(path, PREFIX) || has_prefix(path, NEW_PREFIX));
    let is_own = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|other| is_same_user(&own, &other));
    folders.filter(is_own).filter(|path| remove_abandoned_folder(path)).count()
}

#[cfg(unix)]
fn is_same_user(own: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    own.uid() == other.uid()
}

#[cfg(not(unix))]
fn is_same_user(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_folders_are_removed() {
        let file = ModelFile { name: "m.ispl".to_string(), text: "Agent".to_string() };
        let folder = WorkFolder::new(&[file]).unwrap();
        let path = folder.path().to_path_buf();
        assert!(path.join("m.ispl").is_file());
        assert!(!remove_abandoned_folder(&path), "its owner exists");
        drop(folder);
        assert!(!path.exists());
        // A folder as a killed service leaves it, and folders that are none of ours.
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join("masque-broker-left");
        fs::create_dir(&left).unwrap();
        assert!(!remove_abandoned_folder(&left), "it has no lock file");
        fs::write(left.join(LOCK_FILE), "").unwrap();
        fs::write(left.join("m.ispl"), "Agent").unwrap();
        assert!(remove_abandoned_folder(&left) && !left.exists());
        for name in ["masque-x", ".masque-broker-new"] {
            let other = parent.path().join(name);
            fs::create_dir(&other).unwrap();
            fs::write(other.join(LOCK_FILE), "").unwrap();
            assert!(!remove_abandoned_folder(&other) && other.exists(), "{name}");
        }
    }
}
