//! `--property FORMULA` in the mu-calculus, for protocols and transition systems.

use masque_mu::tree::{Name, Named};
use masque_mu::{Property, Vocabulary, parse_formula, resolve};
use masque_text::TooLarge;

use crate::load::Loaded;

/// Adds the formulas of the request to the properties. The name of a formula is its position from 1, or the
/// next number that is not already a name. `warn` returns warnings about a formula.
pub(crate) fn add_formulas<V: Vocabulary>(
    loaded: &mut Loaded,
    words: &mut V,
    properties: &mut Vec<Property>,
    warn: impl Fn(&V, &masque_mu::tree::Phi) -> Vec<masque_text::Diagnostic>,
) -> Result<(), TooLarge> {
    for text in loaded.request.properties.clone() {
        let file = loaded.sources.add("<--property>", text.as_str())?;
        let span = loaded.sources.span(file);
        let (phi, found) = parse_formula(&loaded.sources, span);
        loaded.diagnostics.extend(found);
        let Some(phi) = phi else { continue };
        let (formula, found) = resolve(&phi, words);
        loaded.diagnostics.extend(found);
        let Some(formula) = formula else { continue };
        loaded.diagnostics.extend(warn(words, &phi));
        let is_taken = |name: &String| properties.iter().any(|p| p.source.name.text == *name);
        let mut numbers = (properties.len() + 1..).map(|number| number.to_string());
        let name = Name { text: numbers.find(|name| !is_taken(name)).unwrap_or_default(), span };
        properties.push(Property { source: Named::read(&loaded.sources, name, phi), formula });
    }
    Ok(())
}
