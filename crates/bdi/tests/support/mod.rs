//! Reading files in tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod formulas;
pub(crate) mod nnf;
pub(crate) mod random;

use masque_bdi::model::Model;
use masque_bdi::plan::Plan;
use masque_bdi::{Override, check, parse};
use masque_text::{Diagnostic, Sources, render};

/// A text, its model if it has no errors, and its diagnostics.
pub(crate) struct Read {
    pub(crate) sources: Sources,
    pub(crate) model: Option<(Model, Plan)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a text, with options from outside.
pub(crate) fn read(text: &str, options: &[(String, String)]) -> Read {
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", text).unwrap();
    let overrides: Vec<Override> = options
        .iter()
        .map(|(name, value)| {
            let given = sources.add("--option", format!("{name}={value}")).unwrap();
            Override { name: name.clone(), value: value.clone(), span: sources.span(given) }
        })
        .collect();
    let (tree, mut diagnostics) = parse(&sources, file);
    let mut model = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let checked = check(&tree, &overrides);
        diagnostics.extend(checked.diagnostics);
        model = checked.model;
    }
    Read { sources, model, diagnostics }
}

impl Read {
    /// All diagnostics, drawn.
    pub(crate) fn drawn(&self) -> String {
        self.diagnostics.iter().map(|d| render(&self.sources, d, false)).collect()
    }
}

/// The model of a text that is known to be good.
pub(crate) fn model(text: &str, options: &[(String, String)]) -> (Model, Plan) {
    let read = read(text, options);
    let drawn = read.drawn();
    read.model.unwrap_or_else(|| panic!("{drawn}\n{text}"))
}
