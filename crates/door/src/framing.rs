//! Requests that give their length twice.
//!
//! A request with both `Content-Length` and `Transfer-Encoding` can mean one thing to a proxy and another to this
//! service, so it is refused. The HTTP library removes `Content-Length` from such a request, so the raw bytes of
//! recent headers are kept beside it.

use std::sync::{Arc, Mutex};

use crate::lock;

/// The last bytes that a connection has received.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentBytes(Arc<Mutex<Vec<u8>>>);

impl RecentBytes {
    /// Adds bytes, and keeps at most the last `max_bytes`.
    pub(crate) fn add(&self, bytes: &[u8], max_bytes: usize) {
        let mut recent = lock(&self.0);
        let n_old = recent.len().min(max_bytes.saturating_sub(bytes.len()));
        let n_dropped = recent.len() - n_old;
        recent.drain(..n_dropped);
        recent.extend_from_slice(&bytes[bytes.len().saturating_sub(max_bytes)..]);
    }

    /// Whether a header among the bytes gives its length twice.
    pub(crate) fn have_two_lengths(&self) -> bool {
        has_two_lengths(&lock(&self.0))
    }
}

/// Whether some lines without an empty one between them have both headers.
fn has_two_lengths(bytes: &[u8]) -> bool {
    let (mut has_length, mut has_encoding) = (false, false);
    for line in bytes.split(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii();
        if name.is_empty() && line.trim_ascii().is_empty() {
            (has_length, has_encoding) = (false, false);
        }
        has_length |= name.eq_ignore_ascii_case(b"content-length");
        has_encoding |= name.eq_ignore_ascii_case(b"transfer-encoding");
        if has_length && has_encoding {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn lengths_that_are_given_twice() {
        let check = |text: &str, expected: bool| assert_eq!(has_two_lengths(text.as_bytes()), expected, "{text}");
        check("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",  true);
        check("POST / HTTP/1.1\ntransfer-ENCODING:chunked\ncontent-length:3\n\n",              true);
        check("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", false);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",                         false);
        check("X: Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",                    false);
    }

    #[test]
    fn only_the_last_bytes_are_kept() {
        let recent = RecentBytes::default();
        for part in ["abc", "defg", "h", "0123456789"] {
            recent.add(part.as_bytes(), 6);
        }
        assert_eq!(*lock(&recent.0), b"456789");
        recent.add(b"xy", 6);
        assert_eq!(*lock(&recent.0), b"6789xy");
    }
}
