//! Properties of parsing, opening and formatting that hold for every text.

use masque_lcc::{Parts, format, open, parse};
use masque_testkit::points_into;
use masque_text::{Diagnostic, Sources, render};

/// Parses, opens and formats any text: no panic, every message points into the text, and
/// formatting twice changes nothing. Returns whether the text is syntactically correct.
pub(crate) fn survives(text: &str) -> bool {
    let mut sources = Sources::default();
    sources.add("before.lcc", "% another file: é\n").unwrap();
    let file = sources.add("test.lcc", text).unwrap();
    let (_, diagnostics) = parse(&sources, file);
    let is_correct = !diagnostics.iter().any(Diagnostic::is_error);
    points_into(&sources, file, "lcc/", &diagnostics);
    // Diagnostics about formulas have codes of the language of formulas, so only rendering is tested.
    let opened = open(&mut sources, &Parts { files: vec![file], ..Parts::default() });
    opened.diagnostics.iter().take(2).for_each(|diagnostic| drop(render(&sources, diagnostic, false)));
    let formatted = format(&sources, file);
    assert_eq!(formatted.is_ok(), is_correct);
    if let Ok(once) = formatted {
        let again = sources.add("again.lcc", once.as_str()).unwrap();
        assert_eq!(format(&sources, again), Ok(once), "not idempotent: {text:?}");
    }
    is_correct
}
