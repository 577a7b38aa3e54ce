//! All tests of this crate that use its public interface, as one program: linking is most of the cost of a test file.

mod bound_response;
mod diagnostics;
mod differential;
mod evidence;
mod format;
mod fuzz;
mod guide;
mod limits;
mod names;
mod order;
mod printing;
mod reading;
mod recheck;
mod support;
mod survives;
