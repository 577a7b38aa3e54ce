//! Any text is read as an `.aut` file without a panic, and properties of the result are checked.
//!
//! ```text
//! mkdir -p fuzz/corpus/aut
//! cargo +nightly fuzz run aut fuzz/corpus/aut apps/cli/tests/models
//! ```
//!
//! The properties are those of the bounded run in `crates/mu/tests/fuzz.rs`.
#![no_main]

#[path = "../../crates/mu/tests/survives/mod.rs"]
mod survives;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        survives::survives_as_graph(text);
    }
});
