//! All tests of this crate that use its public interface, as one program: linking is most of the cost of a test file.

mod cryptographers;
mod differential;
mod early;
mod evidence;
mod fair_games;
mod klq10;
mod logics;
mod logics_evidence;
mod operators;
mod orders;
mod parallel;
#[cfg(feature = "planted-bugs")]
mod planted;
mod scheduled;
mod strict;
