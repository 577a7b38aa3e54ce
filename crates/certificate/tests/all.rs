//! All tests of this crate.

mod common;
mod random;
