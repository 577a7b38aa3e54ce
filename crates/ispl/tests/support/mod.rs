//! Helpers shared by the tests of the language.
#![allow(dead_code, reason = "a fuzz target uses one of the functions")]

use masque_ispl::testing::pieces;
use masque_ispl::{Options, check, format, parse};
use masque_model::System;
use masque_testkit::LanguageUnderTest;
use masque_text::Sources;

/// The language, for the checks that all languages share.
pub(crate) const ISPL: LanguageUnderTest = LanguageUnderTest { prefix: "ispl/", format };

/// Formats a text that has no syntax errors.
pub(crate) fn formatted(text: &str) -> String {
    ISPL.formatted(text)
}

/// Formats a text and checks that tokens and comments are the same. Returns the formatted text.
pub(crate) fn formats_well(text: &str) -> String {
    let content = |text: &str| pieces(text).into_iter().map(String::from).collect::<Vec<_>>();
    let once = ISPL.formats_well(text, content);
    assert!(!once.contains("\n\n\n"), "{once:?}");
    once
}

/// Parses, checks and formats any text. Returns whether it is syntactically correct.
pub(crate) fn survives(text: &str) -> bool {
    let is_correct = ISPL.survives(text, |sources, file| {
        let (mut tree, syntax) = parse(sources, file);
        let further = check(sources, &mut tree, &Options::default()).diagnostics;
        (syntax, further)
    });
    if is_correct {
        formats_well(text);
    }
    is_correct
}

/// The checked model of a text, or the code of its first error.
pub(crate) fn system(text: &str) -> Result<System, &'static str> {
    let mut sources = Sources::default();
    let file = sources.add("reading.ispl", text).unwrap();
    let (mut tree, diagnostics) = parse(&sources, file);
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        return Err(error.code);
    }
    let checked = check(&sources, &mut tree, &Options::default());
    checked.system.ok_or_else(|| checked.diagnostics.iter().find(|d| d.is_error()).unwrap().code)
}

/// The names of what an agent sees.
pub(crate) fn sees(system: &System, agent: usize) -> Vec<String> {
    system.agents[agent].sees.iter().map(|v| system.full_name(*v)).collect()
}

/// Checks that `read` reads each text as the second one, or refuses it with that code, and that the second text is
/// read as itself.
pub(crate) fn check_twice(table: &[(&str, &str, &str)], read: impl Fn(&str) -> String) {
    for (text, reading, because) in table {
        assert_eq!(read(text), *reading, "`{text}`: {because}");
        if !reading.starts_with("ispl/") {
            assert_eq!(read(reading), *reading, "`{text}`, read again");
        }
    }
}
