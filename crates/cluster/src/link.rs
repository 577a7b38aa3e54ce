//! The line between the supervising process and a worker: frames of JSON, each with its length.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Reply};
use crate::keep::Checkpoints;

/// What both ends speak; they must be of one version.
pub(crate) const PROTOCOL: &str = concat!("masque ", env!("CARGO_PKG_VERSION"), " cluster 2");

/// The longest frame that is believed.
const LONGEST: u32 = 1 << 30;

/// From the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Setup(Box<Setup>),
    /// The addresses of all workers.
    Peers(Vec<String>),
    Command(Command),
    /// Stop what you do.
    Stop,
}

/// All that a worker must know before it begins.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) index: usize,
    pub(crate) workers: usize,
    /// What workers show each other.
    pub(crate) token: String,
    /// The address to listen at for other workers.
    pub(crate) bind: String,
    /// How long to wait for them.
    pub(crate) patience: Duration,
    pub(crate) memory: Option<u64>,
    pub(crate) checkpoints: Option<Checkpoints>,
    /// What the model and the question are, as a number.
    pub(crate) model: u64,
    /// The model itself, as whoever loads it likes it.
    pub(crate) payload: String,
}

/// From a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The first words: who speaks, by which right, and where other workers find it, if it knows.
    Hello {
        protocol: String,
        token: String,
        host: Option<String>,
    },
    /// It listens for other workers at this port.
    Listening(u16),
    /// It is connected to all other workers.
    Ready,
    /// It lives, and knows of so many states, at all workers, in so many layers.
    Alive {
        states: u64,
        layer: u64,
    },
    Reply(Reply),
    /// It cannot go on.
    Failed(String),
}

/// Writes a frame.
pub(crate) fn write(out: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|&length| length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&bytes)?;
    out.flush()
}

/// Reads a frame; none at the end.
pub(crate) fn read<T: DeserializeOwned>(input: &mut dyn Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match input.read(&mut length)? {
        0 => return Ok(None),
        n => input.read_exact(&mut length[n..])?,
    }
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "that is not a worker of ours"));
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
    fn frames_come_back_and_nonsense_does_not() {
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
