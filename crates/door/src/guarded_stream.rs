//! The stream of a connection: it keeps the bytes that were received last, and its writes time out if the other side
//! does not read.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::framing::RecentBytes;

/// A stream that keeps the bytes that were received last, and whose writes fail if the other side accepts nothing for
/// some time.
pub(crate) struct GuardedStream<S> {
    stream: S,
    recent: RecentBytes,
    /// Maximum number of received bytes that are kept.
    max_recent: usize,
    write_limit: Duration,
    /// Runs while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> GuardedStream<S> {
    /// A stream whose writes wait at most `write_limit`, and that keeps the last `max_recent` bytes received.
    pub(crate) fn new(stream: S, write_limit: Duration, max_recent: usize) -> GuardedStream<S> {
        GuardedStream { stream, recent: RecentBytes::default(), max_recent, write_limit, timer: None }
    }

    /// The received bytes that are kept.
    pub(crate) fn recent(&self) -> RecentBytes {
        self.recent.clone()
    }

    /// Returns the result of a write, or an error if the write has waited too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let limit = self.write_limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(timer.as_mut().poll(cx));
        self.timer = None;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GuardedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.recent.add(&buf.filled()[before..], self.max_recent);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.watch(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[test]
    fn a_write_times_out_if_the_other_side_never_reads() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (near, mut far) = duplex(10);
            let mut stream = GuardedStream::new(near, Duration::from_millis(50), 10);
            let error = stream.write_all(&[0; 100]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            // A slow reader is accepted.
            let reader = async {
                let mut buffer = [0; 10];
                // Ten bytes of the first write are still in the buffer.
                for _ in 0..9 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    _ = far.read(&mut buffer).await.unwrap();
                }
            };
            let (written, ()) = tokio::join!(stream.write_all(&[0; 80]), reader);
            assert!(written.is_ok());
        });
    }
}
