//! The protocol between the supervising process and a worker: frames of JSON, each preceded by its length
//! in bytes.

use std::cmp::Ordering;
use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoints;
use crate::command::{Command, Reply};
use crate::token::{Bytes, Digest};

/// Name and version of the protocol; both ends must have the same.
pub(crate) const PROTOCOL: &str = concat!("masque ", env!("CARGO_PKG_VERSION"), " cluster 4");

/// Number of bytes that hold the length of a frame.
const LENGTH_BYTES: usize = 4;
/// Maximum length of a frame between ends that know each other, in bytes.
const MAX_FRAME_BYTES: u32 = 1 << 30;
/// Maximum length of a frame before the other end has proved that it belongs to the run, in bytes.
pub(crate) const MAX_FIRST_FRAME_BYTES: u32 = 640;

/// A message from the supervisor to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Setup(Box<Setup>),
    /// The addresses of all workers.
    Peers(Vec<String>),
    Command(Command),
    /// Cancel the current command.
    Stop,
    /// A heartbeat.
    Alive,
    /// The supervisor is about to be suspended, and sends no heartbeats until it continues.
    Suspended,
}

/// What a worker needs to know before it starts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) index: usize,
    pub(crate) workers: usize,
    /// Random name of the run.
    pub(crate) run: Bytes,
    /// Text of the token with which workers connect to each other. `None` if the worker knows it: it is
    /// sent only through the standard input of a process that the supervisor has started.
    pub(crate) token: Option<String>,
    /// Address at which to listen for other workers.
    pub(crate) bind: String,
    /// Maximum time to wait for the other workers.
    pub(crate) patience: Duration,
    /// Time without a message after which the supervisor is lost. `None` if there is no network between
    /// supervisor and worker: then the end of the supervisor closes the worker's input.
    pub(crate) silence: Option<Duration>,
    /// Time without a reply after which a connection to another worker is lost.
    pub(crate) connection_timeout: Duration,
    /// Memory limit in bytes.
    pub(crate) memory: Option<u64>,
    pub(crate) checkpoints: Option<Checkpoints>,
    /// The supervisor's build, which must be that of the worker.
    pub(crate) build: String,
    /// Digest of the model and the properties, which checkpoints must match.
    pub(crate) model: Digest,
    /// The model, in the format that the worker's `load` function reads.
    pub(crate) payload: String,
}

/// A message from a worker to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The first message of a process that the supervisor has started.
    Hello {
        protocol: String,
    },
    /// The worker listens for other workers at this port.
    Listening(u16),
    /// The worker is connected to all other workers.
    Ready,
    /// A heartbeat.
    Alive {
        /// Number of states found so far by all workers.
        states: u64,
        /// Number of layers explored so far.
        layer: u64,
    },
    Reply(Reply),
    /// The worker cannot continue.
    Failed(String),
    /// The worker cannot continue because it has no memory: a message of one line.
    OutOfMemory(String),
}

/// Writes a frame, with a single call if the output accepts it.
pub(crate) fn write(out: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    write_encoded(out, &encode(message)?)
}

/// Writes a frame that [`encode`] has made.
pub(crate) fn write_encoded(out: &mut dyn Write, frame: &[u8]) -> io::Result<()> {
    out.write_all(frame)?;
    out.flush()
}

/// Encodes a message as a frame.
pub(crate) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut bytes, message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - LENGTH_BYTES).ok().filter(|&length| length <= MAX_FRAME_BYTES);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    bytes[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Reads a frame; returns `None` at the end of the input.
pub(crate) fn read<T: DeserializeOwned>(input: &mut dyn Read) -> io::Result<Option<T>> {
    read_at_most(input, MAX_FRAME_BYTES)
}

/// Reads a frame of at most this number of bytes; returns `None` at the end of the input. Memory is
/// allocated as bytes arrive.
pub(crate) fn read_at_most<T: DeserializeOwned>(
    input: &mut dyn Read,
    max_bytes: u32,
) -> io::Result<Option<T>> {
    let mut length = [0; LENGTH_BYTES];
    match input.read(&mut length)? {
        0 => return Ok(None),
        n => input.read_exact(&mut length[n..])?,
    }
    let length = checked_length(length, max_bytes)?;
    let mut bytes = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other)
}

/// Decodes the bytes received so far, which are to be one frame of at most `max_bytes`; returns `None` if
/// it is not complete.
pub(crate) fn decode<T: DeserializeOwned>(received: &[u8], max_bytes: u32) -> io::Result<Option<T>> {
    let Some((length, bytes)) = received.split_first_chunk() else { return Ok(None) };
    match bytes.len().cmp(&(checked_length(*length, max_bytes)? as usize)) {
        Ordering::Less => Ok(None),
        Ordering::Equal => serde_json::from_slice(bytes).map(Some).map_err(io::Error::other),
        Ordering::Greater => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn checked_length(length: [u8; LENGTH_BYTES], max_bytes: u32) -> io::Result<u32> {
    match u32::from_le_bytes(length) {
        length if length <= max_bytes => Ok(length),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the other end is not a masque worker")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_round_trip_and_invalid_frames_are_errors() {
        let mut bytes = Vec::new();
        write(&mut bytes, &Order::Stop).unwrap();
        write(&mut bytes, &Order::Peers(vec!["a:1".to_string()])).unwrap();
        let mut input = &bytes[..];
        assert!(matches!(read(&mut input).unwrap(), Some(Order::Stop)));
        assert!(matches!(read(&mut input).unwrap(), Some(Order::Peers(list)) if list == ["a:1"]));
        assert!(read::<Order>(&mut input).unwrap().is_none());
        let cases: [&[u8]; 4] = [&[1, 0], &[9, 0, 0, 0, b'"'], &[2, 0, 0, 0, b'{', b'}'], &[255; 8]];
        for case in cases {
            assert!(read::<Order>(&mut &case[..]).is_err(), "{case:?}");
        }
        let length = bytes.len() as u32;
        assert!(read_at_most::<Order>(&mut &bytes[..], 3).is_err());
        let first = &bytes[..10];
        assert!((0..10).all(|n| decode::<Order>(&first[..n], length).unwrap().is_none()));
        assert!(matches!(decode(first, length).unwrap(), Some(Order::Stop)));
        assert!(decode::<Order>(first, 5).is_err() && decode::<Order>(&bytes, length).is_err());
    }
}
