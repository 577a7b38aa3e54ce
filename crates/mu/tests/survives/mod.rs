//! What must be true of every text, however broken.

use masque_mu::{Graph, format, parse_formula, read_aut, read_formula, read_properties};
use masque_testkit::points_into;
use masque_text::{Diagnostic, Sources, render};

/// Reads any text as properties, as a formula and as an `.aut` file, and formats it: no panic, every
/// message points into the text, a formula prints as one, and formatting twice changes nothing. Says
/// whether the text is syntactically correct, as properties.
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
