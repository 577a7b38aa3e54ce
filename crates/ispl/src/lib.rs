//! ISPL, the Interpreted Systems Programming Language, in the three layers Masque reads.
#![forbid(unsafe_code)]

mod check;
mod lexer;
mod parser;
mod tree;

pub use check::{Checked, Define, Options, check};
pub use parser::{NESTING_LIMIT, parse, parse_property};
pub use tree::{Dialect, Tree};
