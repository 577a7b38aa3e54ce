//! BDI_CTL: agents with beliefs, desires and intentions.
#![forbid(unsafe_code)]

mod check;
mod lexer;
mod messages;
pub mod model;
pub mod outcome;
mod parser;
pub mod plan;
mod print;
pub mod reference;
pub mod symbolic;
pub mod tree;

pub use check::{Checked, DEEPEST_NESTING, Override, check};
pub use messages::{findings, out_of_range};
pub use parser::{NESTING_LIMIT, parse, parse_property};
pub use print::{formula_text, term_text};
