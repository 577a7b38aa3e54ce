//! Any text is parsed, checked and formatted without a panic; formatting twice changes nothing.
//!
//! ```text
//! mkdir -p fuzz/corpus/bdi
//! cargo +nightly fuzz run bdi fuzz/corpus/bdi models/bdi crates/bdi/tests/conformance
//! ```
//!
//! The properties are those of the bounded run in `crates/bdi/tests/fuzz.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use masque_bdi::{check, format, parse};
use masque_text::{Diagnostic, Sources, render};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut sources = Sources::default();
    let Ok(file) = sources.add("fuzz.bdi", text) else { return };
    let (tree, mut diagnostics) = parse(&sources, file);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(check(&tree, &[]).diagnostics);
    }
    for diagnostic in &diagnostics {
        render(&sources, diagnostic, false);
    }
    if let Ok(formatted) = format(&sources, file)
        && let Ok(again) = sources.add("again.bdi", formatted.as_str())
    {
        assert_eq!(format(&sources, again).as_ref(), Ok(&formatted));
    }
});
