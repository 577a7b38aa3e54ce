//! ISPL, the Interpreted Systems Programming Language, in the three layers Masque reads.
#![forbid(unsafe_code)]

mod check;
mod format;
mod lexer;
mod parser;
#[doc(hidden)]
pub mod testing;
mod tree;

pub use check::{Checked, Define, Options, check};
pub use format::format;
pub use parser::{NESTING_LIMIT, parse, parse_property};
pub use tree::{Dialect, Tree};
