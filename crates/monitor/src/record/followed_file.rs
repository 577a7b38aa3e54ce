//! A log file to which another program appends, and which it may rotate or truncate.
//!
//! A file that was *rotated* is renamed or removed, and another one has its name: the rest of the old file is read
//! first. A file that was *truncated* is shorter than before, or its last bytes are not those that were read: it is
//! read again from its beginning.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Number of bytes before the current position that must be unchanged.
const REMEMBERED_BYTES: usize = 64;
/// Number of bytes that are read at once.
const PIECE_BYTES: usize = 64 << 10;

/// A file that is read as it grows.
#[derive(Debug)]
pub struct FollowedFile {
    path: PathBuf,
    file: File,
    identity: u64,
    position: u64,
    /// The last bytes before the position.
    remembered: Vec<u8>,
    piece: Vec<u8>,
    is_missing: bool,
}

/// What a look at the file finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Look<'f> {
    /// More bytes.
    Bytes(&'f [u8]),
    /// Nothing new.
    Nothing,
    /// Another file has the name; it is read from its beginning.
    Rotated,
    /// The file was truncated or written again; it is read from its beginning.
    Truncated,
    /// No file has the name. This is reported once, until there is one.
    Missing,
}

impl FollowedFile {
    /// Opens a file, to be read from its beginning.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<FollowedFile> {
        let file = File::open(path)?;
        let identity = identity(&file.metadata()?);
        Ok(FollowedFile {
            path: path.to_path_buf(),
            file,
            identity,
            position: 0,
            remembered: Vec::new(),
            piece: vec![0; PIECE_BYTES],
            is_missing: false,
        })
    }

    /// Reads what is new, or finds out what happened to the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn look(&mut self) -> io::Result<Look<'_>> {
        if self.is_truncated()? {
            self.restart()?;
            return Ok(Look::Truncated);
        }
        let n_bytes = self.file.read(&mut self.piece)?;
        if n_bytes > 0 {
            self.position += n_bytes as u64;
            let new = &self.piece[..n_bytes];
            self.remembered.extend_from_slice(&new[n_bytes.saturating_sub(REMEMBERED_BYTES)..]);
            let excess = self.remembered.len().saturating_sub(REMEMBERED_BYTES);
            self.remembered.drain(..excess);
            return Ok(Look::Bytes(&self.piece[..n_bytes]));
        }
        self.look_for_another()
    }

    /// At the end of the file: finds out whether another one has its name.
    fn look_for_another(&mut self) -> io::Result<Look<'_>> {
        let new = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let was_missing = std::mem::replace(&mut self.is_missing, true);
                return Ok(if was_missing { Look::Nothing } else { Look::Missing });
            }
            Err(error) => return Err(error),
        };
        self.is_missing = false;
        let new_identity = identity(&new.metadata()?);
        if new_identity == self.identity {
            return Ok(Look::Nothing);
        }
        // The old file may have grown after it was read and before it lost its name.
        if self.file.metadata()?.len() > self.position {
            return Ok(Look::Nothing);
        }
        (self.file, self.identity) = (new, new_identity);
        self.restart()?;
        Ok(Look::Rotated)
    }

    /// Whether the bytes before the position are not those that were read.
    fn is_truncated(&mut self) -> io::Result<bool> {
        if self.file.metadata()?.len() < self.position {
            return Ok(true);
        }
        let mut now = vec![0; self.remembered.len()];
        self.file.seek(SeekFrom::Start(self.position - now.len() as u64))?;
        // The seek leads back to the position by reading what lies before it.
        match self.file.read_exact(&mut now) {
            Ok(()) => Ok(now != self.remembered),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn restart(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.position = 0;
        self.remembered.clear();
        Ok(())
    }
}

/// A number that distinguishes files of one file system.
fn identity(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    return metadata.created().ok().map_or(0, |time| {
        let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        since.as_nanos() as u64
    });
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use super::*;

    fn append(path: &Path, text: &str) {
        OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn new_text(file: &mut FollowedFile) -> String {
        match file.look().unwrap() {
            Look::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_file_grows_is_truncated_and_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append(&path, "one\n");
        let mut file = FollowedFile::open(&path).unwrap();
        assert_eq!(new_text(&mut file), "one\n");
        assert_eq!(new_text(&mut file), "Nothing");
        append(&path, "two\n");
        assert_eq!(new_text(&mut file), "two\n");

        // Shorter than before.
        fs::write(&path, "x\n").unwrap();
        assert_eq!(new_text(&mut file), "Truncated");
        assert_eq!(new_text(&mut file), "x\n");
        // Written again, and longer than before.
        fs::write(&path, "other\n").unwrap();
        assert_eq!(new_text(&mut file), "Truncated");
        assert_eq!(new_text(&mut file), "other\n");

        // What was written to the old file before and after it was renamed is read first.
        let old = folder.path().join("log.1");
        fs::rename(&path, &old).unwrap();
        assert_eq!(new_text(&mut file), "Missing");
        assert_eq!(new_text(&mut file), "Nothing");
        append(&old, "late\n");
        append(&path, "new\n");
        assert_eq!(new_text(&mut file), "late\n");
        assert_eq!(new_text(&mut file), "Rotated");
        assert_eq!(new_text(&mut file), "new\n");
        assert_eq!(new_text(&mut file), "Nothing");
    }
}
