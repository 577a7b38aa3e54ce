//! Requests that give their length twice.
//!
//! A request with both `Content-Length` and `Transfer-Encoding` can mean one thing to a proxy and another to this
//! service, so it is refused. The HTTP library removes `Content-Length` from such a request, so the raw bytes of
//! recent headers are kept beside it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::lock;

/// The last bytes that a connection has received.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentBytes(Arc<Mutex<Vec<u8>>>);

/// A stream that keeps the last bytes that it has received.
pub(crate) struct Recorded<S> {
    stream: S,
    recent: RecentBytes,
    /// Maximum number of bytes that are kept.
    max_bytes: usize,
}

impl<S> Recorded<S> {
    /// Keeps at most `max_bytes` bytes of a stream.
    pub(crate) fn new(stream: S, max_bytes: usize) -> Recorded<S> {
        Recorded { stream, recent: RecentBytes::default(), max_bytes }
    }

    /// The bytes that are kept.
    pub(crate) fn recent(&self) -> RecentBytes {
        self.recent.clone()
    }
}

impl RecentBytes {
    fn add(&self, bytes: &[u8], max_bytes: usize) {
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

impl<S: AsyncRead + Unpin> AsyncRead for Recorded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.recent.add(&buf.filled()[before..], self.max_bytes);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Recorded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
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
