//! Messages on byte streams: a header with the length, then JSON.

use std::io::{self, BufRead, Read, Write};

use lsp_server::Message;

/// Maximum bytes of a message.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// Maximum bytes of a line of the header.
const MAX_HEADER_BYTES: u64 = 8 << 10;

/// What was read from the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Box<Message>),
    /// A text that is no message, with the reason.
    Malformed(String),
    /// The stream has ended, or cannot be understood any more.
    End,
}

/// Reads the next message.
pub(crate) fn read(stream: &mut impl BufRead) -> Incoming {
    match read_bytes(stream) {
        Ok(Some(bytes)) => match serde_json::from_slice(&bytes) {
            Ok(message) => Incoming::Message(Box::new(message)),
            Err(error) => Incoming::Malformed(error.to_string()),
        },
        Ok(None) | Err(_) => Incoming::End,
    }
}

/// Reads the bytes of the next message; none at the end of the stream.
fn read_bytes(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        stream.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = String::from_utf8(line).map_err(|_| invalid())?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(invalid)?;
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse::<usize>().map_err(|_| invalid())?);
        }
    }
    let length = length.filter(|length| *length <= MAX_MESSAGE_BYTES).ok_or_else(invalid)?;
    let mut bytes = Vec::new();
    stream.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == length).then_some(bytes))
}

/// Writes an error response to a text that is no message, whose id is not known.
pub(crate) fn refuse(stream: &mut impl Write, reason: &str) -> io::Result<()> {
    let error = serde_json::json!({"code": lsp_server::ErrorCode::ParseError as i32, "message": reason});
    let text = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
    write!(stream, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(mut bytes: &[u8]) -> String {
        let mut kinds = String::new();
        loop {
            match read(&mut bytes) {
                Incoming::Message(_) => kinds.push('m'),
                Incoming::Malformed(_) => kinds.push('x'),
                Incoming::End => return kinds,
            }
        }
    }

    #[test]
    fn messages_and_what_is_none() {
        let good = "content-length: 33\r\nX: y\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        assert_eq!(kinds(good.as_bytes()), "m");
        let bad = "Content-Length: 3\r\n\r\n{{{";
        assert_eq!(kinds(format!("{bad}{good}").as_bytes()), "xm");
        for end in [
            "",
            "Content-Length: 99\r\n\r\n{}",
            "nonsense\r\n\r\n",
            "Content-Length: 99999999999\r\n\r\n",
            "\r\n",
        ] {
            assert_eq!(kinds(end.as_bytes()), "", "{end}");
        }
    }
}
