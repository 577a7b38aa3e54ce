//! All tests of this crate that use its public interface, as one program: linking is most of the cost of a test file.

mod bad_input;
mod diagnostics;
mod editing;
mod format;
mod fuzz;
mod guide;
mod labels;
mod limits;
mod names;
mod printing;
mod reading;
mod reading_mu;
mod reading_parameters;
mod split;
mod support;
