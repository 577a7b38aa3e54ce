//! Invariants of parsing and formatting any text, correct or not.

use masque_mu::{Graph, format, parse_formula, read_aut, read_formula, read_properties};
use masque_testkit::points_into;
use masque_text::{Diagnostic, Sources, render};

/// Reads a text as properties, as a formula and as an `.aut` file, and formats it: nothing panics, every
/// diagnostic points into the text, a printed formula parses again, and formatting twice changes nothing.
/// Returns whether the text is a syntactically correct property file.
pub(crate) fn survives(text: &str) -> bool {
    let mut sources = Sources::default();
    sources.add("before.mu", "// another file: é\n").unwrap();
    let file = sources.add("test.mu", text).unwrap();
    let (span, mut graph) = (sources.span(file), Graph::new());
    let mut diagnostics: Vec<Diagnostic> = read_properties(&sources, span, &mut graph).1;
    diagnostics.extend(read_formula(&sources, span, &mut graph).1);
    diagnostics.extend(read_aut(&sources, span).1);
    points_into(&sources, file, "mu/", &diagnostics);
    diagnostics.iter().take(2).for_each(|diagnostic| drop(render(&sources, diagnostic, false)));
    if let (Some(phi), _) = parse_formula(&sources, span) {
        let printed = phi.to_string();
        let again = sources.add("printed", printed.as_str()).unwrap();
        let (again, _) = parse_formula(&sources, sources.span(again));
        assert_eq!(again.map(|phi| phi.to_string()), Some(printed));
    }
    let formatted = format(&sources, file);
    let is_correct = formatted.is_ok();
    if let Ok(once) = formatted {
        let again = sources.add("again.mu", once.as_str()).unwrap();
        assert_eq!(format(&sources, again), Ok(once), "not idempotent: {text:?}");
    }
    is_correct
}
