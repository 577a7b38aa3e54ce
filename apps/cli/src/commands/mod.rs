//! The handlers of the commands, one per file.

mod agent;
mod bench;
mod broker;
mod changed_files;
mod check;
mod explain;
mod explore;
mod export;
mod fmt;
mod follow;
mod generate;
mod joint_walk;
mod lsp;
mod monitor;
mod new;
mod prompt;
pub(crate) mod race;
mod replay;
mod simulate;
mod step_walk;
mod teams;
mod test;
mod token;
mod trace_output;
mod walk;
mod watch;
mod why;
mod worker;
mod worlds;

pub use agent::{agent, state};
pub use bench::bench;
pub use broker::broker;
pub use check::check;
pub use explain::explain;
pub use explore::explore;
pub use export::export;
pub use fmt::fmt;
pub use generate::{completions, man, schema};
pub use lsp::lsp;
pub use monitor::monitor;
pub use new::new;
pub use replay::replay;
pub use simulate::simulate;
pub use teams::teams;
pub use test::test;
pub use watch::watch;
pub use why::why;
pub use worker::worker;
pub use worlds::worlds;

/// What is reported if the system refuses a thread (`ulimit -u`, a control group).
const NO_THREAD: &str = "cannot start a thread";
