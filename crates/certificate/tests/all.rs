//! All tests of this crate.

mod common;
mod explicit_rows;
mod explicit_table;
mod mutation;
mod random;
