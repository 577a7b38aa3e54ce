//! Limits of the pages in the user's cache folder: old ones are removed, and the oldest if there are too many.
//!
//! A page may be open in an editor, so the limits are far above what one session writes. Failures are ignored: another
//! server may remove the same pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Maximum number of entries of a folder that are considered.
const MAX_ENTRIES: usize = 20_000;
/// Age from which an empty folder is removed.
const EMPTY_FOLDER_AGE: Duration = Duration::from_secs(60 * 60);
/// Endings of the files that may be removed.
const ENDINGS: [&str; 3] = ["html", "json", "md"];

/// How many pages a folder may have, and how old they may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheLimits {
    /// Maximum age of a page.
    pub(crate) max_age: Duration,
    /// Maximum number of pages.
    pub(crate) max_pages: usize,
}

/// Limits of the evidence of checks: a page and a report for each.
pub(crate) const EVIDENCE: CacheLimits =
    CacheLimits { max_age: Duration::from_secs(7 * 24 * 60 * 60), max_pages: 400 };
/// Limits of the pages about codes.
pub(crate) const EXPLANATIONS: CacheLimits =
    CacheLimits { max_age: Duration::from_secs(30 * 24 * 60 * 60), max_pages: 1_000 };

impl CacheLimits {
    /// Removes pages of a folder and its folders beyond the limits, and folders that have been empty for some time.
    pub(crate) fn enforce(self, folder: &Path) {
        let mut pages: Vec<(SystemTime, PathBuf)> = Vec::new();
        for (path, metadata) in entries(folder) {
            if metadata.is_dir() {
                pages.extend(pages_of(&path));
            } else {
                pages.extend(page(path, &metadata));
            }
        }
        // The newest first; equal times by name.
        pages.sort_by(|a, b| b.cmp(a));
        let oldest = SystemTime::now().checked_sub(self.max_age);
        for (number, (modified, path)) in pages.into_iter().enumerate() {
            if number >= self.max_pages || oldest.is_some_and(|oldest| modified < oldest) {
                _ = fs::remove_file(path);
            }
        }
        let is_old = |metadata: &fs::Metadata| {
            let age = metadata.modified().ok().and_then(|modified| modified.elapsed().ok());
            age.is_some_and(|age| age > EMPTY_FOLDER_AGE.min(self.max_age))
        };
        for (path, _) in entries(folder).filter(|(_, metadata)| metadata.is_dir() && is_old(metadata)) {
            // A folder with files stays.
            _ = fs::remove_dir(path);
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, fs::Metadata)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
    // Links are not followed.
    entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
}

fn pages_of(folder: &Path) -> impl Iterator<Item = (SystemTime, PathBuf)> {
    entries(folder).filter_map(|(path, metadata)| page(path, &metadata))
}

fn page(path: PathBuf, metadata: &fs::Metadata) -> Option<(SystemTime, PathBuf)> {
    let ending = path.extension()?.to_str()?;
    (metadata.is_file() && ENDINGS.contains(&ending)).then_some(())?;
    Some((metadata.modified().ok()?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, age: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }

    #[test]
    fn old_pages_and_the_oldest_of_many_are_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let limits = CacheLimits { max_age: Duration::from_secs(100), max_pages: 3 };
        for (name, age) in [
            ("1/check-1.html", 500),
            ("1/check-1.json", 500),
            ("2/check-1.html", 40),
            ("2/check-2.html", 30),
            ("2/check-3.html", 20),
            ("page.md", 10),
            ("2/notes.txt", 500),
        ] {
            write(&folder.join(name), age);
        }
        limits.enforce(folder);
        let exists = |name: &str| folder.join(name).exists();
        assert!(!exists("1/check-1.html") && !exists("1/check-1.json") && !exists("2/check-1.html"));
        assert!(exists("2/check-2.html") && exists("2/check-3.html") && exists("page.md"));
        assert!(exists("2/notes.txt"), "only pages are removed");
        let empty = folder.join("1");
        fs::File::open(&empty).unwrap().set_modified(SystemTime::now() - EMPTY_FOLDER_AGE * 2).unwrap();
        limits.enforce(folder);
        assert!(!empty.exists() && exists("2"));
        limits.enforce(&folder.join("missing"));
    }
}
