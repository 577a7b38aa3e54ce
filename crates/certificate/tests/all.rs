//! All tests of this crate.

mod common;
mod explicit_rows;
mod explicit_table;
mod hostile;
mod mutation;
mod random;
