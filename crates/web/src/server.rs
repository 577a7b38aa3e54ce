//! The service: which requests are accepted, and how it starts and ends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use masque_door::{
    AccessRules, Lobby, Token, check_headers, close_after, listen, serve_connection, start_runtime,
    takes_seat,
};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::child::Program;
use crate::routes::router;
use crate::state::App;

/// Maximum number of connections that have shown the token.
const MAX_CONNECTIONS: usize = 64;
/// Time in which a new connection must show the token.
const MAX_VISIT: Duration = Duration::from_secs(5);
/// Time that a browser may take to send a request or to accept data.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time to wait if the operating system cannot accept a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Time that responses get to be sent when the service ends.
const MAX_END_DELAY: Duration = Duration::from_millis(500);
/// Time between two looks at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// What the pages may load and do: nothing from elsewhere, and no scripts but ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How the service is started.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program that holds the model.
    pub program: Program,
    /// Port to listen on; 0 selects a free one.
    pub port: u16,
    /// Flag that becomes true when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
}

/// The running service, for the program that started it.
#[derive(Clone)]
pub struct Explorer {
    app: Arc<App>,
    runtime: Handle,
    /// The address of the first page, which contains the token.
    pub address: String,
}

impl Explorer {
    /// Loads and checks the model again, because its files have changed.
    pub fn reload(&self) {
        let _entered = self.runtime.enter();
        self.app.reload();
    }

    /// The files whose change may change the model.
    pub fn watched_files(&self) -> Vec<PathBuf> {
        self.app.model().model.watched.clone()
    }
}

/// Serves until the interrupt flag is set or a signal comes. `started` is called when pages can be opened.
///
/// # Errors
///
/// If the service cannot start.
pub fn run(setup: Setup, started: impl FnOnce(Explorer)) -> io::Result<()> {
    let runtime = start_runtime()?;
    let handle = runtime.handle().clone();
    let result = runtime.block_on(async {
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, setup.port)))?;
        let address = listener.local_addr()?;
        let token = Token::random().map_err(|error| io::Error::other(error.to_string()))?;
        let base = format!("/{}", token.text());
        let rules = AccessRules::new(address, &[], Some(token));
        let app = Arc::new(App::new(base.clone(), &setup.program));
        app.reload();
        started(Explorer {
            app: Arc::clone(&app),
            runtime: handle,
            address: format!("http://{address}{base}/"),
        });
        serve(&app, listener, rules, &setup.interrupt).await;
        // The processes end anyway when their input does, so one that is busy is not waited for.
        _ = tokio::time::timeout(MAX_END_DELAY, app.stop()).await;
        Ok(())
    });
    // Tasks that are stuck are abandoned, because the process ends.
    runtime.shutdown_background();
    result
}

async fn serve(app: &Arc<App>, listener: TcpListener, rules: AccessRules, interrupt: &AtomicBool) {
    let guard = Arc::new(Guard { rules });
    let router = router(Arc::clone(app)).layer(from_fn_with_state(guard, admit));
    let lobby = Lobby::new(MAX_CONNECTIONS, MAX_VISIT);
    let (stop, stopped) = watch::channel(false);
    let mut interrupted = std::pin::pin!(interrupted(interrupt));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = interrupted.as_mut() => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            continue;
        };
        let (router, visitor, mut stopped) = (router.clone(), lobby.enter(), stopped.clone());
        tokio::spawn(async move {
            let stopped = async move { _ = stopped.wait_for(|stop| *stop).await };
            serve_connection(stream, router, visitor, PATIENCE, stopped).await;
        });
    }
    drop(listener);
    _ = stop.send(true);
    drop(stopped);
    _ = tokio::time::timeout(MAX_END_DELAY, stop.closed()).await;
}

/// Waits until the user wants to stop.
async fn interrupted(interrupt: &AtomicBool) {
    while !interrupt.load(Ordering::Relaxed) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

struct Guard {
    rules: AccessRules,
}

/// Passes on a request that the access rules accept, and refuses others.
async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let checked = check_headers(&guard.rules, &request);
    let checked = checked.and_then(|()| guard.rules.check_path(request.uri().path()));
    if let Err(refusal) = checked {
        let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
        return close_after(secured(plain(status, refusal.message.to_string())));
    }
    if !takes_seat(&request) {
        let message = format!("there are more than {MAX_CONNECTIONS} connections");
        return close_after(secured(plain(StatusCode::SERVICE_UNAVAILABLE, message)));
    }
    secured(next.run(request).await)
}

/// A response that is a text.
pub(crate) fn plain(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Adds the headers that keep pages and their address to themselves.
fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
