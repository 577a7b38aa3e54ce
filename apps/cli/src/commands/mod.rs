//! What the commands do: one handler each.

mod bdi;
mod bench;
mod check;
mod explain;
mod fmt;
mod generate;
mod lcc;

pub use bdi::worlds;
pub use bench::bench;
pub use check::check;
pub use explain::explain;
pub use fmt::fmt;
pub use generate::{completions, man, schema};
