//! The texts that models are read from: open documents first, then the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use masque_driver::{Diagnostic, Disk};
use masque_text::{Library, without_dots};

/// Open documents by their paths, and the files of the disk.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    texts: Arc<HashMap<PathBuf, Arc<String>>>,
    disk: Disk,
}

impl Overlay {
    /// These texts, by the [`identity`] of their paths, in front of the disk.
    pub fn new(texts: HashMap<PathBuf, Arc<String>>) -> Overlay {
        Overlay { texts: Arc::new(texts), disk: Disk::default() }
    }

    /// The text of an open document.
    pub(crate) fn open_text(&self, path: &Path) -> Option<&Arc<String>> {
        self.texts.get(path).or_else(|| self.texts.get(&identity(path)))
    }
}

/// The path that identifies a file: with links resolved if the file exists, otherwise without dots.
pub fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| without_dots(path))
}

impl Library for Overlay {
    fn identity(&self, path: &Path) -> PathBuf {
        identity(path)
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        match self.open_text(path) {
            Some(text) => Ok(text.to_string()),
            None => self.disk.read(path),
        }
    }
}
