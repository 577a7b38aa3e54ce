//! LCC.
#![forbid(unsafe_code)]

mod arith;
mod blame;
mod chart;
mod check;
mod eager;
mod explore;
mod format;
mod instance;
mod lexer;
mod lint;
mod lower;
mod options;
mod parser;
mod print;
mod program;
pub mod reference;
mod resolve;
mod show;
mod step;
mod store;
mod stratify;
mod symbol;
mod system;
mod term;
mod trace;
pub mod tree;
mod vocabulary;

pub use chart::{Chart, Row, chart};
pub use check::{Checked, check_all, decide};
pub use eager::Eager;
pub use explore::{Counts, explore};
pub use format::format;
pub use instance::{Given, Opened, Parts, open};
pub use options::{BadOption, Comm, Conflict, Guards, Options, Roles};
pub use parser::{NESTING_LIMIT, parse};
pub use system::System;
pub use trace::{Deed, Event, Trace};
