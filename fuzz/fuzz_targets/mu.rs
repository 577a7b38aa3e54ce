//! Any text is read as a formula, as properties and as an `.aut` file without a panic, and what is
//! a formula prints as one.
//!
//! ```text
//! cargo +nightly fuzz run mu
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use masque_mu::{Graph, parse_formula, read_aut, read_formula, read_properties};
use masque_text::{Sources, render};

fuzz_target!(|text: &str| {
    let mut sources = Sources::default();
    let Ok(file) = sources.add("fuzz", text) else { return };
    let span = sources.span(file);
    let mut graph = Graph::new();
    let (_, mut diagnostics) = read_formula(&sources, span, &mut graph);
    diagnostics.extend(read_properties(&sources, span, &mut graph).1);
    diagnostics.extend(read_aut(&sources, span).1);
    for diagnostic in &diagnostics {
        render(&sources, diagnostic, false);
    }
    if let (Some(phi), _) = parse_formula(&sources, span) {
        let printed = phi.to_string();
        let Ok(again) = sources.add("printed", printed.as_str()) else { return };
        let (again, _) = parse_formula(&sources, sources.span(again));
        assert_eq!(again.map(|phi| phi.to_string()), Some(printed));
    }
});
