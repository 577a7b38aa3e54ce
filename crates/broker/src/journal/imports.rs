//! Imported files as they were when a session was opened: a restored session must not depend on files that may
//! have changed since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use masque_lcc::{Library, NoFiles};
use masque_text::Diagnostic;
use serde::{Deserialize, Serialize};

use crate::session_queue::lock;

/// A path that was asked for while a session was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ImportedFile {
    path: PathBuf,
    /// Number of the file: paths with the same number name the same file.
    file: usize,
    /// Content of the file, if it was read by this path.
    text: Option<String>,
}

/// A library that records what is read from another one.
#[derive(Debug)]
pub(crate) struct RecordedImports {
    library: Arc<dyn Library>,
    recorded: Mutex<Recorded>,
}

#[derive(Debug, Default)]
struct Recorded {
    /// Number of each file, by its identity.
    files: BTreeMap<PathBuf, usize>,
    paths: BTreeMap<PathBuf, (usize, Option<String>)>,
}

impl RecordedImports {
    /// Records what is read from a library.
    pub(super) fn new(library: Arc<dyn Library>) -> RecordedImports {
        RecordedImports { library, recorded: Mutex::default() }
    }

    /// What was asked for so far.
    pub(super) fn files(&self) -> Vec<ImportedFile> {
        let recorded = lock(&self.recorded);
        let files = recorded.paths.iter();
        files
            .map(|(path, (file, text))| ImportedFile { path: path.clone(), file: *file, text: text.clone() })
            .collect()
    }
}

impl Library for RecordedImports {
    fn identity(&self, path: &Path) -> PathBuf {
        let identity = self.library.identity(path);
        let mut recorded = lock(&self.recorded);
        let next = recorded.files.len();
        let file = *recorded.files.entry(identity.clone()).or_insert(next);
        recorded.paths.entry(path.to_path_buf()).or_insert((file, None));
        identity
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        let text = self.library.read(path)?;
        if let Some((_, recorded)) = lock(&self.recorded).paths.get_mut(path) {
            *recorded = Some(text.clone());
        }
        Ok(text)
    }
}

/// A library with the files of an earlier recording.
#[derive(Debug)]
pub(super) struct RestoredImports {
    paths: BTreeMap<PathBuf, ImportedFile>,
}

impl RestoredImports {
    pub(super) fn new(files: Vec<ImportedFile>) -> RestoredImports {
        RestoredImports { paths: files.into_iter().map(|file| (file.path.clone(), file)).collect() }
    }
}

impl Library for RestoredImports {
    fn identity(&self, path: &Path) -> PathBuf {
        match self.paths.get(path) {
            Some(file) => PathBuf::from(file.file.to_string()),
            None => NoFiles.identity(path),
        }
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        let text = self.paths.get(path).and_then(|file| file.text.clone());
        text.map_or_else(|| NoFiles.read(path), Ok)
    }
}
