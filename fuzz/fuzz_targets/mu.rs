//! Any text is read as properties, as a formula and as an `.aut` file without a panic; a formula is printed
//! as a text that reads back as the same formula; formatting twice changes nothing.
//!
//! ```text
//! mkdir -p fuzz/corpus/mu
//! cargo +nightly fuzz run mu fuzz/corpus/mu
//! ```
//!
//! The properties are those of the bounded run in `crates/mu/tests/fuzz.rs`.
#![no_main]

#[path = "../../crates/mu/tests/survives/mod.rs"]
mod survives;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        survives::survives(text);
    }
});
