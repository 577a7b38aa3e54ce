//! The protocol between the supervising process and a worker: frames of JSON, each preceded by its length
//! in bytes.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoints;
use crate::command::{Command, Reply};

/// Name and version of the protocol; both ends must have the same.
pub(crate) const PROTOCOL: &str = concat!("masque ", env!("CARGO_PKG_VERSION"), " cluster 2");

/// Maximum length of a frame, in bytes.
const MAX_FRAME_BYTES: u32 = 1 << 30;

/// A message from the supervisor to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Setup(Box<Setup>),
    /// The addresses of all workers.
    Peers(Vec<String>),
    Command(Command),
    /// Cancel the current command.
    Stop,
}

/// What a worker needs to know before it starts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) index: usize,
    pub(crate) workers: usize,
    /// Token of the run, which workers present when they connect to each other.
    pub(crate) token: String,
    /// Address at which to listen for other workers.
    pub(crate) bind: String,
    /// Maximum time to wait for the other workers.
    pub(crate) patience: Duration,
    /// Memory limit in bytes.
    pub(crate) memory: Option<u64>,
    pub(crate) checkpoints: Option<Checkpoints>,
    /// Hash of the model and the properties, which checkpoints must match.
    pub(crate) model: u64,
    /// The model, in the format that the worker's `load` function reads.
    pub(crate) payload: String,
}

/// A message from a worker to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The first message.
    Hello {
        protocol: String,
        token: String,
        /// Host name at which other workers reach this one, if it is known.
        host: Option<String>,
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
}

/// Writes a frame.
pub(crate) fn write(out: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|&length| length <= MAX_FRAME_BYTES);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&bytes)?;
    out.flush()
}

/// Reads a frame; returns `None` at the end of the input.
pub(crate) fn read<T: DeserializeOwned>(input: &mut dyn Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match input.read(&mut length)? {
        0 => return Ok(None),
        n => input.read_exact(&mut length[n..])?,
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the other end is not a masque worker"));
    }
    let mut bytes = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other)
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
    }
}
