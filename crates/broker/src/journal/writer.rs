//! The thread that writes the journal. Orders that wait together share one write and one fsync.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender};

use super::frames::{Extent, HEAD_BYTES, append, extents, frame, header};
use super::index::Index;
use super::record::{Kind, Record};
use super::{Unsaved, start};
use crate::log::{Level, Log};

/// Bytes of records after which a frame is not extended.
const MAX_FRAME_BYTES: usize = 8 << 20;
/// Bytes that the file may have besides twice the live records.
const MIN_REWRITE_BYTES: u64 = 1 << 20;

/// An order to the thread.
#[derive(Debug)]
pub(super) enum Order {
    /// Saves a record.
    Save { session: String, kind: Kind, line: Vec<u8>, done: SyncSender<Result<Saved, Unsaved>> },
    /// Saves that a session is closed. There is no response.
    Forget { session: String },
    /// Reads the records of a session.
    Read { session: String, done: SyncSender<Result<Vec<Vec<u8>>, Unsaved>> },
}

/// A record is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Saved {
    /// Whether the changes of the session are long enough for a snapshot.
    pub(super) is_long: bool,
}

/// A record that waits to be written.
struct Waiting {
    session: String,
    kind: Kind,
    line: Vec<u8>,
    done: Option<SyncSender<Result<Saved, Unsaved>>>,
}

impl Waiting {
    fn answer(&self, saved: Result<Saved, Unsaved>) {
        if let Some(done) = &self.done {
            // The caller waits for this, unless its thread has panicked.
            _ = done.send(saved);
        }
    }
}

/// The file and what is known about it.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    /// Length of the file.
    end: u64,
    index: Index,
    /// Why nothing more can be written, after an error that leaves the content of the disk unknown.
    broken: Option<String>,
    /// Length of the file at which it is rewritten.
    rewrite_at: u64,
    log: Log,
}

impl Writer {
    pub(super) fn new(path: PathBuf, file: File, end: u64, index: Index, log: Log) -> Writer {
        Writer { path, file, end, index, broken: None, rewrite_at: 0, log }
    }

    /// Whether the file has dead records.
    pub(super) fn has_dead_records(&self) -> bool {
        // The header and the count are short.
        self.end > self.index.rewritten_bytes() + 128
    }

    /// The live records.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Executes orders until the service ends.
    pub(super) fn run(mut self, orders: &Receiver<Order>) {
        let mut frame: Vec<Waiting> = Vec::new();
        while let Ok(first) = orders.recv() {
            let mut next = Some(first);
            while let Some(order) = next {
                self.collect(&mut frame, order);
                next = orders.try_recv().ok();
            }
            self.write(&mut frame);
            if self.end > self.rewrite_at.max(2 * self.index.bytes + MIN_REWRITE_BYTES) {
                self.rewrite();
            }
        }
    }

    /// Adds a record to the frame, or executes another order. The frame is written first if it is long, or if it
    /// has a record of the same session, on which the index depends.
    fn collect(&mut self, frame: &mut Vec<Waiting>, order: Order) {
        let waiting = match order {
            Order::Save { session, kind, line, done } => Waiting { session, kind, line, done: Some(done) },
            Order::Forget { session } => match (Record::Close { session: session.clone() }).line() {
                Ok(line) => Waiting { session, kind: Kind::Close, line, done: None },
                Err(_) => return,
            },
            Order::Read { session, done } => {
                self.write(frame);
                let lines = self.read(&session);
                if let Err(Unsaved::Failed(why)) = &lines {
                    self.set_broken(why);
                }
                // The caller waits for this, unless its thread has panicked.
                _ = done.send(lines);
                return;
            }
        };
        let bytes: usize = frame.iter().map(|other| other.line.len()).sum();
        let is_full = bytes + waiting.line.len() > MAX_FRAME_BYTES;
        if is_full || frame.iter().any(|other| other.session == waiting.session) {
            self.write(frame);
        }
        frame.push(waiting);
    }

