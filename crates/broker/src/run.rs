//! Start and end of the service, and its reaction to signals.

use std::future::Future;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use masque_door::{AccessRules, Token};

use crate::log::Level;
use crate::service::{Config, Service};
use crate::{http, mcp, stdio, work_folder};

/// Time between two searches for idle sessions.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Serves standard input and output until the input ends, `shutdown` is called or a signal comes.
pub fn run_stdio(config: Config) -> io::Result<()> {
    let service = Service::new(config)?;
    service.log.event("ready", "ready on standard input");
    run(&service, |service| stdio::serve(service, BufReader::new(io::stdin()), io::stdout()))?
}

/// Serves the Model Context Protocol on standard input and output until the input ends or a signal comes.
pub fn run_mcp(config: Config) -> io::Result<()> {
    run_mcp_over(config, BufReader::new(io::stdin()), io::stdout())
}

/// Does what [`run_mcp`] does, over another input and output.
pub fn run_mcp_over<R, W>(config: Config, input: R, output: W) -> io::Result<()>
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    let service = Service::new(config)?;
    service.log.event("ready", "ready for a client");
    run(&service, |service| mcp::serve(service, input, output))?
}

/// The address of the HTTP service, and which requests it accepts.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address; port 0 selects a free port.
    pub address: SocketAddr,
    /// Additional host names that requests may use.
    pub hosts: Vec<String>,
    /// The token that requests must carry, if any.
    pub token: Option<Token>,
}

/// Serves HTTP until a signal comes. `ready` is called with the address.
pub fn run_http(config: Config, listen: Listen, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let service = Service::new(config)?;
    run(&service, async |service: Arc<Service>| {
        let listener = masque_door::listen(listen.address).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {}: {error}", listen.address))
        })?;
        let address = listener.local_addr()?;
        ready(address);
        let fields = [("address", address.to_string().into())];
        service.log.report(Level::Info, "listening", &format!("listening on http://{address}"), &fields);
        http::serve(service, listener, AccessRules::new(address, &listen.hosts, listen.token)).await;
        Ok(())
    })?
}

/// Runs a transport to its end. Signals stop the service, and idle sessions are closed meanwhile.
fn run<F: Future>(service: &Arc<Service>, serve: impl FnOnce(Arc<Service>) -> F) -> io::Result<F::Output> {
    remove_left_over_folders(service);
    let runtime = masque_door::start_runtime()?;
    let output = runtime.block_on(async {
        let watched = Arc::clone(service);
        tokio::spawn(async move {
            signal().await;
            watched.log.event("signal", "stopping on a signal");
            watched.stop();
        });
        let swept = Arc::clone(service);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL.min(swept.limits.idle.max(Duration::from_millis(50))))
                    .await;
                swept.sweep();
            }
        });
        serve(Arc::clone(service)).await
    });
    // Tasks that are stuck are abandoned, because the process ends.
    runtime.shutdown_background();
    service.log.event("ended", "ended");
    Ok(output)
}

/// Removes the temporary folders of services that were killed.
fn remove_left_over_folders(service: &Service) {
    let n_removed = work_folder::sweep();
    if n_removed > 0 {
        let message = format!("{n_removed} left-over folder(s) of an earlier service removed");
        service.log.report(Level::Info, "folders-removed", &message, &[("folders", n_removed.into())]);
    }
}

/// Waits for Ctrl-C or SIGTERM; forever on systems without signals.
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
