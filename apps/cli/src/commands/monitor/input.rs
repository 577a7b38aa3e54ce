//! Bytes of a log: from a file, a file that grows, or a stream.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, Builder};
use std::time::Duration;

use masque_monitor::record::{FollowedFile, Look};

/// Time between two looks at a file that grows, and at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Number of bytes that are read from a stream at once.
const PIECE_BYTES: usize = 64 << 10;

/// The source of a log.
pub(super) enum Input {
    /// A regular file.
    File {
        file: FollowedFile,
        /// Whether the file is read as it grows.
        is_followed: bool,
    },
    /// Standard input, a pipe or a device, which another thread reads, because reading may wait.
    Stream(Receiver<io::Result<Vec<u8>>>),
}

/// What comes next.
pub(super) enum Next {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Nothing for now, after a short wait.
    Nothing,
    /// The log ends.
    End,
    /// Another file has the name of the log.
    Rotated,
    /// The log was truncated or written again.
    Truncated,
    /// No file has the name of the log.
    Missing,
}

impl Input {
    /// Opens a log; `-` is standard input.
    pub(super) fn open(path: &Path, is_followed: bool) -> io::Result<Input> {
        if path == Path::new("-") {
            return Input::stream(Box::new(io::stdin()));
        }
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        if metadata.is_file() {
            return Ok(Input::File { file: FollowedFile::open(path)?, is_followed });
        }
        Input::stream(Box::new(fs::File::open(path)?))
    }

    fn stream(source: Box<dyn Read + Send>) -> io::Result<Input> {
        let (sender, receiver) = sync_channel(2);
        Builder::new().name("input".to_string()).spawn(move || read_all(source, &sender))?;
        Ok(Input::Stream(receiver))
    }

    /// Reads what comes next.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        match self {
            Input::Stream(pieces) => match pieces.recv_timeout(POLL_INTERVAL) {
                Ok(piece) => piece.map(Next::Bytes),
                Err(RecvTimeoutError::Timeout) => Ok(Next::Nothing),
                Err(RecvTimeoutError::Disconnected) => Ok(Next::End),
            },
            Input::File { file, is_followed } => {
                let look = file.look()?;
                match look {
                    Look::Bytes(bytes) => Ok(Next::Bytes(bytes.to_vec())),
                    Look::Truncated if !*is_followed => {
                        Err(io::Error::other("it was truncated or written again while it was read"))
                    }
                    _ if !*is_followed => Ok(Next::End),
                    Look::Nothing => {
                        thread::sleep(POLL_INTERVAL);
                        Ok(Next::Nothing)
                    }
                    Look::Rotated => Ok(Next::Rotated),
                    Look::Truncated => Ok(Next::Truncated),
                    Look::Missing => Ok(Next::Missing),
                }
            }
        }
    }
}

/// Reads a stream to its end, or until its reader is gone.
fn read_all(mut source: Box<dyn Read + Send>, sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => return,
            Ok(n_bytes) => Ok(piece[..n_bytes].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_over = read.is_err();
        if sender.send(read).is_err() || is_over {
            return;
        }
    }
}
