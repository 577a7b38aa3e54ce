//! Any text is parsed, checked and formatted without a panic; formatting a correct text changes only white space.
//!
//! ```text
//! mkdir -p fuzz/corpus/ispl
//! cargo +nightly fuzz run ispl fuzz/corpus/ispl models/ispl crates/ispl/tests/inputs -- -dict=fuzz/ispl.dict
//! ```
//!
//! The properties are those of the bounded run in `crates/ispl/tests/fuzz.rs`.
#![no_main]

#[path = "../../crates/ispl/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        support::survives(text);
    }
});
