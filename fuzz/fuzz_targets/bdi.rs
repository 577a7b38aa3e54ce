//! Any text is parsed, checked and formatted without a panic; formatting twice changes nothing.
//!
//! ```text
//! mkdir -p fuzz/corpus/bdi
//! cargo +nightly fuzz run bdi fuzz/corpus/bdi models/bdi crates/bdi/tests/conformance
//! ```
//!
//! The properties are those of the bounded run in `crates/bdi/tests/fuzz.rs`.
#![no_main]

#[path = "../../crates/bdi/tests/survives/mod.rs"]
mod survives;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        survives::survives(text);
    }
});
