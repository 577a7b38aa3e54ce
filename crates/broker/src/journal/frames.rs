//! The file of the journal: a header, then frames. A frame holds the records that were written together, one per
//! line.
//!
//! ```text
//! header   masque broker journal 1\n
//! frame    length: u32 | checksum of the records: u32 | checksum of these 8 bytes: u32 | records
//! ```
//!
//! Numbers are little-endian, checksums are CRC-32. The length has a checksum of its own, so a damaged length is not
//! mistaken for a record that was not finished.
//!
//! A process that is killed leaves a beginning of its last frame. After a power failure, the last frame may have its
//! full length, but sectors that were never written are zero; records contain no zeros. Such a frame is *torn*: its
//! calls were not answered, and it is cut off. Every other mismatch is *damage*, because it may concern records
//! whose calls were answered.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::record::shown;

/// The first line of the file, without its version.
const TITLE: &str = "masque broker journal ";
/// The version of the format.
const VERSION: &str = "1";
/// Bytes of a frame before its records.
pub(super) const HEAD_BYTES: u64 = 12;
/// Bytes that a disk writes together.
const SECTOR_BYTES: u64 = 512;

/// The header of a new file.
pub(super) fn header() -> Vec<u8> {
    format!("{TITLE}{VERSION}\n").into_bytes()
}

/// A frame with these records.
pub(super) fn frame(records: &[u8]) -> io::Result<Vec<u8>> {
    let too_long = |_| io::Error::other("the record is longer than 4 GB");
    let length = u32::try_from(records.len()).map_err(too_long)?;
    let mut frame = Vec::with_capacity(HEAD_BYTES as usize + records.len());
    frame.extend(length.to_le_bytes());
    frame.extend(crc32fast::hash(records).to_le_bytes());
    frame.extend(crc32fast::hash(&frame).to_le_bytes());
    frame.extend(records);
    Ok(frame)
}

/// Where a record is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) length: u32,
    checksum: u32,
}

impl Extent {
    pub(super) fn new(offset: u64, line: &[u8]) -> Extent {
        Extent { offset, length: line.len() as u32, checksum: crc32fast::hash(line) }
    }

    /// Reads the record.
    pub(super) fn read(self, file: &mut File) -> io::Result<Vec<u8>> {
        let mut line = vec![0; self.length as usize];
        file.seek(SeekFrom::Start(self.offset))?;
        file.read_exact(&mut line)?;
        if crc32fast::hash(&line) != self.checksum {
            let message = format!("the record at byte {} has changed on the disk", self.offset);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(line)
    }
}

/// The records of some lines, and where each is in a file, if they follow the head of a frame at `offset`.
pub(super) fn extents(offset: u64, records: &[u8]) -> impl Iterator<Item = (Extent, &[u8])> {
    let mut next = offset + HEAD_BYTES;
    records.split(|byte| *byte == b'\n').map(move |line| {
        let extent = Extent::new(next, line);
        next += line.len() as u64 + 1;
        (extent, line)
    })
}

/// The end of the valid part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Its length in bytes.
    pub(super) valid: u64,
    /// Number of bytes of a torn frame after it.
    pub(super) torn: u64,
}

/// Reads a file, and calls `each` with the records of each frame and the frame's offset.
///
/// # Errors
///
/// If the file is not a journal of this version, or is damaged.
pub(super) fn read(
    path: &Path,
    file: &File,
    mut each: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<End> {
    let length = file.metadata()?.len();
    let mut reader = Frames { path: path.to_path_buf(), file: BufReader::new(file), position: 0, length };
    reader.file.rewind()?;
    reader.header()?;
    loop {
        let offset = reader.position;
        if offset == length {
            return Ok(End { valid: length, torn: 0 });
        }
        match reader.frame()? {
            Some(records) => each(offset, &records)?,
            None => return Ok(End { valid: offset, torn: length - offset }),
        }
    }
}

struct Frames<'f> {
    path: PathBuf,
    file: BufReader<&'f File>,
    position: u64,
    length: u64,
}

impl Frames<'_> {
    fn bytes(&mut self, length: u64) -> io::Result<Vec<u8>> {
        // `length` is at most the rest of the file.
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.file.read_exact(&mut bytes)?;
        self.position += length;
        Ok(bytes)
    }

    fn rest(&self) -> u64 {
        self.length - self.position
    }

    fn header(&mut self) -> io::Result<()> {
        const MAX_HEADER_BYTES: u64 = 40;
        let start = self.bytes(self.rest().min(MAX_HEADER_BYTES))?;
        let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let version = line.strip_prefix(TITLE.as_bytes()).filter(|_| line.len() < start.len());
        let message = match version {
            Some(version) if version == VERSION.as_bytes() => {
                self.position = line.len() as u64 + 1;
                return self.file.seek(SeekFrom::Start(self.position)).map(drop);
            }
            Some(version) => format!(
                "{} has version {} of the format, but this program reads version {VERSION}; use the program that \
                 wrote it, or another folder",
                shown(&self.path),
                masque_text::printable(&String::from_utf8_lossy(version)),
            ),
            None => format!(
                "{} is not a journal of `masque broker`; give another folder, or remove the file",
                shown(&self.path)
            ),
        };
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// The records of the next frame; none if it is torn.
    fn frame(&mut self) -> io::Result<Option<Vec<u8>>> {
        let offset = self.position;
        if self.rest() < HEAD_BYTES {
            return Ok(None);
        }
        let head = self.bytes(HEAD_BYTES)?;
        let number = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[4 * index + byte]));
        if crc32fast::hash(&head[..8]) != number(2) {
            let next_sector = offset.next_multiple_of(SECTOR_BYTES);
            let is_unwritten =
                self.is_zero(offset)? || (next_sector < self.position && self.is_zero(next_sector)?);
            return if is_unwritten { Ok(None) } else { Err(self.damage(offset)) };
        }
        let length = u64::from(number(0));
        if length > self.rest() {
            return Ok(None);
        }
        let records = self.bytes(length)?;
        if crc32fast::hash(&records) == number(1) {
            return Ok(Some(records));
        }
        if self.rest() == 0 && has_unwritten_sector(offset + HEAD_BYTES, &records) {
            return Ok(None);
        }
        Err(self.damage(offset))
    }

    /// Whether all bytes of the file from an offset on are zero.
    fn is_zero(&mut self, offset: u64) -> io::Result<bool> {
        self.file.seek(SeekFrom::Start(offset))?;
        let mut buffer = [0; 8192];
        loop {
            match self.file.read(&mut buffer)? {
                0 => return Ok(true),
                n if buffer[..n].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }

    fn damage(&self, offset: u64) -> io::Error {
        let path = shown(&self.path);
        let message = format!(
            "{path} is damaged at byte {offset}. Nothing was changed. To continue with what was saved before that \
             byte, keep a copy and run `truncate --size={offset} {path}`; to start without sessions, give another \
             folder"
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

/// Whether the part of some records in one sector consists of zeros.
fn has_unwritten_sector(offset: u64, records: &[u8]) -> bool {
    let first = (offset.next_multiple_of(SECTOR_BYTES) - offset).min(records.len() as u64) as usize;
    let (start, rest) = records.split_at(first);
    let mut sectors = std::iter::once(start).chain(rest.chunks(SECTOR_BYTES as usize));
    sectors.any(|sector| !sector.is_empty() && sector.iter().all(|byte| *byte == 0))
}

/// Writes bytes at the end of a file.
pub(super) fn append(file: &mut File, end: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(end))?;
    file.write_all(bytes)
}
