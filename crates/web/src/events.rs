//! Messages to open pages, as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use hyper::body::Frame;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::overview::progress;
use crate::state::{App, Event};

/// Time after which an empty message shows whether the page is still open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A response that does not end: one message for each event.
pub(crate) fn events(app: Arc<App>) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        let mut events = app.events.subscribe();
        // A page may be older than the model, because it was loaded before it connects.
        let changed = || text("changed", &app.model().revision.to_string());
        let mut message = changed();
        while sender.send(Bytes::from(message)).await.is_ok() {
            message = tokio::select! {
                event = events.recv() => match event {
                    Ok(Event::Progress) => text("progress", &progress(&app.model()).into_string()),
                    Ok(Event::Changed) | Err(RecvError::Lagged(_)) => changed(),
                    Err(RecvError::Closed) => break,
                },
                () = tokio::time::sleep(KEEP_ALIVE) => ": still here\n\n".to_string(),
                () = sender.closed() => break,
            };
        }
    });
    let mut response = Response::new(Body::new(EventBody(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A message in the form of the protocol: a line of a text is a line of data.
fn text(event: &str, data: &str) -> String {
    let mut message = format!("event: {event}\n");
    for line in data.split(['\n', '\r']) {
        message += "data: ";
        message += line;
        message.push('\n');
    }
    message.push('\n');
    message
}

/// The body of a response that is sent piece by piece.
struct EventBody(mpsc::Receiver<Bytes>);

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_text_cannot_end_its_message() {
        assert_eq!(
            text("progress", "a\n\nevent: b\rc"),
            "event: progress\ndata: a\ndata: \ndata: event: b\ndata: c\n\n"
        );
    }
}
