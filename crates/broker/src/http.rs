//! The service over HTTP/1.1.
//!
//! | path | method | response |
//! |---|---|---|
//! | `/rpc` | POST | the response to the message in the body |
//! | `/health` | GET | whether the service accepts calls; needs no token |
//! | `/metrics` | GET | counters, for Prometheus |
//! | `/schema` | GET | the JSON schema of the protocol |
//!
//! If a client disconnects, its calls are cancelled: the future that waits for them is dropped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, ORIGIN, TRANSFER_ENCODING,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::access::AccessRules;
use crate::fault::Fault;
use crate::framing::{RecentBytes, Recorded};
use crate::lobby::{Lobby, Visitor};
use crate::rpc::{self, Id};
use crate::schema::schema;
use crate::service::Service;
use crate::write_timeout::WriteTimeout;

/// Maximum bytes of an oversized body that are read and discarded, so that the client receives the error.
const MAX_DRAINED_BYTES: usize = 1 << 30;
/// Bytes per unit in which memory for messages is reserved.
const BYTES_PER_UNIT: usize = 1024;
/// Maximum bytes of the header of a request, and of the data that a connection reads ahead.
const MAX_HEADER_BYTES: usize = 8 << 10;
/// Number of connections that the operating system holds until they are accepted. If there are more, a client must
/// try again, which its system does after a second.
const MAX_UNACCEPTED_CONNECTIONS: u32 = 4096;
/// Time to wait if the operating system cannot accept a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

struct App {
    service: Arc<Service>,
    rules: AccessRules,
    /// Memory for messages, in units of [`BYTES_PER_UNIT`].
    memory: Arc<Semaphore>,
}

/// Listens on an address. Must be called within a tokio runtime.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A service that is started again may use the same address at once.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MAX_UNACCEPTED_CONNECTIONS)
}

/// Serves until the service is stopped, and then until all connections are closed or the grace time is over.
pub async fn serve(service: Arc<Service>, listener: TcpListener, rules: AccessRules) {
    let limits = service.limits.clone();
    let memory = Arc::new(Semaphore::new(limits.bodies / BYTES_PER_UNIT));
    let router = router(Arc::new(App { service: Arc::clone(&service), rules, memory }));
    let lobby = Lobby::new(limits.connections, limits.visit);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = service.stopped() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Most likely too many files are open; some will be closed.
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            continue;
        };
        service.metrics.connections.fetch_add(1, Relaxed);
        let (router, service, visitor) = (router.clone(), Arc::clone(&service), lobby.enter());
        tokio::spawn(async move {
            service.connections.fetch_add(1, Relaxed);
            connection(stream, router, &service, visitor).await;
            service.connections.fetch_sub(1, Relaxed);
        });
    }
    drop(listener);
    service.finish().await;
    // Responses may still be on their way.
    service.wait_for_connections().await;
}

/// One connection, from its first request to its last.
async fn connection(stream: TcpStream, router: Router, service: &Service, visitor: Arc<Visitor>) {
    let patience = service.limits.patience;
    // A response is written at once, so delaying it to collect more data is useless.
    _ = stream.set_nodelay(true);
    // The header of the current request is among the bytes that were read ahead and the last ones before them.
    let stream = Recorded::new(WriteTimeout::new(stream, patience), 2 * MAX_HEADER_BYTES);
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
        _ = connection.as_mut() => return,
        () = visitor.must_leave() => {
            service.metrics.dismissed.fetch_add(1, Relaxed);
            return;
        }
        () = service.stopped() => connection.as_mut().graceful_shutdown(),
    }
    _ = connection.await;
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/rpc", post(rpc).fallback(|| not_allowed("POST")))
        .route("/health", get(health).fallback(|| not_allowed("GET")))
        .route("/metrics", get(metrics).fallback(|| not_allowed("GET")))
        .route("/schema", get(schema_page).fallback(|| not_allowed("GET")))
        .fallback(not_found)
        .layer(from_fn_with_state(Arc::clone(&app), admit))
        .with_state(app)
}

/// Passes on a request that the access rules accept, and refuses others.
async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if headers.contains_key(TRANSFER_ENCODING)
        && request.extensions().get::<RecentBytes>().is_some_and(RecentBytes::have_two_lengths)
    {
        let message = "the request has both `Content-Length` and `Transfer-Encoding`";
        return closing(refuse(StatusCode::BAD_REQUEST, Fault::new(Fault::REFUSED, message)));
    }
    // Several origins, or one that is not text, are treated as the unknown origin `null`.
    let origin = headers.contains_key(ORIGIN).then(|| only(headers, ORIGIN).unwrap_or("null"));
    let mut checked = app.rules.check_host(only(headers, HOST), origin);
    // The first line of a request may name the host, too.
    if let Some(authority) = request.uri().authority() {
        checked = checked.and(app.rules.check_host(Some(authority.as_str()), None));
    }
    let token = app.rules.check_token(only(headers, AUTHORIZATION));
    // A monitor needs no token, and gets no seat.
    let is_visit = request.uri().path() == "/health" && token.is_err();
    if !is_visit {
        checked = checked.and(token);
    }
    match checked {
        Ok(()) if is_visit => closing(next.run(request).await),
        Ok(()) if takes_seat(&request) => next.run(request).await,
        Ok(()) => {
            let fault = Fault::busy("connections", app.service.limits.connections);
            closing(refuse(StatusCode::SERVICE_UNAVAILABLE, fault))
        }
        Err(refusal) => {
            app.service.metrics.refused.fetch_add(1, Relaxed);
            let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
            closing(refuse(status, Fault::new(Fault::REFUSED, refusal.message)))
        }
    }
}

