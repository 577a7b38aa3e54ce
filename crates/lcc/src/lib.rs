//! LCC.
#![forbid(unsafe_code)]

mod arith;
mod explore;
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
pub mod tree;
mod vocabulary;

pub use explore::{Counts, explore};
pub use instance::{Given, Opened, open};
pub use options::{BadOption, Comm, Conflict, Guards, Options, Roles};
pub use parser::{NESTING_LIMIT, parse};
pub use system::System;
