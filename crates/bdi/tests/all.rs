//! All tests of this crate that use its public interface, as one program: linking is most of the cost of a test file.

mod checks;
mod conformance;
mod diagnostics;
mod differential;
mod format;
mod fuzz;
mod graph;
mod groups;
mod guide;
mod invariants;
mod limits;
mod names;
mod own_state;
mod paper_notation;
mod papers;
mod printing;
mod removed;
mod replay;
mod scale;
mod subworlds;
mod support;
mod survives;
mod values;
