//! Invariants of parsing, checking and formatting any text, correct or not.

use masque_bdi::{check, format, parse};
use masque_testkit::points_into;
use masque_text::{Diagnostic, Sources, render};

/// Parses, checks and formats a text: nothing panics, every diagnostic points into the text, and
/// formatting twice changes nothing. Returns whether the text is syntactically correct.
pub(crate) fn survives(text: &str) -> bool {
    let mut sources = Sources::default();
    sources.add("before.bdi", "// another file: é\n").unwrap();
    let file = sources.add("test.bdi", text).unwrap();
    let (tree, mut diagnostics) = parse(&sources, file);
    let is_correct = !diagnostics.iter().any(Diagnostic::is_error);
    if is_correct {
        diagnostics.extend(check(&tree, &[]).diagnostics);
    }
    points_into(&sources, file, "bdi/", &diagnostics);
    diagnostics.iter().take(2).for_each(|diagnostic| drop(render(&sources, diagnostic, false)));
    let formatted = format(&sources, file);
    assert_eq!(formatted.is_ok(), is_correct);
    if let Ok(once) = formatted {
        let again = sources.add("again.bdi", once.as_str()).unwrap();
        assert_eq!(format(&sources, again), Ok(once), "not idempotent: {text:?}");
    }
    is_correct
}