/// Gives the connection of a request a seat, unless it has one. Returns whether it has one now.
fn takes_seat(request: &Request) -> bool {
    request.extensions().get::<Arc<Visitor>>().is_none_or(|visitor| visitor.take_seat())
}

/// Closes the connection after a response.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, axum::http::HeaderValue::from_static("close"));
    response
}

/// The value of a header, if it occurs exactly once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

async fn rpc(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let kind = only(&parts.headers, CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    // A web page cannot send a request of this type without a preflight request, which is refused.
    if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        let fault = Fault::new(Fault::REFUSED, "the body must be of type `application/json`");
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, fault);
    }
    let limits = &app.service.limits;
    let declared = only(&parts.headers, CONTENT_LENGTH).and_then(|length| length.parse().ok());
    if declared.is_some_and(|length: usize| length > limits.body) {
        // A client that waits for `100 Continue` gets the error at once. Otherwise the body is read and discarded.
        if !parts.headers.contains_key(EXPECT) {
            _ = timeout(limits.patience, drain(body)).await;
        }
        return too_large(limits.body);
    }
    let units = declared.unwrap_or(limits.body).div_ceil(BYTES_PER_UNIT).max(1);
    let units = u32::try_from(units.min(limits.bodies / BYTES_PER_UNIT)).unwrap_or(u32::MAX);
    let Ok(Ok(_reserved)) = timeout(limits.patience, app.memory.acquire_many(units)).await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, Fault::busy("bodies", limits.bodies));
    };
    let text = match timeout(limits.patience, Limited::new(body, limits.body).collect()).await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(limits.body),
        Ok(Err(_)) => {
            return refuse(StatusCode::BAD_REQUEST, Fault::new(Fault::REFUSED, "the body cannot be read"));
        }
        Err(_) => {
            let fault = Fault::new(Fault::REFUSED, "the body took too long to arrive");
            return refuse(StatusCode::REQUEST_TIMEOUT, fault);
        }
    };
    let _memory = match app.service.message_memory(text.len()) {
        Ok(memory) => memory,
        Err(fault) => return refuse(StatusCode::SERVICE_UNAVAILABLE, fault),
    };
    let pending = app.service.begin(app.service.client(false), &text);
    drop(text);
    match pending.answer().await {
        Some(answer) => respond(StatusCode::OK, "application/json", answer),
        None => respond(StatusCode::NO_CONTENT, "", String::new()),
    }
}

async fn drain(mut body: Body) {
    let mut seen = 0;
    while let Some(Ok(frame)) = body.frame().await {
        seen += frame.data_ref().map_or(0, Bytes::len);
        if seen > MAX_DRAINED_BYTES {
            return;
        }
    }
}

async fn health(State(app): State<Arc<App>>) -> Response {
    let (status, word) = if app.service.is_stopping() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping")
    } else {
        (StatusCode::OK, "ok")
    };
    respond(status, "application/json", format!("{{\"status\":\"{word}\"}}"))
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    respond(StatusCode::OK, "text/plain; version=0.0.4", app.service.metrics())
}

async fn schema_page() -> Response {
    respond(StatusCode::OK, "application/schema+json", schema())
}

async fn not_found() -> Response {
    let message = "unknown path; the paths are /rpc, /health, /metrics and /schema";
    refuse(StatusCode::NOT_FOUND, Fault::new(Fault::REFUSED, message))
}

async fn not_allowed(method: &'static str) -> Response {
    let message = format!("the method must be {method}");
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, Fault::new(Fault::REFUSED, message));
    response.headers_mut().insert(ALLOW, axum::http::HeaderValue::from_static(method));
    response
}

fn too_large(max_bytes: usize) -> Response {
    let message = format!("the message is too large; the maximum is {max_bytes} bytes");
    closing(refuse(StatusCode::PAYLOAD_TOO_LARGE, Fault::limit("body", message)))
}

/// An error as an HTTP status and as a JSON-RPC response.
fn refuse(status: StatusCode, fault: Fault) -> Response {
    respond(status, "application/json", rpc::answer(&Id::null(), &Err(fault)))
}

fn respond(status: StatusCode, kind: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    if !kind.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, axum::http::HeaderValue::from_static(kind));
    }
    response
}
