//! All tests of this crate.

mod answers;
