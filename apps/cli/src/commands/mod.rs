//! The handlers of the commands, one per file.

mod bench;
mod broker;
mod check;
mod explain;
mod export;
mod fmt;
mod generate;
mod joint_walk;
mod new;
mod prompt;
pub(crate) mod race;
mod replay;
mod simulate;
mod step_walk;
mod test;
mod trace_output;
mod walk;
mod watch;
mod why;
mod worker;
mod worlds;

pub use bench::bench;
pub use broker::broker;
pub use check::check;
pub use explain::explain;
pub use export::export;
pub use fmt::fmt;
pub use generate::{completions, man, schema};
pub use new::new;
pub use replay::replay;
pub use simulate::simulate;
pub use test::test;
pub use watch::watch;
pub use why::why;
pub use worker::worker;
pub use worlds::worlds;
