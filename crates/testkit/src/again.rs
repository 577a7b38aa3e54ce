//! What tests of printing and reading again share.

use std::fmt::Debug;
use std::ops::Range;

/// The seeds of a random test: the environment variable `SEEDS=FROM..TO`, or the usual ones.
///
/// # Panics
/// If `SEEDS` is not of that form.
///
/// ```
/// assert!(!masque_testkit::seeds("0..20").is_empty());
/// ```
pub fn seeds(usual: &str) -> Range<u64> {
    let seeds = std::env::var("SEEDS").unwrap_or(usual.to_string());
    let bounds = seeds.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    bounds.unwrap_or_else(|| panic!("SEEDS={seeds} is not of the form FROM..TO"))
}

/// A syntax tree as text with all of its structure and without the places of its parts.
///
/// ```
/// let place = masque_text::Span { start: 1, end: 2 };
/// assert_eq!(masque_testkit::structure(&("x", place)), masque_testkit::structure(&("x", masque_text::Span::default())));
/// ```
pub fn structure(tree: &impl Debug) -> String {
    let debug = format!("{tree:?}");
    let parts: Vec<&str> = debug.split("Span {").collect();
    parts.iter().map(|part| part.split_once('}').map_or(*part, |(_, rest)| rest)).collect()
}
