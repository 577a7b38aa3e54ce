//! LCC.
#![forbid(unsafe_code)]
mod lexer;
mod parser;
mod symbol;
mod term;
pub mod tree;
pub use parser::{NESTING_LIMIT, parse};
