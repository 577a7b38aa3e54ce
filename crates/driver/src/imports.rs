//! The places that imports are read from: the whole disk, or certain folders only.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use masque_text::{Diagnostic, FILE_NOT_FOUND, Library, ReadLimits, without_dots};

use crate::file;

/// Returns the library that imports are read from, within limits: the files below the roots, or the whole disk if
/// there are no roots.
pub(crate) fn library(roots: &[PathBuf], limits: &ReadLimits) -> Result<Box<dyn Library>, Box<Diagnostic>> {
    if roots.is_empty() {
        return Ok(Box::new(Disk { limits: limits.clone() }));
    }
    match Roots::new(roots, file::MAX_BYTES) {
        Ok(roots) => Ok(Box::new(roots.within(limits))),
        Err(error) => {
            let message = format!("cannot read the folder for imports: {}", file::reason(&error));
            Err(file::error("file/unreadable", message).into())
        }
    }
}

/// All files on the disk, for models whose files the user named.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// Limits on reading.
    pub(crate) limits: ReadLimits,
}

impl Library for Disk {
    fn identity(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        let name = path.display().to_string();
        match fs::canonicalize(path) {
            Ok(path) => read_regular(&path, &name, &self.limits),
            Err(_) => {
                let missing = file::error(FILE_NOT_FOUND, format!("there is no file `{name}`"));
                let usual = "the path is relative to the folder of the importing file".to_string();
                Err(missing.help(file::neighbour(path).or(Some(usual))).into())
            }
        }
    }
}

/// The files below certain folders, for texts from untrusted clients. If several folders contain a path, the
/// first one is used.
///
/// A path that leads out of the folders, by `..`, as an absolute path or through a link, is refused, and the
/// error does not disclose whether the file exists.
#[derive(Debug)]
pub struct Roots {
    /// Canonical paths of the folders.
    roots: Vec<PathBuf>,
    /// Number of bytes that may still be read.
    bytes_left: AtomicU64,
    /// Limits on reading.
    limits: ReadLimits,
}

/// Why a path names no file below the folders.
enum Missing {
    Nowhere,
    Outside,
}

impl Roots {
    /// The files below these folders. At most `max_bytes` bytes are read from them in total.
    ///
    /// # Errors
    ///
    /// If one of the folders cannot be found.
    pub fn new(roots: &[PathBuf], max_bytes: u64) -> io::Result<Roots> {
        let folder = |root: &PathBuf| {
            let root = fs::canonicalize(root)?;
            if root.is_dir() { Ok(root) } else { Err(io::Error::from(io::ErrorKind::NotADirectory)) }
        };
        let roots = roots.iter().map(folder).collect::<io::Result<_>>()?;
        Ok(Roots { roots, bytes_left: AtomicU64::new(max_bytes), limits: ReadLimits::default() })
    }

    /// The same files, read within limits.
    #[must_use]
    pub fn within(self, limits: &ReadLimits) -> Roots {
        Roots { limits: limits.clone(), ..self }
    }

    /// The same folders, with a new limit of `max_bytes` bytes.
    pub fn again(&self, max_bytes: u64) -> Roots {
        let (roots, limits) = (self.roots.clone(), self.limits.clone());
        Roots { roots, bytes_left: AtomicU64::new(max_bytes), limits }
    }

    /// The folders, as canonical paths.
    pub fn folders(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The folder that contains a file, and the file's canonical path.
    fn find(&self, path: &Path) -> Result<(&Path, PathBuf), Missing> {
        let path = without_dots(path);
        if !path.components().all(|component| matches!(component, Component::Normal(_))) {
            return Err(Missing::Outside);
        }
        for root in &self.roots {
            let Ok(found) = fs::canonicalize(root.join(&path)) else { continue };
            return if found.starts_with(root) { Ok((root, found)) } else { Err(Missing::Outside) };
        }
        Err(Missing::Nowhere)
    }
}

impl Library for Roots {
    fn identity(&self, path: &Path) -> PathBuf {
        let found = self.find(path).ok();
        let inside = found.and_then(|(root, path)| path.strip_prefix(root).ok().map(Path::to_path_buf));
        inside.unwrap_or_else(|| without_dots(path))
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        let name = path.display().to_string();
        let (_, path) = self.find(path).map_err(|missing| match missing {
            Missing::Nowhere => {
                let message = format!("`{name}` is neither a text of this call nor a file below the root");
                file::error(FILE_NOT_FOUND, message)
                    .hint("the path is relative to the folder of the importing text or file")
            }
            Missing::Outside => {
                let message = format!("`{name}` leads out of the folder that imports are read from");
                file::error("file/outside-root", message)
                    .hint("imports find the texts of the same call, and files below the root")
            }
        })?;
        let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if self.bytes_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(size)).is_err() {
            let message = format!(
                "`{name}` is too large: the imports of one call may together be as large as one message"
            );
            return Err(file::error("file/too-large", message).into());
        }
        read_regular(&path, &name, &self.limits)
    }
}

