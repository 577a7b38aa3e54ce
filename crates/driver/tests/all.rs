//! All tests of this crate that use its public interface, as one program: linking is most of the cost of a test file.

mod architecture;
mod chosen;
mod codes;
mod conformance;
mod documents;
mod explore;
mod files;
mod gallery;
mod growth;
mod guide;
mod languages;
mod papers;
mod replayed_traces;
mod spelling;
mod versions;
