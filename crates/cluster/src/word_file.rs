//! Files of 64-bit words, written atomically and verified when they are read.
//!
//! A file begins with words that identify it, and ends with a checksum. It is written under a temporary
//! name, synchronised to disk, and then renamed, so a file under its final name is always complete. A file
//! that could not be finished is removed, because it may be what fills the disk.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// First word of every file: `masquecp`.
const MAGIC: u64 = u64::from_le_bytes(*b"masquecp");
/// The version of the format.
const VERSION: u64 = 3;

/// Writes a file.
pub(crate) struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    temporary: TemporaryFile,
    sum: u64,
}

impl Writer {
    /// Starts a file with this final name; `head` identifies its content.
    pub(crate) fn new(path: &Path, head: &[u64]) -> io::Result<Writer> {
        let (file, temporary) = create_temporary(path)?;
        let file = BufWriter::with_capacity(1 << 20, file);
        let mut writer = Writer { path: path.to_path_buf(), file, temporary, sum: 0 };
        writer.words(&[MAGIC, VERSION])?;
        writer.list(head)?;
        Ok(writer)
    }

    /// Writes words without their number.
    pub(crate) fn words(&mut self, words: &[u64]) -> io::Result<()> {
        for &word in words {
            self.sum = add(self.sum, word);
            self.file.write_all(&word.to_le_bytes())?;
        }
        Ok(())
    }

    /// Writes the number of words, then the words.
    pub(crate) fn list(&mut self, words: &[u64]) -> io::Result<()> {
        self.words(&[words.len() as u64])?;
        self.words(words)
    }

    /// Writes the number of 32-bit words, then the words, two in each 64-bit word.
    pub(crate) fn short_list(&mut self, words: &[u32]) -> io::Result<()> {
        self.words(&[words.len() as u64])?;
        words.chunks(2).try_for_each(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            self.words(&[u64::from(high) << 32 | u64::from(pair[0])])
        })
    }

    /// Writes the checksum and gives the file its final name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let sum = self.sum;
        self.words(&[sum])?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        rename_durably(&self.temporary, &self.path)
    }
}

/// Name of a file until it is complete. Dropping it removes the file, unless that was renamed before.
struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

/// Creates the file under its temporary name.
fn create_temporary(path: &Path) -> io::Result<(File, TemporaryFile)> {
    let temporary = TemporaryFile(path.with_extension("tmp"));
    Ok((File::create(&temporary.0)?, temporary))
}

/// Gives a file its final name and synchronises the directory to disk.
fn rename_durably(temporary: &TemporaryFile, path: &Path) -> io::Result<()> {
    fs::rename(&temporary.0, path)?;
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Writes a text file atomically.
pub(crate) fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let (mut file, temporary) = create_temporary(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    rename_durably(&temporary, path)
}

/// Reads a file.
pub(crate) struct Reader {
    file: BufReader<File>,
    sum: u64,
    /// Size of the file in words. A list cannot be longer, so that a damaged length does not allocate more.
    max_words: u64,
}

impl Reader {
    /// Opens a file, which must begin with `head`.
    pub(crate) fn new(path: &Path, head: &[u64]) -> io::Result<Reader> {
        let file = File::open(path)?;
        let max_words = file.metadata()?.len() / 8;
        let mut reader = Reader { file: BufReader::with_capacity(1 << 20, file), sum: 0, max_words };
        let is_expected = reader.word()? == MAGIC && reader.word()? == VERSION && reader.list()? == head;
        if is_expected { Ok(reader) } else { Err(invalid_file("a file is not the expected one")) }
    }

    pub(crate) fn word(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        let word = u64::from_le_bytes(bytes);
        self.sum = add(self.sum, word);
        Ok(word)
    }

    /// Reads the length of a list of words.
    pub(crate) fn length(&mut self) -> io::Result<usize> {
        match self.word()? {
            length if length <= self.max_words => Ok(length as usize),
            _ => Err(damaged()),
        }
    }

    pub(crate) fn list(&mut self) -> io::Result<Vec<u64>> {
        let length = self.length()?;
        (0..length).map(|_| self.word()).collect()
    }

    pub(crate) fn short_list(&mut self) -> io::Result<Vec<u32>> {
        let length = match self.word()? {
            length if length.div_ceil(2) <= self.max_words => length as usize,
            _ => return Err(damaged()),
        };
        let mut list = Vec::with_capacity(length);
        while list.len() < length {
            let word = self.word()?;
            list.push(word as u32);
            match word >> 32 {
                high if list.len() < length => list.push(high as u32),
                0 => {}
                _ => return Err(damaged()),
            }
        }
        Ok(list)
    }

    /// Verifies the checksum.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let sum = self.sum;
        if self.word()? == sum { Ok(()) } else { Err(damaged()) }
    }
}

/// Returns the error for a file whose content is not what was written.
pub(crate) fn damaged() -> io::Error {
    invalid_file("a file is damaged")
}

fn invalid_file(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn add(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The temporary name is a link to a full disk: only the earlier file remains.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some.part");
        fs::write(&path, "earlier text").unwrap();
        let full = || std::os::unix::fs::symlink("/dev/full", path.with_extension("tmp")).unwrap();
        let write = || {
            let mut writer = Writer::new(&path, &[1, 2])?;
            writer.list(&[7; 1000])?;
            writer.finish()
        };
        let write_all = || Writer::new(&path, &[1]).and_then(|mut writer| writer.list(&[7; 1 << 18]));
        let writes: [&dyn Fn() -> io::Result<()>; 3] = [&write, &write_all, &|| write_text(&path, "text")];
        for (index, write) in writes.into_iter().enumerate() {
            full();
            assert_eq!(write().unwrap_err().kind(), io::ErrorKind::StorageFull, "{index}");
            let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(names, ["some.part"], "{index}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "earlier text", "{index}");
        }
    }

    #[test]
    fn files_round_trip_and_damage_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some.part");
        let mut writer = Writer::new(&path, &[1, 2]).unwrap();
        writer.list(&[7, 8, 9]).unwrap();
        writer.short_list(&[5]).unwrap();
        writer.short_list(&[1, u32::MAX, 3, 4]).unwrap();
        assert!(!path.exists());
        writer.finish().unwrap();
        let read = || -> io::Result<(Vec<u64>, [Vec<u32>; 2])> {
            let mut reader = Reader::new(&path, &[1, 2])?;
            let lists = (reader.list()?, [reader.short_list()?, reader.short_list()?]);
            reader.finish().map(|()| lists)
        };
        assert_eq!(read().unwrap(), (vec![7, 8, 9], [vec![5], vec![1, u32::MAX, 3, 4]]));
        assert!(Reader::new(&path, &[1, 3]).is_err());
        let whole = fs::read(&path).unwrap();
        for index in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[index] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert!(read().is_err(), "byte {index}");
        }
        fs::write(&path, &whole[..whole.len() - 8]).unwrap();
        assert!(read().is_err());
    }
}
