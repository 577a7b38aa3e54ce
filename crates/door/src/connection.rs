//! Listening on an address, and one connection from its first request to its last.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CONNECTION, HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::access::{AccessRules, Refusal};
use crate::framing::RecentBytes;
use crate::guarded_stream::GuardedStream;
use crate::lobby::Visitor;

/// Maximum bytes of the header of a request, and of the data that a connection reads ahead.
const MAX_HEADER_BYTES: usize = 8 << 10;
/// Number of connections that the operating system holds until they are accepted. If there are more, a client must
/// try again, which its system does after a second.
const MAX_UNACCEPTED_CONNECTIONS: u32 = 4096;

/// Listens on an address. Must be called within a tokio runtime.
///
/// # Errors
///
/// If the address cannot be used.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A service that is started again may use the same address at once.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MAX_UNACCEPTED_CONNECTIONS)
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The client or the service closed it.
    Closed,
    /// It did not show the token in time.
    Dismissed,
}

/// Serves one connection until it is closed, has to leave the lobby, or `stopped` is ready. `patience` is the time that
/// a client may take to send a header or to accept data.
pub async fn serve_connection(
    stream: TcpStream,
    router: Router,
    visitor: Arc<Visitor>,
    patience: Duration,
    stopped: impl Future<Output = ()>,
) -> ConnectionEnd {
    // A response is written at once, so delaying it to collect more data is useless.
    _ = stream.set_nodelay(true);
    // The header of the current request is among the bytes that were read ahead and the last ones before them.
    let stream = GuardedStream::new(stream, patience, 2 * MAX_HEADER_BYTES);
    let recent = stream.recent();
    let io = TokioIo::new(stream);
    let (router, own) = (TowerToHyperService::new(router), Arc::clone(&visitor));
    let with_visitor = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&own));
        request.extensions_mut().insert(recent.clone());
        router.call(request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(io, with_visitor);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // It is no error if a client disconnects.
        _ = connection.as_mut() => return ConnectionEnd::Closed,
        () = visitor.must_leave() => return ConnectionEnd::Dismissed,
        () = stopped => connection.as_mut().graceful_shutdown(),
    }
    _ = connection.await;
    ConnectionEnd::Closed
}

/// Checks everything about a request but its token: its length, host and origin.
///
/// # Errors
///
/// If the request is refused.
pub fn check_headers(rules: &AccessRules, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    if headers.contains_key(TRANSFER_ENCODING)
        && request.extensions().get::<RecentBytes>().is_some_and(RecentBytes::have_two_lengths)
    {
        let message = "the request has both `Content-Length` and `Transfer-Encoding`";
        return Err(Refusal { status: 400, message });
    }
    // Several origins, or one that is not text, are treated as the unknown origin `null`.
    let origin = headers.contains_key(ORIGIN).then(|| only(headers, ORIGIN).unwrap_or("null"));
    let origin = origin.filter(|origin| *origin != "null" || !is_hidden_own_origin(headers));
    rules.check_host(only(headers, HOST), origin)?;
    // The first line of a request may name the host, too.
    match request.uri().authority() {
        Some(authority) => rules.check_host(Some(authority.as_str()), None),
        None => Ok(()),
    }
}

/// Whether the origin is `null` because of a `Referrer-Policy` of this service. A browser then sends forms of its pages
/// with this origin, and says in a header that no page can set where they come from.
fn is_hidden_own_origin(headers: &HeaderMap) -> bool {
    let site = HeaderName::from_static("sec-fetch-site");
    only(headers, ORIGIN) == Some("null") && only(headers, site) == Some("same-origin")
}

/// Gives the connection of a request a seat, unless it has one. Returns whether it has one now.
pub fn takes_seat(request: &Request) -> bool {
    request.extensions().get::<Arc<Visitor>>().is_none_or(|visitor| visitor.take_seat())
}

/// Closes the connection after a response.
pub fn close_after(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The value of a header, if it occurs exactly once.
pub fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
