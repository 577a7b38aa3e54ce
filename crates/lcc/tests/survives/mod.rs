//! Reading of any text, however broken.

use masque_lcc::{InstanceInput, format, open, parse};
use masque_testkit::LanguageUnderTest;
use masque_text::render;

/// Parses, opens and formats any text. Returns whether it is syntactically correct.
pub(crate) fn survives(text: &str) -> bool {
    LanguageUnderTest { prefix: "lcc/", format }.survives(text, |sources, file| {
        let (_, syntax) = parse(sources, file);
        // Diagnostics about formulas have the codes of their own language.
        let opened = open(sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
        opened.diagnostics.iter().take(2).for_each(|diagnostic| drop(render(sources, diagnostic, false)));
        (syntax, Vec::new())
    })
}
