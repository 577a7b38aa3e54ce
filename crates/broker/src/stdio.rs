//! The service over standard input and output: one message in a line, one answer in a line.
//!
//! A line beyond the limit is skipped while it is read, and answered with an error. So many messages
//! may be under way; then the next line is not read before an answer is written. A client that never
//! reads so stops its own input, and nothing piles up.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fault::Fault;
use crate::rpc::{self, Id};
use crate::service::Service;

/// Messages that are begun and not answered yet.
const MOST_UNDER_WAY: usize = 1_024;

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Text(Vec<u8>),
    /// Longer than a message may be.
    TooLong,
}

/// An answer; its place is free once it is written.
type Written = (String, OwnedSemaphorePermit);

/// Serves until the input ends, the client asks for the end, or the service is stopped.
///
/// At the end of the input the calls under way come to their own end; a file of requests gets all its
/// answers. The threads that read and write are left behind if they are stuck.
pub async fn serve<R, W>(service: Arc<Service>, input: R, output: W) -> io::Result<()>
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    let (lines_in, mut lines) = channel(1);
    let (answers, answers_out) = channel::<Written>(MOST_UNDER_WAY);
    let most = service.limits.body;
    std::thread::Builder::new().name("input".to_string()).spawn(move || read(input, most, &lines_in))?;
    let (done_in, mut done) = tokio::sync::oneshot::channel();
    let writer = Arc::clone(&service);
    std::thread::Builder::new().name("output".to_string()).spawn(move || {
        if write(output, answers_out).is_err() {
            // Nobody is left to answer to.
            writer.tickets.cancel(|_| true);
            writer.stop();
        }
        _ = done_in.send(());
    })?;
    let client = service.client(true);
    let places = Arc::new(Semaphore::new(MOST_UNDER_WAY));
    let is_ended = loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((lines.recv().await?, place))
        };
        let (line, place) = tokio::select! {
            next = next => match next {
                Some(next) => next,
                None => break true,
            },
            () = service.stopped() => break false,
        };
        let pending = match line {
            Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Text(text) => service.begin(client, &text),
            Line::TooLong => {
                let message = format!("the message is too large; {most} bytes are accepted");
                let answer = rpc::answer(&Id::null(), &Err(Fault::limit("body", message)));
                _ = answers.send((answer, place)).await;
                continue;
            }
        };
        let answers = answers.clone();
        tokio::spawn(async move {
            if let Some(answer) = pending.answer().await {
                _ = answers.send((answer, place)).await;
            }
        });
    };
    drop(answers);
    let mut is_written = false;
    if is_ended {
        service.log.event("the input has ended");
        service.refuse_calls();
        tokio::select! {
            // The output ends when the last call has its answer.
            _ = &mut done => is_written = true,
            () = service.stopped() => {}
        }
    }
    service.finish().await;
    if !is_written {
        // What is answered is to be read, if anybody does.
        _ = tokio::time::timeout(service.limits.grace, done).await;
    }
    Ok(())
}

fn read(mut input: impl BufRead, most: usize, lines: &Sender<Line>) {
    // An input that cannot be read has ended.
    while let Ok(Some(line)) = next_line(&mut input, most) {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// The next line, never more than so many bytes of it in memory; none at the end.
fn next_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
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
        if text.len() + taken.len() > most {
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

fn write(mut output: impl Write, mut answers: Receiver<Written>) -> io::Result<()> {
    while let Some((answer, place)) = answers.blocking_recv() {
        output.write_all(answer.as_bytes())?;
        output.write_all(b"\n")?;
        if answers.is_empty() {
            output.flush()?;
        }
        drop(place);
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
