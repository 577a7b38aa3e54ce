//! Parses and resolves formulas in one call.

use masque_text::{Diagnostic, Sources, Span};

use crate::tree::Named;
use crate::{Formula, Vocabulary, parse_formula, parse_properties, resolve};

/// A property of a file, parsed and resolved.
#[derive(Clone, Debug)]
pub struct Property {
    /// Name and formula, as written.
    pub source: Named,
    /// Formula in the form in which it is solved.
    pub formula: Formula,
}

/// Reads one formula: the whole text at `span`. Returns `None` if there are errors.
pub fn read_formula(
    sources: &Sources,
    span: Span,
    words: &mut dyn Vocabulary,
) -> (Option<Formula>, Vec<Diagnostic>) {
    let (phi, mut diagnostics) = parse_formula(sources, span);
    let Some(phi) = phi else { return (None, diagnostics) };
    let (formula, more) = resolve(&phi, words);
    diagnostics.extend(more);
    (formula, diagnostics)
}

/// Reads a property file, `name : formula ;` repeated. Properties with errors are left out.
///
/// ```
/// use masque_mu::{Graph, read_properties};
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let text = "safe : AG !deadlock;  // no dead end\nends : inev(stop);\n";
/// let file = sources.add("lamp.mu", text).unwrap();
/// let (properties, diagnostics) = read_properties(&sources, sources.span(file), &mut Graph::new());
/// assert!(diagnostics.is_empty());
/// assert_eq!(properties[1].source.name.text, "ends");
/// assert_eq!(properties[1].source.phi.to_string(), "inev(stop)");
/// ```
pub fn read_properties(
    sources: &Sources,
    span: Span,
    words: &mut dyn Vocabulary,
) -> (Vec<Property>, Vec<Diagnostic>) {
    let (named, mut diagnostics) = parse_properties(sources, span);
    let mut properties = Vec::new();
    for source in named {
        let (formula, more) = resolve(&source.phi, words);
        diagnostics.extend(more);
        properties.extend(formula.map(|formula| Property { source, formula }));
    }
    (properties, diagnostics)
}
