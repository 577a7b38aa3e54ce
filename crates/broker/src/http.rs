//! The service over HTTP/1.1.
//!
//! | path | method | gives |
//! |---|---|---|
//! | `/rpc` | POST | the answer to the message in the body |
//! | `/health` | GET | whether the service takes calls; needs no token |
//! | `/metrics` | GET | counters, for Prometheus |
//! | `/schema` | GET | the JSON schema of the protocol |
//!
//! A client that hangs up cancels its calls: the future that waits for them is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, ORIGIN,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::door::Door;
use crate::fault::Fault;
use crate::patient::Patient;
use crate::rpc::{self, Id};
use crate::schema::schema;
use crate::service::Service;

/// A body that is too large is read and forgotten up to here, so that its sender lives to see why.
const MOST_DRAINED: usize = 1 << 30;
/// Messages take room in steps of so many bytes.
const GRAIN: usize = 1024;
/// How long to wait when the system has no room for a connection.
const REST: Duration = Duration::from_millis(100);

struct App {
    service: Arc<Service>,
    door: Door,
    /// Room for messages, in grains.
    room: Arc<Semaphore>,
}

/// Serves until the service is stopped; then lets connections come to their end.
pub async fn serve(service: Arc<Service>, listener: TcpListener, door: Door) {
    let limits = service.limits.clone();
    let room = Arc::new(Semaphore::new(limits.bodies / GRAIN));
    let router = router(Arc::new(App { service: Arc::clone(&service), door, room }));
    let seats = Arc::new(Semaphore::new(limits.connections));
    loop {
        let accept = async {
            // Without a seat nobody is let in: they wait at the system's door.
            let seat = Arc::clone(&seats).acquire_owned().await;
            (listener.accept().await, seat)
        };
        let (accepted, seat) = tokio::select! {
            accepted = accept => accepted,
            () = service.stopped() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, most likely: some will be closed.
            tokio::time::sleep(REST).await;
            continue;
        };
        service.metrics.connections.fetch_add(1, Relaxed);
        let (router, service) = (router.clone(), Arc::clone(&service));
        tokio::spawn(async move {
            service.connections.fetch_add(1, Relaxed);
            connection(stream, router, &service).await;
            service.connections.fetch_sub(1, Relaxed);
            drop(seat);
        });
    }
    drop(listener);
    service.finish().await;
    // Answers are on their way.
    service.hang_up().await;
}

/// One connection, from its first request to its last.
async fn connection(stream: TcpStream, router: Router, service: &Service) {
    let patience = service.limits.patience;
    // Answers are written at one stroke; waiting for more helps nobody.
    _ = stream.set_nodelay(true);
    let io = TokioIo::new(Patient::new(stream, patience));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that breaks off is no event.
        _ = connection.as_mut() => return,
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

/// Lets a request in, or says why not.
async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // Several origins, or one that is no text, are nobody's: as good as `null`.
    let origin = headers.contains_key(ORIGIN).then(|| only(headers, ORIGIN).unwrap_or("null"));
    let mut admitted = app.door.admits(only(headers, HOST), origin);
    // A request may name its host in its first line, too.
    if let Some(authority) = request.uri().authority() {
        admitted = admitted.and(app.door.admits(Some(authority.as_str()), None));
    }
    if request.uri().path() != "/health" {
        admitted = admitted.and_then(|()| app.door.opens_for(only(headers, AUTHORIZATION)));
    }
    match admitted {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            app.service.metrics.refused.fetch_add(1, Relaxed);
            let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
            refuse(status, Fault::new(Fault::DOOR, refusal.message))
        }
    }
}

/// A header that occurs once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

async fn rpc(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let kind = only(&parts.headers, CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    // What a page may send without being asked is never of this type.
    if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        let fault = Fault::new(Fault::DOOR, "the body must be of type `application/json`");
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, fault);
    }
    let limits = &app.service.limits;
    let declared = only(&parts.headers, CONTENT_LENGTH).and_then(|length| length.parse().ok());
    if declared.is_some_and(|length: usize| length > limits.body) {
        // Who asks first is told at once; who sends anyway is listened to, but nothing is kept.
        if !parts.headers.contains_key(EXPECT) {
            _ = timeout(limits.patience, drain(body)).await;
        }
        return too_large(limits.body);
    }
    let grains = declared.unwrap_or(limits.body).div_ceil(GRAIN).max(1);
    let grains = u32::try_from(grains.min(limits.bodies / GRAIN)).unwrap_or(u32::MAX);
    let Ok(Ok(_room)) = timeout(limits.patience, app.room.acquire_many(grains)).await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, Fault::busy("bodies", limits.bodies));
    };
    let text = match timeout(limits.patience, Limited::new(body, limits.body).collect()).await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(limits.body),
        Ok(Err(_)) => {
            return refuse(StatusCode::BAD_REQUEST, Fault::new(Fault::DOOR, "the body cannot be read"));
        }
        Err(_) => {
            let fault = Fault::new(Fault::DOOR, "the body took too long to arrive");
            return refuse(StatusCode::REQUEST_TIMEOUT, fault);
        }
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
        if seen > MOST_DRAINED {
            return;
        }
    }
}

async fn health(State(app): State<Arc<App>>) -> Response {
    let (status, word) = match app.service.is_stopping() {
        false => (StatusCode::OK, "ok"),
        true => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
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
    let message = "there is nothing here; the paths are /rpc, /health, /metrics and /schema";
    refuse(StatusCode::NOT_FOUND, Fault::new(Fault::DOOR, message))
}

async fn not_allowed(method: &'static str) -> Response {
    let message = format!("the method here is {method}");
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, Fault::new(Fault::DOOR, message));
    response.headers_mut().insert(ALLOW, axum::http::HeaderValue::from_static(method));
    response
}

fn too_large(most: usize) -> Response {
    let message = format!("the message is too large; {most} bytes are accepted");
    let mut response = refuse(StatusCode::PAYLOAD_TOO_LARGE, Fault::limit("body", message));
    response.headers_mut().insert(CONNECTION, axum::http::HeaderValue::from_static("close"));
    response
}

/// Refused by HTTP, and by JSON-RPC for those who look only there.
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
