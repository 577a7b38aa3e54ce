//! All tests of this crate.
