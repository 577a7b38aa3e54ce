//! Comparison of syntax trees without their spans.

use std::fmt::Debug;

/// Formats a syntax tree with all of its structure but without the spans of its parts.
///
/// ```
/// let span = masque_text::Span { start: 1, end: 2 };
/// assert_eq!(masque_testkit::structure(&("x", span)), masque_testkit::structure(&("x", masque_text::Span::default())));
/// ```
pub fn structure(tree: &impl Debug) -> String {
    let debug = format!("{tree:?}");
    let parts: Vec<&str> = debug.split("Span {").collect();
    parts.iter().map(|part| part.split_once('}').map_or(*part, |(_, rest)| rest)).collect()
}