/// Reads the text of a regular file. Devices and pipes are refused because they might never end.
fn read_regular(path: &Path, name: &str, limits: &ReadLimits) -> Result<String, Box<Diagnostic>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let message = format!("`{name}` is a directory; a file is needed");
            Err(file::error("file/is-directory", message).into())
        }
        Ok(metadata) if !metadata.is_file() => {
            Err(file::error("file/unreadable", format!("`{name}` is not a regular file")).into())
        }
        _ => file::read_as(path, name, limits),
    }
}

#[cfg(test)]
mod tests {
    use masque_testkit::write_files;

    use crate::{Loaded, Request, load, load_text};

    use super::*;

    fn load_in(folder: &Path, files: &[&str], request: &Request) -> Loaded {
        let files: Vec<PathBuf> = files.iter().map(|name| folder.join(name)).collect();
        load(&files, request)
    }

    fn codes(loaded: &Loaded) -> Vec<&'static str> {
        loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    }

    const TEAM: &str = "import \"lib/protocol.lcc\". agent a(hen, h). property p : AF final ;";
    const PROTOCOL: &str = "import \"facts.pol\". a(hen, H) :: null <- fed.";

    #[test]
    fn paths_are_relative_to_the_importing_file() {
        let folder = tempfile::tempdir().unwrap();
        write_files(
            folder.path(),
            &[("team.lcc", TEAM), ("lib/protocol.lcc", PROTOCOL), ("lib/facts.pol", "common fed.")],
        );
        let loaded = load_in(folder.path(), &["team.lcc"], &Request::default());
        assert!(loaded.model.is_some(), "{:?}", loaded.diagnostics);
        let expected = ["team.lcc", "lib/protocol.lcc", "lib/facts.pol"];
        assert_eq!(loaded.names, expected.map(|name| folder.path().join(name).display().to_string()));
        // A missing file is reported at its import, with the name that was probably meant.
        fs::rename(folder.path().join("lib/facts.pol"), folder.path().join("lib/fact.pol")).unwrap();
        let loaded = load_in(folder.path(), &["team.lcc"], &Request::default());
        assert_eq!(codes(&loaded), ["lcc/import-not-found"]);
        let span = loaded.diagnostics[0].primary.as_ref().unwrap().span;
        assert_eq!(loaded.sources.slice(span), "\"facts.pol\"");
        assert!(loaded.diagnostics[0].help.as_ref().unwrap().contains("fact.pol"));
    }

    /// Two paths of the same file count as one file.
    #[cfg(unix)]
    #[test]
    fn a_link_is_the_file_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let text = "import \"one.pol\". import \"./sub/../two.pol\". a(hen, H) :: null. agent a(hen, h).";
        write_files(folder.path(), &[("a.lcc", text), ("one.pol", "option cap = 3."), ("sub/x", "")]);
        std::os::unix::fs::symlink("one.pol", folder.path().join("two.pol")).unwrap();
        for files in [&["a.lcc"][..], &["a.lcc", "two.pol"], &["two.pol", "one.pol", "a.lcc"]] {
            let loaded = load_in(folder.path(), files, &Request::default());
            assert_eq!((codes(&loaded), loaded.names.len()), (vec![], 2), "{files:?}");
        }
    }

    /// Neither standard input nor a device can be imported.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_imported() {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), &[("a.lcc", "import \"/dev/zero\"."), ("b.lcc", "import \"-\".")]);
        let load = |name: &str| codes(&load_in(folder.path(), &[name], &Request::default()));
        assert_eq!(load("a.lcc"), ["file/unreadable"]);
        assert_eq!(load("b.lcc"), ["lcc/import-not-found"]);
        assert_eq!(Disk::default().read(Path::new("-")).unwrap_err().code, FILE_NOT_FOUND);
    }

    #[test]
    fn texts_import_nothing() {
        let loaded = load_text("a.lcc", "import \"Cargo.toml\".", &Request::default());
        assert_eq!(codes(&loaded), ["lcc/import-not-found"]);
    }

    #[test]
    fn a_root_must_be_a_folder() {
        assert!(Roots::new(&["Cargo.toml".into()], 10).is_err());
        assert!(Roots::new(&["no/such".into()], 10).is_err());
        let request = Request { import_roots: vec!["no/such".into()], ..Request::default() };
        assert_eq!(codes(&load(&["a.lcc"], &request)), ["file/unreadable"]);
    }
}
