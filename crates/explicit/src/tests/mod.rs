//! The engine's insides against the reference.

mod exprs;
mod jobs;
mod sets;

use masque_ispl::{Options, check, parse};
use masque_model::System;
use masque_text::Sources;

/// The system of a text, which must be valid.
fn load(text: &str) -> System {
    let mut sources = Sources::default();
    let file = sources.add("test.ispl", text).unwrap();
    let (mut tree, errors) = parse(&sources, file);
    let checked = check(&sources, &mut tree, &Options::default());
    checked.system.unwrap_or_else(|| panic!("{errors:?} {:?}\n{text}", checked.diagnostics))
}
