//! Helpers that several tests share: sources, models, and checks that must succeed for every text.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use masque_ispl::testing::pieces;
use masque_ispl::{Options, check, format, parse};
use masque_model::System;
use masque_testkit::points_into;
use masque_text::{Diagnostic, FileId, Sources, render};

/// Adds a text after another source, so that its byte offsets do not begin at 0.
pub fn source(text: &str) -> (Sources, FileId) {
    let mut sources = Sources::default();
    sources.add("before.ispl", "-- another file: é\n").unwrap();
    let file = sources.add("test.ispl", text).unwrap();
    (sources, file)
}

/// Formats a text that has no syntax errors.
pub fn formatted(text: &str) -> String {
    let (sources, file) = source(text);
    match format(&sources, file) {
        Ok(text) => text,
        Err(errors) => {
            let errors: String = errors.iter().map(|error| render(&sources, error, false)).collect();
            panic!("{errors}\n{text}");
        }
    }
}

/// Checks that formatting changes only white space, that the result has the promised layout, and that
/// formatting it again changes nothing. Returns the formatted text.
pub fn formats_well(text: &str) -> String {
    let once = formatted(text);
    assert_eq!(pieces(&once), pieces(text), "tokens or comments changed: {text:?}\n{once}");
    let is_layout = |c: char| c.is_ascii_whitespace();
    assert!(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"), "{once:?}");
    assert!(!once.starts_with(is_layout) && !once.contains("\n\n\n"), "{once:?}");
    assert!(once.lines().all(|line| !line.ends_with(is_layout)), "{once:?}");
    let twice = formatted(&once);
    assert_eq!(twice, once, "not idempotent: {text:?}");
    once
}

/// Parses, checks and formats any text: there is no panic, and every message points into the text.
/// Returns whether the text is syntactically correct.
pub fn survives(text: &str) -> bool {
    let (sources, file) = source(text);
    let (mut tree, diagnostics) = parse(&sources, file);
    points_into(&sources, file, "ispl/", &diagnostics);
    let is_correct = !diagnostics.iter().any(Diagnostic::is_error);
    let checked = check(&sources, &mut tree, &Options::default());
    points_into(&sources, file, "ispl/", &checked.diagnostics);
    if is_correct {
        formats_well(text);
    } else {
        let errors = format(&sources, file).expect_err("formatted despite errors");
        assert!(!errors.is_empty() && errors.iter().all(Diagnostic::is_error));
    }
    is_correct
}

/// Returns the checked model of a text, or the code of its first error.
pub fn system(text: &str) -> Result<System, &'static str> {
    let mut sources = Sources::default();
    let file = sources.add("reading.ispl", text).unwrap();
    let (mut tree, diagnostics) = parse(&sources, file);
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        return Err(error.code);
    }
    let checked = check(&sources, &mut tree, &Options::default());
    checked.system.ok_or_else(|| checked.diagnostics.iter().find(|d| d.is_error()).unwrap().code)
}

/// Returns the names of the variables that an agent sees.
pub fn sees(system: &System, agent: usize) -> Vec<String> {
    system.agents[agent].sees.iter().map(|v| system.full_name(*v)).collect()
}
