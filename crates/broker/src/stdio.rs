//! The service over standard input and output: one message per line, one response per line.
//!
//! A line that is longer than the limit is skipped while it is read, and the response is an error. At most
//! [`MAX_OPEN_MESSAGES`] messages are in progress; then the next line is read only after a response is written.
//! So a client that never reads responses blocks only its own input, and memory stays bounded.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fault::Fault;
use crate::rpc::{self, Id};
use crate::service::Service;

/// Maximum number of messages without a response.
pub(crate) const MAX_OPEN_MESSAGES: usize = 1_024;

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(Vec<u8>),
    /// A line that is longer than the limit of a message.
    TooLong,
}

/// A response, and the permits that are released once it is written.
type Written = (String, Permits);

/// Permits for a message, and for the memory that it needs.
type Permits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

/// Bytes per unit in which memory for messages is reserved.
pub(crate) const BYTES_PER_UNIT: usize = 1024;

impl Line {
    /// Number of bytes in memory.
    pub(crate) fn len(&self) -> usize {
        match self {
            Line::Text(text) => text.len(),
            Line::TooLong => 0,
        }
    }
}

/// Serves until the input ends, the client calls `shutdown`, or the service is stopped.
///
/// At the end of the input the calls in progress are finished, so a file of requests gets all its responses. The
/// threads that read and write are abandoned if they are stuck.
pub async fn serve<R, W>(service: Arc<Service>, input: R, output: W) -> io::Result<()>
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    let (lines_in, mut lines) = channel(1);
    let (answers, answers_out) = channel::<Written>(MAX_OPEN_MESSAGES);
    let max_bytes = service.limits.body;
    std::thread::Builder::new().name("input".to_string()).spawn(move || read(input, max_bytes, &lines_in))?;
    let (done_in, mut done) = tokio::sync::oneshot::channel();
    let writer = Arc::clone(&service);
    std::thread::Builder::new().name("output".to_string()).spawn(move || {
        if write(output, answers_out).is_err() {
            // The output is closed, so no response can be delivered.
            writer.tickets.cancel(|_| true);
            writer.stop();
        }
        _ = done_in.send(());
    })?;
    let client = service.client(true);
    let permits = Arc::new(Semaphore::new(MAX_OPEN_MESSAGES));
    let max_units = (service.limits.bodies / BYTES_PER_UNIT).max(1);
    let memory = Arc::new(Semaphore::new(max_units));
    let is_ended = loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await.ok()?;
            let line = lines.recv().await?;
            let units = line.len().div_ceil(BYTES_PER_UNIT).min(max_units);
            let units = u32::try_from(units).unwrap_or(u32::MAX);
            let memory = Arc::clone(&memory).acquire_many_owned(units).await.ok();
            Some((line, (permit, memory)))
        };
        let (line, permit) = tokio::select! {
            next = next => match next {
                Some(next) => next,
                None => break true,
            },
            () = service.stopped() => break false,
        };
        let (pending, share) = match line {
            Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Text(text) => match service.message_memory(text.len()) {
                Ok(share) => (service.begin(client, &text), share),
                Err(fault) => {
                    _ = answers.send((rpc::answer(&Id::null(), &Err(fault)), permit)).await;
                    continue;
                }
            },
            Line::TooLong => {
                let message = format!("the message is too large; the maximum is {max_bytes} bytes");
                let answer = rpc::answer(&Id::null(), &Err(Fault::limit("body", message)));
                _ = answers.send((answer, permit)).await;
                continue;
            }
        };
        let answers = answers.clone();
        tokio::spawn(async move {
            let answer = pending.answer().await;
            drop(share);
            if let Some(answer) = answer {
                _ = answers.send((answer, permit)).await;
            }
        });
    };
    drop(answers);
    let mut is_written = false;
    if is_ended {
        service.log.event("input-ended", "the input has ended");
        service.refuse_calls();
        tokio::select! {
            // The output ends after the response to the last call.
            _ = &mut done => is_written = true,
            () = service.stopped() => {}
        }
    }
    service.finish().await;
    if !is_written {
        // Wait until the responses are written, if the client reads them.
        _ = tokio::time::timeout(service.limits.grace, done).await;
    }
    Ok(())
}

/// Reads lines until the input ends or the receiver is dropped.
pub(crate) fn read(mut input: impl BufRead, max_bytes: usize, lines: &Sender<Line>) {
    // A read error counts as the end of the input.
    while let Ok(Some(line)) = next_line(&mut input, max_bytes) {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Reads the next line, with at most `max_bytes` bytes of it in memory; none at the end of the input.
fn next_line(input: &mut impl BufRead, max_bytes: usize) -> io::Result<Option<Line>> {
    let (mut text, mut is_long, mut is_begun) = (Vec::new(), false, false);
    loop {
        let part = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            part => part?,
        };
        if part.is_empty() {
            break;
        }
        is_begun = true;
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = &part[..end.unwrap_or(part.len())];
        if text.len() + taken.len() > max_bytes {
            is_long = true;
            text = Vec::new();
        }
        if !is_long {
            text.extend_from_slice(taken);
        }
        let n_read = taken.len() + usize::from(end.is_some());
        input.consume(n_read);
        if end.is_some() {
            break;
        }
    }
    Ok(is_begun.then_some(if is_long { Line::TooLong } else { Line::Text(text) }))
}

/// Writes responses until the sender is dropped. What belongs to a response is dropped when it is written.
pub(crate) fn write<P>(mut output: impl Write, mut answers: Receiver<(String, P)>) -> io::Result<()> {
    while let Some((answer, permit)) = answers.blocking_recv() {
        output.write_all(answer.as_bytes())?;
        output.write_all(b"\n")?;
        if answers.is_empty() {
            output.flush()?;
        }
        drop(permit);
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_and_their_limit() {
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        let long = "x".repeat(1_000);
        let input = format!("one\n\n{long}\n12345678\n123456789\nlast");
        for capacity in [1, 3, 8, 4_096] {
            let mut input = BufReader::with_capacity(capacity, input.as_bytes());
            let mut lines = Vec::new();
            while let Some(line) = next_line(&mut input, 8).unwrap() {
                lines.push(line);
            }
            let expected =
                [text("one"), text(""), Line::TooLong, text("12345678"), Line::TooLong, text("last")];
            assert_eq!(lines, expected, "{capacity}");
        }
    }
}
