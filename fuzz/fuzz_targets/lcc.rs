//! Any text is parsed, opened and formatted without a panic; formatting twice changes nothing.
//!
//! ```text
//! mkdir -p fuzz/corpus/lcc
//! cargo +nightly fuzz run lcc fuzz/corpus/lcc models/lcc
//! ```
//!
//! The properties are those of the bounded run in `crates/lcc/tests/fuzz.rs`.
#![no_main]

#[path = "../../crates/lcc/tests/survives/mod.rs"]
mod survives;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        survives::survives(text);
    }
});
