//! Reading of any text, however broken.

use masque_bdi::{check, format, parse};
use masque_testkit::LanguageUnderTest;
use masque_text::Diagnostic;

/// Parses, checks and formats any text. Returns whether it is syntactically correct.
pub(crate) fn survives(text: &str) -> bool {
    LanguageUnderTest { prefix: "bdi/", format }.survives(text, |sources, file| {
        let (tree, syntax) = parse(sources, file);
        let is_correct = !syntax.iter().any(Diagnostic::is_error);
        let further = if is_correct { check(&tree, &[]).diagnostics } else { Vec::new() };
        (syntax, further)
    })
}
