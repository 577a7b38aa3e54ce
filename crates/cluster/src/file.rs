//! Files of words: written at one stroke, and checked when they are read.
//!
//! A file begins with words that say what it is, and ends with a check sum. It is written under
//! another name, made durable, and then renamed: whatever happens, under its own name there is a
//! whole file or none. What could not be finished is removed: where a disk is full, it must not stay.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// What a file of ours begins with: `masquecp`.
const MAGIC: u64 = u64::from_le_bytes(*b"masquecp");
/// The version of the format.
const VERSION: u64 = 2;

/// Writes a file.
pub(crate) struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    under: Unfinished,
    sum: u64,
}

impl Writer {
    /// Begins a file that is to have this name; `head` says what it is.
    pub(crate) fn new(path: &Path, head: &[u64]) -> io::Result<Writer> {
        let (file, under) = begin(path)?;
        let file = BufWriter::with_capacity(1 << 20, file);
        let mut writer = Writer { path: path.to_path_buf(), file, under, sum: 0 };
        writer.words(&[MAGIC, VERSION])?;
        writer.list(head)?;
        Ok(writer)
    }

    /// Writes words as they are.
    pub(crate) fn words(&mut self, words: &[u64]) -> io::Result<()> {
        for &word in words {
            self.sum = add(self.sum, word);
            self.file.write_all(&word.to_le_bytes())?;
        }
        Ok(())
    }

    /// Writes words with their number before them.
    pub(crate) fn list(&mut self, words: &[u64]) -> io::Result<()> {
        self.words(&[words.len() as u64])?;
        self.words(words)
    }

    /// The same for short words, two in one.
    pub(crate) fn short_list(&mut self, words: &[u32]) -> io::Result<()> {
        self.words(&[words.len() as u64])?;
        words.chunks(2).try_for_each(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            self.words(&[u64::from(high) << 32 | u64::from(pair[0])])
        })
    }

    /// Ends the file and gives it its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let sum = self.sum;
        self.words(&[sum])?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        put(&self.under, &self.path)
    }
}

/// The name that a file has until it is whole. When it is dropped, so is the file, unless it has its
/// own name by then.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

/// Begins a file under another name.
fn begin(path: &Path) -> io::Result<(File, Unfinished)> {
    let under = Unfinished(path.with_extension("tmp"));
    Ok((File::create(&under.0)?, under))
}

/// Gives a file its name, durably.
fn put(under: &Unfinished, path: &Path) -> io::Result<()> {
    fs::rename(&under.0, path)?;
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Writes a small text at one stroke.
pub(crate) fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let (mut file, under) = begin(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    put(&under, path)
}

/// Reads a file back.
pub(crate) struct Reader {
    file: BufReader<File>,
    sum: u64,
    /// Words that there can be: a broken length must not ask for all memory.
    most: u64,
}

impl Reader {
    /// Opens a file, which must be what `head` says.
    pub(crate) fn new(path: &Path, head: &[u64]) -> io::Result<Reader> {
        let file = File::open(path)?;
        let most = file.metadata()?.len() / 8;
        let mut reader = Reader { file: BufReader::with_capacity(1 << 20, file), sum: 0, most };
        let is_ours = reader.word()? == MAGIC && reader.word()? == VERSION && reader.list()? == head;
        if is_ours { Ok(reader) } else { Err(broken("it is not what was looked for")) }
    }

    pub(crate) fn word(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        let word = u64::from_le_bytes(bytes);
        self.sum = add(self.sum, word);
        Ok(word)
    }

    /// How many words follow.
    pub(crate) fn length(&mut self) -> io::Result<usize> {
        match self.word()? {
            length if length <= self.most => Ok(length as usize),
            _ => Err(broken("it is damaged")),
        }
    }

    pub(crate) fn list(&mut self) -> io::Result<Vec<u64>> {
        let length = self.length()?;
        (0..length).map(|_| self.word()).collect()
    }

    pub(crate) fn short_list(&mut self) -> io::Result<Vec<u32>> {
        let length = match self.word()? {
            length if length.div_ceil(2) <= self.most => length as usize,
            _ => return Err(broken("it is damaged")),
        };
        let mut list = Vec::with_capacity(length);
        while list.len() < length {
            let word = self.word()?;
            list.push(word as u32);
            match word >> 32 {
                high if list.len() < length => list.push(high as u32),
                0 => {}
                _ => return Err(broken("it is damaged")),
            }
        }
        Ok(list)
    }

    /// Checks the end.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let sum = self.sum;
        match self.word()? == sum {
            true => Ok(()),
            false => Err(broken("it is damaged")),
        }
    }
}

/// A file that cannot be used.
pub(crate) fn broken(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn add(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file whose unfinished name is a disk that is full: nothing stays but what was there.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some.part");
        fs::write(&path, "as it was").unwrap();
        let full = || std::os::unix::fs::symlink("/dev/full", path.with_extension("tmp")).unwrap();
        let write = || {
            let mut writer = Writer::new(&path, &[1, 2])?;
            writer.list(&[7; 1000])?;
            writer.finish()
        };
        let write_all = || Writer::new(&path, &[1]).and_then(|mut writer| writer.list(&[7; 1 << 18]));
        let writes: [&dyn Fn() -> io::Result<()>; 3] = [&write, &write_all, &|| write_text(&path, "text")];
        for (number, write) in writes.into_iter().enumerate() {
            full();
            assert_eq!(write().unwrap_err().kind(), io::ErrorKind::StorageFull, "{number}");
            let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(names, ["some.part"], "{number}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "as it was", "{number}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_damage_is_seen() {
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
        for position in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[position] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert!(read().is_err(), "byte {position}");
        }
        fs::write(&path, &whole[..whole.len() - 8]).unwrap();
        assert!(read().is_err());
    }
}
