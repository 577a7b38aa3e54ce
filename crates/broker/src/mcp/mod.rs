//! `masque mcp`: the Model Context Protocol on standard input and output, for coding agents and agent platforms.
//!
//! ```text
//! stdin ─ transport ─▶ SDK (rmcp) ─▶ server ─ tools ─▶ call ─┬─▶ child process: work
//! stdout ◀─ transport ◀──────────────────┘                   └─▶ service: teams, sessions
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `transport` | lines of the two pipes, with limits |
//! | `server` | the requests of the protocol |
//! | `tools`, `parameters`, `answers` | the tools with the schemas of their parameters and structured answers |
//! | `call` | a call from its parameters to its answer |
//! | `session` | sessions that watch agents at work |
//! | `work` | what a child process does for a call |
//! | `resources`, `prompts` | pages, models and prompts, which are parts of the program |
//!
//! Models are read and checked in child processes, so no text of a client ends the server, and nothing but this
//! module writes to standard output.

mod answers;
mod call;
mod parameters;
mod prompts;
mod resources;
mod server;
mod session;
mod tools;
mod transport;
mod work;

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rmcp::ServiceExt as _;

use self::server::Server;
use self::transport::Lines;
use crate::log::Level;
use crate::service::Service;

pub use work::answer_call;

/// Serves until the input ends or the service is stopped. Calls in progress then get the grace time.
///
/// # Errors
///
/// If the system refuses a thread.
pub async fn serve<R, W>(service: Arc<Service>, input: R, output: W) -> io::Result<()>
where
    R: BufRead + Send + 'static,
    W: Write + Send + 'static,
{
    let (lines, done) = Lines::start(&service, input, output)?;
    let server = Server::new(Arc::clone(&service));
    let conversation = async {
        match server.serve(lines).await {
            Ok(running) => _ = running.waiting().await,
            // The input ended before the first request, or the client asked for an unknown version of the protocol.
            Err(error) => service.log.report(Level::Info, "not-begun", &error.to_string(), &[]),
        }
    };
    tokio::select! {
        () = conversation => {}
        () = service.stopped() => {}
    }
    service.finish().await;
    // The client may not read the last answers.
    _ = tokio::time::timeout(service.limits.grace, done).await;
    Ok(())
}
