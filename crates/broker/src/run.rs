//! The life of the service: start, signals, end.

use std::future::Future;
use std::io::{self, BufReader};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::door::{Door, Token};
use crate::service::{Config, Service};
use crate::{http, stdio};

/// How often idle sessions are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Serves standard input and output until the input ends, `shutdown` is called or a signal comes.
pub fn run_stdio(config: Config) -> io::Result<()> {
    let service = Service::new(config)?;
    service.log.event("ready on standard input");
    run(&service, |service| stdio::serve(service, BufReader::new(io::stdin()), io::stdout()))?
}

/// Where and for whom the service is over HTTP.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address; port 0 is any that is free.
    pub address: SocketAddr,
    /// Names besides the address by which it may be asked for.
    pub hosts: Vec<String>,
    /// What requests must carry.
    pub token: Option<Token>,
}

/// Serves HTTP until a signal comes. `ready` is told the address.
pub fn run_http(config: Config, listen: Listen, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let service = Service::new(config)?;
    run(&service, async |service: Arc<Service>| {
        let listener = TcpListener::bind(listen.address).await?;
        let address = listener.local_addr()?;
        ready(address);
        service.log.event(&format!("listening on http://{address}"));
        http::serve(service, listener, Door::new(address, &listen.hosts, listen.token)).await;
        Ok(())
    })?
}

/// Runs until the transport comes to its end; signals end it, and idle sessions are closed meanwhile.
fn run<F: Future>(service: &Arc<Service>, serve: impl FnOnce(Arc<Service>) -> F) -> io::Result<F::Output> {
    let runtime: Runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let output = runtime.block_on(async {
        let watched = Arc::clone(service);
        tokio::spawn(async move {
            signal().await;
            watched.log.event("asked to end");
            watched.stop();
        });
        let swept = Arc::clone(service);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP.min(swept.limits.idle.max(Duration::from_millis(50)))).await;
                swept.sweep();
            }
        });
        serve(Arc::clone(service)).await
    });
    // What is stuck is left behind: the process ends.
    runtime.shutdown_background();
    service.log.event("ended");
    Ok(output)
}

/// Waits for Ctrl-C or the request to terminate; for ever, where there are no signals.
async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                Ok(()) = tokio::signal::ctrl_c() => return,
                _ = terminate.recv() => return,
            }
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
