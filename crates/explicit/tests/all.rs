//! All tests of this crate that use its public interface, as one program: linking is most of the cost of a test file.

mod altered_evidence;
mod differential;
mod early;
mod engine;
mod logics;
mod races;
