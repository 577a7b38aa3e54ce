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

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{ALLOW, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use masque_door::{
    AccessRules, ConnectionEnd, Lobby, Refusal, Visitor, check_headers, close_after, only, serve_connection,
    takes_seat,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::fault::Fault;
use crate::rpc::{self, Id};
use crate::schema::schema;
use crate::service::Service;

/// Maximum bytes of an oversized body that are read and discarded, so that the client receives the error.
const MAX_DRAINED_BYTES: usize = 1 << 30;
/// Bytes per unit in which memory for messages is reserved.
const BYTES_PER_UNIT: usize = 1024;
/// Time to wait if the operating system cannot accept a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

struct App {
    service: Arc<Service>,
    rules: AccessRules,
    /// Memory for messages, in units of [`BYTES_PER_UNIT`].
    memory: Arc<Semaphore>,
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
    let end = serve_connection(stream, router, visitor, patience, service.stopped()).await;
    if end == ConnectionEnd::Dismissed {
        service.metrics.dismissed.fetch_add(1, Relaxed);
    }
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
    let mut checked = check_headers(&app.rules, &request);
    if let Err(refusal @ Refusal { status: 400, .. }) = checked {
        return refused(&refusal);
    }
    let token = app.rules.check_token(only(request.headers(), AUTHORIZATION));
    // A monitor needs no token, and gets no seat.
    let is_visit = request.uri().path() == "/health" && token.is_err();
    if !is_visit {
        checked = checked.and(token);
    }
    match checked {
        Ok(()) if is_visit => close_after(next.run(request).await),
        Ok(()) if takes_seat(&request) => next.run(request).await,
        Ok(()) => {
            let fault = Fault::busy("connections", app.service.limits.connections);
            close_after(refuse(StatusCode::SERVICE_UNAVAILABLE, fault))
        }
        Err(refusal) => {
            app.service.metrics.refused.fetch_add(1, Relaxed);
            refused(&refusal)
        }
    }
}

fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    close_after(refuse(status, Fault::new(Fault::REFUSED, refusal.message)))
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
    close_after(refuse(StatusCode::PAYLOAD_TOO_LARGE, Fault::limit("body", message)))
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
