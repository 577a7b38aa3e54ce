//! Helpers for the tests of several modules.

use masque_text::{Diagnostic, Sources, Span};

use crate::{AtomId, Formula, PatternId, Vocabulary, read_formula};

/// A vocabulary in which any text is a pattern or an atom.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn id(&mut self, text: &str) -> u32 {
        let found = self.0.iter().position(|other| other == text);
        found.unwrap_or_else(|| {
            self.0.push(text.to_string());
            self.0.len() - 1
        }) as u32
    }
}

impl Vocabulary for Words {
    fn pattern(&mut self, text: &str, _: Span) -> Result<PatternId, Diagnostic> {
        Ok(PatternId(self.id(text)))
    }

    fn atom(&mut self, text: &str, _: Span) -> Result<AtomId, Diagnostic> {
        Ok(AtomId(self.id(text)))
    }
}

/// Returns the formula of a text without errors.
pub(crate) fn formula(text: &str) -> Formula {
    let mut sources = Sources::default();
    let file = sources.add("formula", text).unwrap();
    let (formula, diagnostics) = read_formula(&sources, sources.span(file), &mut Words::default());
    assert!(diagnostics.iter().all(|d| !d.is_error()), "{diagnostics:?}");
    formula.unwrap()
}