    /// Writes the records of a frame and answers them.
    fn write(&mut self, waiting: &mut Vec<Waiting>) {
        let (accepted, refused): (Vec<Waiting>, Vec<Waiting>) =
            waiting.drain(..).partition(|record| self.index.accepts(&record.session, record.kind));
        refused.iter().for_each(|record| record.answer(Err(Unsaved::Closed)));
        if accepted.is_empty() {
            return;
        }
        let records = accepted.iter().map(|record| record.line.as_slice()).collect::<Vec<_>>().join(&b'\n');
        match self.append(&records) {
            Ok(offset) => {
                for (record, (extent, _)) in accepted.iter().zip(extents(offset, &records)) {
                    let is_long = self.index.add(&record.session, record.kind, extent);
                    record.answer(Ok(Saved { is_long }));
                }
            }
            Err(why) => accepted.iter().for_each(|record| record.answer(Err(Unsaved::Failed(why.clone())))),
        }
    }

    /// Appends a frame to the file, and returns its offset. After an error the file is as before, or nothing more is
    /// written.
    fn append(&mut self, records: &[u8]) -> Result<u64, String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        let offset = self.end;
        let frame = frame(records).map_err(|error| error.to_string())?;
        if let Err(error) = append(&mut self.file, offset, &frame) {
            // Space may be available again later.
            if let Err(error) = self.file.set_len(offset) {
                self.set_broken(&error.to_string());
            }
            self.report("not-saved", &format!("a change is not saved: {error}"));
            return Err(error.to_string());
        }
        if let Err(error) = self.file.sync_data() {
            // After this error the system may report success without having written the data.
            _ = self.file.set_len(offset);
            self.set_broken(&error.to_string());
            return Err(error.to_string());
        }
        self.end += frame.len() as u64;
        Ok(offset)
    }

    /// Refuses all further records.
    fn set_broken(&mut self, error: &str) {
        let path = self.path.display();
        let why = format!("{path} cannot be used ({error}); no more changes are accepted until a restart");
        self.report("journal-broken", &why);
        self.broken = Some(why);
    }

    fn report(&self, event: &'static str, message: &str) {
        self.log.report(Level::Error, event, message, &[]);
    }

    /// The records of a session.
    pub(super) fn read(&mut self, session: &str) -> Result<Vec<Vec<u8>>, Unsaved> {
        let extents: Vec<Extent> = self.index.records(session).ok_or(Unsaved::Closed)?.collect();
        let lines = extents.into_iter().map(|extent| extent.read(&mut self.file)).collect::<io::Result<_>>();
        lines.map_err(|error| Unsaved::Failed(error.to_string()))
    }

    /// Rewrites the file with the live records only. After an error the old file is used.
    pub(super) fn rewrite(&mut self) {
        if self.broken.is_some() {
            return;
        }
        if let Err(error) = self.try_rewrite() {
            self.rewrite_at = 2 * self.end;
            let message = format!("{} is not rewritten: {error}", self.path.display());
            self.log.report(Level::Warning, "not-rewritten", &message, &[]);
        }
    }

    fn try_rewrite(&mut self) -> io::Result<()> {
        let new_path = self.path.with_extension("new");
        let copied = self.copy_to(&new_path);
        let renamed = copied.and_then(|copy| fs::rename(&new_path, &self.path).map(|()| copy));
        match renamed {
            Ok((file, end, index)) => {
                (self.file, self.end, self.index, self.rewrite_at) = (file, end, index, 0)
            }
            Err(error) => {
                _ = fs::remove_file(&new_path);
                return Err(error);
            }
        }
        // The new file is in use. If its name is not durable, the old content could return after a power failure.
        start::sync_folder(&self.path).inspect_err(|error| self.set_broken(&error.to_string()))
    }

    /// Writes a file with the live records.
    fn copy_to(&mut self, path: &Path) -> io::Result<(File, u64, Index)> {
        let mut file = start::create(path)?;
        let mut index = self.index.clone();
        let count = Record::Count { opened: index.opened }.line().map_err(io::Error::other)?;
        let first = [header(), frame(&count)?].concat();
        append(&mut file, 0, &first)?;
        let mut end = first.len() as u64;
        for session in self.index.sessions() {
            let mut copies = Vec::new();
            for extent in self.index.records(session).into_iter().flatten() {
                let line = extent.read(&mut self.file)?;
                let frame = frame(&line)?;
                append(&mut file, end, &frame)?;
                copies.push(Extent::new(end + HEAD_BYTES, &line));
                end += frame.len() as u64;
            }
            index.move_records(session, copies.into_iter());
        }
        file.sync_all()?;
        Ok((file, end, index))
    }
}
